/** Formats amounts and times as in Brazil. All functions are pure. */

const CENTS = new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' })
const EXACT = new Intl.NumberFormat('pt-BR', {
  style: 'currency',
  currency: 'BRL',
  minimumFractionDigits: 2,
  maximumFractionDigits: 9,
})
const COUNT = new Intl.NumberFormat('pt-BR')
const DECIMAL = /^-?\d{1,20}(\.\d{1,20})?$/
/** More than zero, but less than a centavo. */
const BELOW_A_CENT = /^-?0+\.00\d*[1-9]/
const DEFAULT_TIMEZONE = 'America/Sao_Paulo'

/**
 * Writes `"1234.5"` as `R$ 1.234,50`, with a no-break space. It is rounded to the centavo, except amounts below one:
 * they keep all their digits, so that spent money never reads as zero. Undefined for text that is no decimal.
 */
export function formatBrl(decimal: string): string | undefined {
  if (!DECIMAL.test(decimal)) return undefined
  // Formatting the text keeps every digit; a double would not.
  return (BELOW_A_CENT.test(decimal) ? EXACT : CENTS).format(decimal as `${number}`)
}

/** Writes an amount with all its digits, so that lines add up to their total. */
export function formatExactBrl(decimal: string): string {
  return EXACT.format(decimal as `${number}`)
}

export function formatCount(count: number): string {
  return COUNT.format(count)
}

/** Writes a time as `31/12/2026 23:59` in the given time zone. */
export function formatTime(at: Date, timezone: string): string {
  const parts = new Map(
    timeFormat(timezone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  )
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? ''
  return `${part('day')}/${part('month')}/${part('year')} ${part('hour')}:${part('minute')}`
}

/** Writes `2026-12-31` as `31/12/2026`; undefined for anything else. */
export function formatDay(day: string): string | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day)
  return match ? `${match[3]}/${match[2]}/${match[1]}` : undefined
}

const FIELDS: Intl.DateTimeFormatOptions = {
  day: '2-digit',
  month: '2-digit',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
}

function timeFormat(timezone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('pt-BR', { ...FIELDS, timeZone: timezone })
  } catch {
    // PostgreSQL may know a time zone that Node.js does not.
    return new Intl.DateTimeFormat('pt-BR', { ...FIELDS, timeZone: DEFAULT_TIMEZONE })
  }
}
