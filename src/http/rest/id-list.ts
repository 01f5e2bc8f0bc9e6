/** Lists as clients of model calls page them: by the id of the last entry before the page. */
import Type, { type TSchema } from 'typebox'
import { answer, nullable } from './values.ts'

export function idList<Entry extends TSchema>(entry: Entry) {
  return answer({
    object: Type.Literal('list'),
    data: Type.Array(entry),
    first_id: nullable(Type.String()),
    last_id: nullable(Type.String()),
    has_more: Type.Boolean(),
  })
}

/** Returns a page, of which one row more was read where there are others. */
export function idPageOf<Row, Entry extends { readonly id: string | Date }>(
  rows: readonly Row[],
  limit: number,
  toEntry: (row: Row) => Entry,
) {
  const data = rows.slice(0, limit).map(toEntry)
  return {
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: rows.length > limit,
  }
}
