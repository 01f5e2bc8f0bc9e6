/** The API's amounts as whole numbers: recomputed and compared amounts must match to the last digit. */
import { signsOfNumbers } from './number-signs.ts'

/** `0.0000045` and 12 -> `4500000n`. An amount has at most 15 digits, which a double represents exactly. */
export function scaledBy(value: number, decimals: number): bigint {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? []
  const shift = decimals - fraction.length + Number(exponent)
  const digits = BigInt(whole + fraction)
  const scaled = shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift)
  return sign === '-' ? -scaled : scaled
}

/** `4500000n` and 12 -> `0,0000045`, with at least `decimalsMin` decimals and a decimal comma; in English with a point. */
export function exactDecimal(scaled: bigint, decimals: number, decimalsMin = 0): string {
  const { group, point } = signsOfNumbers()
  const sign = scaled < 0n ? '-' : ''
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(decimals + 1, '0')
  const fraction = digits
    .slice(digits.length - decimals)
    .replace(/0+$/, '')
    .padEnd(decimalsMin, '0')
  const whole = digits.slice(0, digits.length - decimals).replaceAll(/\B(?=(\d{3})+$)/g, group)
  return fraction === '' ? sign + whole : `${sign}${whole}${point}${fraction}`
}
