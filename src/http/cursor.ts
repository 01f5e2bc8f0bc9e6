/** Cursors of lists: where a page ended, to go on behind it whatever came meanwhile. */
import Type from 'typebox'
import { isUuid } from '../lib/ids.ts'
import { nullable } from './contract/values.ts'
import { RestRefusal } from './rest-refusal.ts'

/** The last entry of a page, in a list that is sorted by time and id. */
export interface Place {
  readonly at: Date
  readonly id: string
}

export const cursor = Type.Optional(
  Type.String({ maxLength: 200, description: 'O `next_cursor` da página anterior.' }),
)
export const nextCursor = nullable(
  Type.String({ description: 'Para pedir a próxima página; null na última.' }),
)

export function writeCursor({ at, id }: Place): string {
  return Buffer.from(`${at.getTime()}.${id}`).toString('base64url')
}

/** Throws a 400 for text that no page gave. */
export function readCursor(text: string | undefined): Place | undefined {
  if (text === undefined) return undefined
  const [, ms = '', id = ''] =
    /^(\d{1,14})\.(.+)$/.exec(Buffer.from(text, 'base64url').toString()) ?? []
  if (ms === '' || !isUuid(id))
    throw new RestRefusal(400, 'invalid_request', 'cursor: is not known')
  return { at: new Date(Number(ms)), id }
}

/** Of one entry more than a page has: the page, and the cursor behind it where there is more. */
export function pageOf<Entry>(
  entries: readonly Entry[],
  limit: number,
  placeOf: (entry: Entry) => Place,
): { page: readonly Entry[]; next_cursor: string | null } {
  const page = entries.slice(0, limit)
  const last = page.at(-1)
  const hasMore = entries.length > limit && last !== undefined
  return { page, next_cursor: hasMore ? writeCursor(placeOf(last)) : null }
}
