/** Numbers as Brazilians, Americans and exports write them: `1.234,56`, `1,234.56`, `1234.5`. */

/** Times 10^12; undefined for text that is no number. */
export function readAmount(text: string): bigint | undefined {
  return scaled(text, 12)
}

/** Whole: `1.200.000`, `1,200,000`, `1200000`, `1,2 mi`, `300 mil`, `300k`. */
export function readCount(text: string, unit = ''): bigint | undefined {
  const factor = FACTORS[unit.toLowerCase()] ?? 1n
  // Without a unit, a separator before three digits separates thousands.
  const digits = factor === 1n ? text.replaceAll(/[.,](?=\d{3}(\D|$))/g, '') : text
  const value = scaled(digits, 6)
  return value === undefined ? undefined : (value * factor) / 1_000_000n
}

const FACTORS: Readonly<Record<string, bigint>> = {
  k: 1_000n,
  mil: 1_000n,
  m: 1_000_000n,
  mi: 1_000_000n,
  milhão: 1_000_000n,
  milhões: 1_000_000n,
}

function scaled(text: string, scale: number): bigint | undefined {
  const plain = withPoint(text.trim())
  const match = /^(\d{1,15})(?:\.(\d*))?$/.exec(plain)
  if (!match) return undefined
  return BigInt(match[1] + (match[2] ?? '').slice(0, scale).padEnd(scale, '0'))
}

/** The last separator is the decimal one, unless it repeats, or is a comma before exactly three digits. */
function withPoint(text: string): string {
  const last = Math.max(text.lastIndexOf('.'), text.lastIndexOf(','))
  if (last === -1) return text
  const mark = text.charAt(last)
  const digits = (part: string) => part.replaceAll(/[.,]/g, '')
  const repeats = text.indexOf(mark) !== last
  const isThousands = mark === ',' && !text.includes('.') && /^\d{3}$/.test(text.slice(last + 1))
  if (repeats || isThousands) return digits(text)
  return `${digits(text.slice(0, last))}.${text.slice(last + 1)}`
}
