/** JSON with its numbers as the answer's own text has them: a parsed number could have lost digits. */
type Reviver = (key: string, value: unknown, context: { source: string }) => unknown
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown

export function exactJson(text: string): any {
  return parse(text, (_key, value, { source }) => (typeof value === 'number' ? source : value))
}
