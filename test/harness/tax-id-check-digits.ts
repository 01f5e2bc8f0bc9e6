/** The check digits of CPF and CNPJ by the tables of weights that the tax authority publishes, unlike the loop of `src`. */

export const CPF_WEIGHTS: readonly number[] = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]
export const CNPJ_WEIGHTS: readonly number[] = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]

/** Appends both check digits to the rest of an id. */
export function withCheckDigits(rest: string, weights: readonly number[]): string {
  const digitOf = (text: string): string => {
    const used = weights.slice(weights.length - text.length)
    const sum = Array.from(text).reduce(
      (total, character, place) =>
        total + ((character.codePointAt(0) as number) - 48) * (used[place] as number),
      0,
    )
    return String(sum % 11 < 2 ? 0 : 11 - (sum % 11))
  }
  const first = rest + digitOf(rest)
  return first + digitOf(first)
}
