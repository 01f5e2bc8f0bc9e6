import { moneyFormat } from './money-format.ts'

/** Dollars, as providers charge, with the decimals that small prices need and no trailing zeros. */
const writeUsd = moneyFormat('USD', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
})

export function usd(amount: number): string {
  return writeUsd(amount)
}
