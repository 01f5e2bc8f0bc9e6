/**
 * JSON as a client may write it, with numbers in a short form that grow when another program writes them
 * again.
 */

/** Stands in a generated value for a number that JSON.stringify would write differently. */
export const numeral = (text: string): string => `@numeral:${text}@`

export function jsonText(value: unknown): string {
  return JSON.stringify(value).replaceAll(/"@numeral:([^"@]*)@"/g, '$1')
}
