export type CompositeField = string | number | bigint | boolean | null | undefined

/** Values that need no quotes in a composite value: ids, names of models. */
const PLAIN = /^[\w.:/-]+$/

/**
 * A row in PostgreSQL's text format of composite values: `(1,"a \\"b\\"",)`. Nothing between two commas means
 * null.
 */
export function compositeText(fields: readonly CompositeField[]): string {
  let text = '('
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index]
    if (index > 0) text += ','
    if (field === null || field === undefined) continue
    text += typeof field === 'string' && !PLAIN.test(field) ? quoted(field) : String(field)
  }
  return `${text})`
}

/** Writes texts, or composite values as text, in PostgreSQL's text format of arrays. */
export function arrayText(rows: readonly string[]): string {
  return `{${rows.map(quoted).join(',')}}`
}

function quoted(text: string): string {
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`
}
