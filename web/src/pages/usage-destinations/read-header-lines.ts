import { t } from '../../language/t.ts'

/** One header a line, `name: value`. */
export function readHeaderLines(
  text: string,
): { readonly headers: Record<string, string> } | { readonly fault: string } {
  const headers: Record<string, string> = {}
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line === '') continue
    const [, name, value] = /^([^\s:]+):\s*(.+)$/.exec(line) ?? []
    if (name === undefined || value === undefined)
      return { fault: t('Escreva cada cabeçalho em uma linha, como nome: valor.') }
    headers[name] = value
  }
  return { headers }
}
