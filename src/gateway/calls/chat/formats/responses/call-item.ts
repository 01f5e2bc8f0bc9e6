import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { callFields, type ClientRunTool } from './client-run-tools.ts'
import { createCustomInput } from './custom-input.ts'
import type { ItemList, ItemStatus } from './input-items.ts'
import type { ClientTools } from './to-chat-tools.ts'

/** A call of a tool to which deltas add. */
export interface CallItem {
  readonly callId: string
  /** Adds a part of the arguments. */
  add(text: string): void
  end(status: ItemStatus): void
}

type Named = JsonObject & { readonly call_id: string; readonly name: string }

/**
 * Begins the item of a tool call. `call` is the first delta of a tool call, with its id and the name of the function.
 */
export function beginCall(
  list: ItemList,
  tools: ClientTools,
  { id, function: called }: JsonObject,
  spareId: string,
): CallItem {
  const upstreamName = isObject(called) && typeof called.name === 'string' ? called.name : ''
  const tool = tools.get(upstreamName) ?? { name: upstreamName, isCustom: false }
  const { isCustom, ownItems, ...named } = tool
  const call = { call_id: typeof id === 'string' && id !== '' ? id : spareId, ...named }
  if (ownItems) return beginOwnCall(list, call.call_id, ownItems)
  return isCustom ? beginCustomCall(list, call) : beginFunctionCall(list, call)
}

function beginFunctionCall(list: ItemList, named: Named): CallItem {
  const call = { type: 'function_call', ...named }
  const { index, id } = list.add('fc', { ...call, arguments: '', status: 'in_progress' })
  const at = { item_id: id, output_index: index }
  let text = ''
  return {
    callId: named.call_id,
    add(delta) {
      text += delta
      list.emit('response.function_call_arguments.delta', { ...at, delta })
    },
    end(status) {
      // Models call a function without parameters with no text at all; clients parse the text.
      const args = text === '' && status === 'completed' ? '{}' : text
      const { name } = named
      list.emit('response.function_call_arguments.done', { ...at, name, arguments: args })
      list.end(index, { id, ...call, arguments: args, status })
    },
  }
}

/** The format has no events for the parts of its arguments that every client reads: the item has them when it ends. */
function beginOwnCall(list: ItemList, callId: string, tool: ClientRunTool): CallItem {
  const call = { type: tool.callType, call_id: callId }
  const begun = { ...call, ...callFields(tool, ''), status: 'in_progress' }
  const { index, id } = list.add(tool.prefix, begun)
  let text = ''
  return {
    callId,
    add(delta) {
      text += delta
    },
    end: (status) => list.end(index, { id, ...call, ...callFields(tool, text), status }),
  }
}

function beginCustomCall(list: ItemList, named: Named): CallItem {
  const call = { type: 'custom_tool_call', ...named }
  const { index, id } = list.add('ctc', { ...call, input: '', status: 'in_progress' })
  const at = { item_id: id, output_index: index }
  const reader = createCustomInput()
  let input = ''

  function write(delta: string): void {
    if (delta === '') return
    input += delta
    list.emit('response.custom_tool_call_input.delta', { ...at, delta })
  }

  return {
    callId: named.call_id,
    add: (text) => write(reader.add(text)),
    end(status) {
      write(reader.end())
      list.emit('response.custom_tool_call_input.done', { ...at, input })
      list.end(index, { id, ...call, input, status })
    },
  }
}
