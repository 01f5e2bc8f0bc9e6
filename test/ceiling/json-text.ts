/** Values as a client may write them: numbers in a short form that grow when they are written again. */

/** Stands in a generated value for a number that JSON.stringify would write otherwise. */
export const numeral = (text: string): string => `@numeral:${text}@`

export function jsonText(value: unknown): string {
  return JSON.stringify(value).replaceAll(/"@numeral:([^"@]*)@"/g, '$1')
}
