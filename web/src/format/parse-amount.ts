/**
 * Reads an amount as Brazilians write it: `1.234,56`, `R$ 50`, `49,9`. A single point that is not followed by
 * exactly three digits counts as a decimal point, since phone keyboards may lack a comma. Undefined: not an
 * amount.
 */
export function parseAmount(text: string, decimalsMax = 2): number | undefined {
  const bare = text.replace(/^\s*(R\$|US\$|\$)?\s*/, '').trim()
  const written = new RegExp(
    `^([1-9]\\d{0,2}(?:\\.\\d{3})+|\\d+)(?:,(\\d{1,${decimalsMax}}))?$`,
  ).exec(bare)
  if (written) return Number(`${(written[1] as string).replaceAll('.', '')}.${written[2] ?? '0'}`)
  const pointed = new RegExp(`^\\d+\\.\\d{1,${decimalsMax}}$`).exec(bare)
  return pointed ? Number(bare) : undefined
}
