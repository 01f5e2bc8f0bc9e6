/** What a field of a form holds, without spaces around it; empty where there is no such field. */
export function formText(fields: FormData, name: string): string {
  const value = fields.get(name)
  return typeof value === 'string' ? value.trim() : ''
}
