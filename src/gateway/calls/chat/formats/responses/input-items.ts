import { idTailOf } from '../../../../../platform/lib/ids.ts'
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import type { StoredTurn } from './stored-conversation.ts'

const PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  compaction: 'cmp',
}

/**
 * Returns all items that a response was generated from, in their order, each with an id: the input of the last turn is
 * its own.
 */
export function listInputItems(turns: readonly StoredTurn[]): JsonObject[] {
  const last = turns.at(-1)
  return turns.flatMap((turn) => [
    ...turn.input.map((item, index) => describe(item, turn.callId, index)),
    ...(turn === last ? [] : turn.output),
  ])
}

/** An item of a client has an id only if an earlier output had it. */
export function describe(item: JsonObject, callId: string, index: number): JsonObject {
  const type = typeof item.type === 'string' ? item.type : 'message'
  const id =
    typeof item.id === 'string' && item.id !== ''
      ? item.id
      : `${PREFIXES[type] ?? 'item'}_${idTailOf(callId)}i${index}`
  if (type !== 'message') return { ...item, id, type }
  const { role, content } = item
  return {
    ...item,
    id,
    type,
    status: item.status ?? 'completed',
    content: typeof content === 'string' ? [toPart(role, content)] : listed(content),
  }
}

function toPart(role: unknown, text: string): JsonObject {
  return role === 'assistant'
    ? { type: 'output_text', text, annotations: [], logprobs: [] }
    : { type: 'input_text', text }
}

function listed(content: unknown): JsonObject[] {
  return Array.isArray(content) ? content.filter(isObject) : []
}

/** The items of a response's output, each with the events that announce it. */
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
