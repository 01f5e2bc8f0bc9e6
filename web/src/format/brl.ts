/**
 * Formats money for people. The API's amounts are BRL in JSON numbers: only displayed, never calculated with.
 */
import { moneyFormat } from './money-format.ts'

const writeCents = moneyFormat('BRL')
/** A request costs a small part of a cent: up to six decimals, without trailing zeros. */
const writeFine = moneyFormat('BRL', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
})
/** Every digit of an amount in nano-BRL. */
const writeExact = moneyFormat('BRL', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 9,
})
/** Two significant digits. */
const writeSmall = moneyFormat('BRL', {
  maximumSignificantDigits: 2,
})
const writeShort = moneyFormat('BRL', {
  notation: 'compact',
  maximumFractionDigits: 1,
})

export function brl(amount: number): string {
  return writeCents(amount)
}

/** With the decimals that small prices need: R$ 0,000123. */
export function fineBrl(amount: number): string {
  return writeFine(amount)
}

/** With all digits, for lines that must add up: R$ 49,998719. */
export function exactBrl(amount: number): string {
  return writeExact(amount)
}

/** Two decimals, or two significant digits below ten cents: R$ 0,00041. */
export function readableBrl(amount: number): string {
  if (amount === 0 || Math.abs(amount) >= 0.1) return writeCents(amount)
  return writeSmall(amount)
}

/** Labels of an axis: thousands are shortened, and below R$ 10 there are more decimals. */
export function axisBrl(amount: number): string {
  if (amount === 0) return 'R$ 0'
  if (amount >= 1000) return writeShort(amount)
  return writeSmall(amount)
}
