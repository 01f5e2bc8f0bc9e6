import { isObject } from '../../../../lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import type { Refusal } from '../../../refusal.ts'
import { callIdOfItem } from './response-ids.ts'
import type { ReadingRoom, StoredConversations } from './stored-conversation.ts'

/** Puts stored items in the place of references to them. A reference that leads nowhere stays. */
export async function resolveReferences(
  conversations: Pick<StoredConversations, 'readOutputs'>,
  room: ReadingRoom,
  items: readonly unknown[],
): Promise<readonly unknown[] | Refusal> {
  const callIds = new Set(items.filter(isReference).flatMap(({ id }) => callIdOfItem(id) ?? []))
  if (callIds.size === 0) return items
  const turns = await conversations.readOutputs(room, [...callIds])
  if ('kind' in turns) return turns
  const stored = new Map(turns.flatMap(({ output }) => output.map((item) => [item.id, item])))
  return items.map((item) => (isReference(item) ? (stored.get(item.id) ?? item) : item))
}

function isReference(item: unknown): item is JsonObject {
  return isObject(item) && item.type === 'item_reference'
}
