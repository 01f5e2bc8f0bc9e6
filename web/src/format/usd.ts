/** Dollars, as providers charge, with the decimals that small prices need and no trailing zeros. */
const USD = new Intl.NumberFormat('pt-BR', {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
})

export function usd(amount: number): string {
  return USD.format(amount)
}
