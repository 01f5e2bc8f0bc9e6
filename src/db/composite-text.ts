export type CompositeField = string | number | bigint | boolean | null | undefined

/**
 * A row as PostgreSQL reads a composite value from text: `(1,"a \\"b\\"",)`. Nothing between two commas is
 * null.
 */
export function compositeText(fields: readonly CompositeField[]): string {
  let text = '('
  for (const [index, field] of fields.entries()) {
    if (index > 0) text += ','
    if (field === null || field === undefined) continue
    text += typeof field === 'string' ? quoted(field) : String(field)
  }
  return `${text})`
}

function quoted(text: string): string {
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`
}
