import { signsOfNumbers } from './number-signs.ts'

/** Formats an amount as the user would type it, as the initial text of a field. */
export function typedAmount(amount: number): string {
  return String(amount).replace('.', signsOfNumbers().point)
}
