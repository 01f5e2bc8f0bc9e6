/** The trimmed text of a form field; empty when there is no such field. */
export function formText(fields: FormData, name: string): string {
  const value = fields.get(name)
  return typeof value === 'string' ? value.trim() : ''
}
