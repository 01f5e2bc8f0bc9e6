import { signsOfNumbers } from './number-signs.ts'

/**
 * Reads an amount as the language writes it: in Portuguese `1.234,56`, `R$ 50`, `49,9`. The other language's sign counts as
 * the decimal one too if exactly three digits do not follow it, since phone keyboards may lack one of the two. Undefined: not
 * an amount.
 */
export function parseAmount(text: string, decimalsMax = 2): number | undefined {
  const { group, point } = signsOfNumbers()
  const bare = text.replace(/^\s*(R\$|US\$|\$)?\s*/, '').trim()
  const written = new RegExp(
    `^([1-9]\\d{0,2}(?:\\${group}\\d{3})+|\\d+)(?:\\${point}(\\d{1,${decimalsMax}}))?$`,
  ).exec(bare)
  if (written) return Number(`${(written[1] as string).replaceAll(group, '')}.${written[2] ?? '0'}`)
  const other = new RegExp(`^\\d+\\${group}\\d{1,${decimalsMax}}$`).exec(bare)
  return other ? Number(bare.replace(group, '.')) : undefined
}
