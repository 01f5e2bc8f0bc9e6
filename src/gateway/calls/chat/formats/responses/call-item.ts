import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { callFields, type ClientRunTool } from './client-run-tools.ts'
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

interface CustomInput {
  /** Returns the text that these arguments add. */
  add(text: string): string
  /** Returns the rest of the text, of arguments that have another form. */
  end(): string
}

const OPENING = /^\s*\{\s*"input"\s*:\s*"/
/** Models write it without spaces, or with a few. */
const OPENING_CHARACTERS_MAX = 200
const ESCAPES: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}
const UNICODE_ESCAPE_CHARACTERS = 6

/** Reads the free text of a custom tool out of the arguments of a function, `{"input": "..."}`, as they arrive. */
export function createCustomInput(): CustomInput {
  /** All arguments, until the text begins. */
  let before = ''
  let isOpen = false
  let isClosed = false
  /** The beginning of an escape. A long text is never read again for what arrives later. */
  let rest = ''

  function decode(text: string): string {
    let decoded = ''
    let at = 0
    while (at < text.length && !isClosed) {
      const character = text.charAt(at)
      if (character === '"') {
        isClosed = true
      } else if (character === '\\') {
        const escape = text.charAt(at + 1)
        const length = escape === 'u' ? UNICODE_ESCAPE_CHARACTERS : 2
        // The escape is not here as a whole yet.
        if (text.length < at + length) break
        decoded +=
          escape === 'u'
            ? String.fromCharCode(Number.parseInt(text.slice(at + 2, at + length), 16))
            : (ESCAPES[escape] ?? escape)
        at += length
      } else {
        decoded += character
        at += 1
      }
    }
    rest = text.slice(at)
    return decoded
  }

  return {
    add(text) {
      if (isClosed) return ''
      if (isOpen) return decode(rest + text)
      const isEarly = before.length <= OPENING_CHARACTERS_MAX
      before += text
      const opening = isEarly ? OPENING.exec(before)?.[0] : undefined
      if (opening === undefined) return ''
      isOpen = true
      return decode(before.slice(opening.length))
    },
    end: () => (isOpen ? '' : textOf(before)),
  }
}

function textOf(args: string): string {
  try {
    const value: unknown = JSON.parse(args)
    if (typeof value === 'string') return value
    const input = (value as { input?: unknown } | null)?.input
    return typeof input === 'string' ? input : args
  } catch {
    return args
  }
}
