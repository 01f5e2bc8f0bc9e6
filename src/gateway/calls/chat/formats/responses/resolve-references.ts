import { BODY_BOUNDS, findJsonExcess } from '../../../../../platform/lib/bound-json.ts'
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { TOO_MANY_VALUES } from '../../../read-request.ts'
import type { Refusal } from '../../../refusal.ts'
import { callIdOfItem } from './response-head.ts'
import type { ReadingRoom, StoredConversations } from './stored-conversation.ts'

/**
 * Puts stored items in the place of references to them, within the bounds of a request's body. A reference that leads
 * nowhere stays.
 */
export async function resolveReferences(
  conversations: Pick<StoredConversations, 'readOutputs'>,
  room: ReadingRoom,
  items: readonly unknown[],
): Promise<readonly unknown[] | Refusal> {
  const callIds = new Set(items.filter(isReference).flatMap(({ id }) => callIdOfItem(id) ?? []))
  if (callIds.size === 0) return items
  const turns = await conversations.readOutputs(room, [...callIds])
  if ('kind' in turns) return turns
  const stored = new Map<unknown, JsonObject>(
    turns.flatMap(({ output }) => output.map((item) => [item.id, item] as const)),
  )
  const found = items.filter(isReference).map(({ id }) => stored.get(id))
  const refused = await takeRepeats(
    room,
    found.filter((item) => item !== undefined),
  )
  if (refused) return refused
  return items.map((item) => (isReference(item) ? (stored.get(item.id) ?? item) : item))
}

/** The reading counted each stored item once, and an upstream gets it as often as the request refers to it. */
async function takeRepeats(
  room: ReadingRoom,
  found: readonly JsonObject[],
): Promise<Refusal | undefined> {
  const once = new Set<JsonObject>()
  const texts = new Map<JsonObject, Buffer>()
  const repeats: Buffer[] = []
  for (const item of found) {
    if (once.has(item)) {
      const text = texts.get(item) ?? Buffer.from(JSON.stringify(item))
      texts.set(item, text)
      repeats.push(text)
    } else once.add(item)
  }
  if (repeats.length === 0) return undefined
  const refused = await room.take(repeats.reduce((bytes, text) => bytes + text.length, 0))
  if (refused) return refused
  // A small item with many values is a request of very many if it is repeated.
  return findJsonExcess(Buffer.concat(repeats), BODY_BOUNDS) ? TOO_MANY_VALUES : undefined
}

function isReference(item: unknown): item is JsonObject {
  return isObject(item) && item.type === 'item_reference'
}
