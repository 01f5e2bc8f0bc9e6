/** Money as people read it. Amounts of the API are BRL in JSON numbers: shown, never calculated with. */

const CENTS = new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' })
/** A request costs a small part of a cent: six places, as many as are not zero. */
const FINE = new Intl.NumberFormat('pt-BR', {
  style: 'currency',
  currency: 'BRL',
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
})
/** Two digits that count. */
const SMALL = new Intl.NumberFormat('pt-BR', {
  style: 'currency',
  currency: 'BRL',
  maximumSignificantDigits: 2,
})
const SHORT = new Intl.NumberFormat('pt-BR', {
  style: 'currency',
  currency: 'BRL',
  notation: 'compact',
  maximumFractionDigits: 1,
})

export function brl(amount: number): string {
  return CENTS.format(amount)
}

/** With the places that small prices need: R$ 0,000123. */
export function fineBrl(amount: number): string {
  return FINE.format(amount)
}

/** Cents, or where it is less than one what is not zero: R$ 0,00041. */
export function readableBrl(amount: number): string {
  if (amount === 0 || Math.abs(amount) >= 0.01) return CENTS.format(amount)
  return SMALL.format(amount)
}

/** The marks of an axis: short for thousands, with more places below R$ 10. */
export function axisBrl(amount: number): string {
  if (amount === 0) return 'R$ 0'
  if (amount >= 1000) return SHORT.format(amount)
  return SMALL.format(amount)
}
