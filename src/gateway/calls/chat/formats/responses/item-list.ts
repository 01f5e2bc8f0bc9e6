/** The items of a response's output, each with the events that announce it. */
import type { JsonObject } from '../../../../providers/contract.ts'

export type Emit = (type: string, fields: JsonObject) => void

export type ItemStatus = 'completed' | 'incomplete'

/** Keeps the items of one response in the order in which they began. */
export interface ItemList {
  readonly items: readonly JsonObject[]
  readonly emit: Emit
  /** Returns the place of the new item. */
  add(prefix: string, item: JsonObject): { index: number; id: string }
  end(index: number, item: JsonObject): void
}

/** Returns an empty list. `idTail` ends the ids of all items. */
export function createItemList(idTail: string, emit: Emit): ItemList {
  const items: JsonObject[] = []
  return {
    items,
    emit,
    add(prefix, item) {
      const index = items.length
      const id = `${prefix}_${idTail}${index}`
      const added = { id, ...item }
      items.push(added)
      emit('response.output_item.added', { output_index: index, item: added })
      return { index, id }
    },
    end(index, item) {
      items[index] = item
      emit('response.output_item.done', { output_index: index, item })
    },
  }
}
