/** Cursors of lists: the end of a page, from which the next one continues even when rows were added meanwhile. */
import Type from 'typebox'
import { isUuid } from '../../platform/lib/ids.ts'
import { nullable } from './values.ts'
import { RestRefusal } from './rest-refusal.ts'

/** The last entry of a page, in a list that is sorted by time and id. */
export interface Place {
  /** To the microsecond, by `exactTime`: with a `Date` the next page would skip or repeat rows. */
  readonly at: string
  readonly id: string
}

export const cursor = Type.Optional(
  Type.String({ maxLength: 200, description: 'O `next_cursor` da página anterior.' }),
)
export const nextCursor = nullable(
  Type.String({ description: 'Para pedir a próxima página; null na última.' }),
)

export function writeCursor({ at, id }: Place): string {
  return Buffer.from(`${at}/${id}`).toString('base64url')
}

/**
 * Reads the position that a cursor names. Throws a 400 for text that is not a cursor. `isId` recognises the ids of this
 * list.
 */
export function readCursor(
  text: string | undefined,
  isId: (id: string) => boolean = isUuid,
): Place | undefined {
  if (text === undefined) return undefined
  const [, at = '', id = ''] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)\/(.+)$/.exec(
      Buffer.from(text, 'base64url').toString(),
    ) ?? []
  if (!isTime(at) || !isId(id))
    throw new RestRefusal(400, 'invalid_request', 'cursor: não é conhecido')
  return { at, id }
}

/** Takes one entry more than a page has; returns the page, and the cursor behind it if there are more entries. */
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

/** A day that no month has, or a year that PostgreSQL does not support, is not a valid time. */
function isTime(exact: string): boolean {
  const ms = `${exact.slice(0, 23)}Z`
  const time = new Date(ms)
  return !Number.isNaN(time.getTime()) && time.toISOString() === ms && time.getTime() > 0
}
