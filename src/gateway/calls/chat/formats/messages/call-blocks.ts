/**
 * The tool calls of a streamed message, one block after another: clients run a call when its block ends. A call that
 * begins before the arguments of the one before it are whole waits, with its own.
 */
import { isObject } from '../../../../../platform/lib/is-object.ts'
import { StreamBroken, type JsonObject } from '../../../../providers/contract.ts'

export interface CallBlocks {
  readonly count: number
  /** The events of the calls in a delta. */
  add(calls: unknown): string
  /** Writes the calls that wait, before anything else is written. */
  end(): string
  /** By the ids of the calls. */
  readonly signatures: JsonObject
}

export interface CallWriter {
  /** Begins the block of a call, and ends the one before it. */
  begin(call: JsonObject): string
  /** Adds to the block that began last. */
  add(text: string): string
}

interface Call {
  readonly id: unknown
  readonly name: unknown
  readonly json: JsonEnd
  state: 'waiting' | 'open' | 'ended'
  /** Its arguments as long as it waits. */
  text: string
}

export function createCallBlocks(writer: CallWriter): CallBlocks {
  /** By the index in the chunks. */
  const calls = new Map<unknown, Call>()
  const waiting: Call[] = []
  const signatures: JsonObject = {}
  let open: Call | undefined
  let count = 0

  function begin(call: Call): string {
    if (open) open.state = 'ended'
    open = call
    call.state = 'open'
    const { id, name, text } = call
    return writer.begin({ type: 'tool_use', id, name, input: {} }) + write(text)
  }

  function write(text: string): string {
    return text === '' ? '' : writer.add(text)
  }

  /** Begins the calls that wait, as far as the one before is whole. */
  function advance(): string {
    let events = ''
    while (waiting.length > 0 && (!open || open.json.isWhole))
      events += begin(waiting.shift() as Call)
    return events
  }

  function addText(call: Call, text: string): string {
    // White space may follow a call that is whole.
    if (call.state === 'ended' && text.trim() !== '') throw interleaved()
    call.json.add(text)
    if (call.state === 'open') return write(text) + advance()
    call.text += text
    return ''
  }

  return {
    signatures,
    get count() {
      return count
    },
    add(list) {
      let events = ''
      for (const each of Array.isArray(list) ? list.filter(isObject) : []) {
        const { name, arguments: text } = isObject(each.function) ? each.function : {}
        let call = calls.get(each.index)
        if (!call || isOtherCall(each.id, call.id)) {
          call = { id: each.id, name, json: createJsonEnd(), state: 'waiting', text: '' }
          calls.set(each.index, call)
          count += 1
          waiting.push(call)
          events += advance()
        }
        if (each.extra_content !== undefined) signatures[String(call.id)] = each.extra_content
        if (typeof text === 'string') events += addText(call, text)
      }
      return events
    },
    end() {
      let events = ''
      for (const call of waiting.splice(0)) events += begin(call)
      if (open) open.state = 'ended'
      open = undefined
      return events
    },
  }
}

/** Whether a delta begins another call: some upstreams number no calls, and some repeat the id in each delta. */
function isOtherCall(id: unknown, known: unknown): boolean {
  return typeof id === 'string' && id !== '' && id !== known
}

function interleaved(): StreamBroken {
  const detail = 'arguments arrived for a tool call that had ended'
  return new StreamBroken({ kind: 'failure', reason: 'bad_answer', detail })
}

/** Finds the end of a JSON object in text that arrives in pieces, without reading any character twice. */
interface JsonEnd {
  add(text: string): void
  /** Every bracket that was opened is closed, and there was at least one. */
  readonly isWhole: boolean
}

function createJsonEnd(): JsonEnd {
  let depth = 0
  let hasBegun = false
  let isInString = false
  let isEscaped = false

  function read(character: string): void {
    if (isInString) {
      if (isEscaped) isEscaped = false
      else if (character === '\\') isEscaped = true
      else if (character === '"') isInString = false
      return
    }
    if (character === '"') isInString = true
    else if (character === '{' || character === '[') {
      depth += 1
      hasBegun = true
    } else if (character === '}' || character === ']') depth -= 1
  }

  return {
    add(text) {
      for (let at = 0; at < text.length; at++) read(text.charAt(at))
    },
    get isWhole() {
      return hasBegun && depth <= 0
    },
  }
}
