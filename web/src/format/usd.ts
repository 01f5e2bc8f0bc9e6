/** Dollars, as providers charge: with the places that small prices need, as many as are not zero. */
const USD = new Intl.NumberFormat('pt-BR', {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
})

export function usd(amount: number): string {
  return USD.format(amount)
}
