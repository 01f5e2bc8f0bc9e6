/**
 * Writes an answer that came in the Messages format: its blocks as they came, with our ids, the model's name for
 * customers, and the usage that is charged. Fields that are not listed here stay hidden.
 */
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject, TextDelta } from '../../../../providers/contract.ts'
import { type Charged, createDeltaWriter } from '../../chat-format.ts'
import { copyFields } from '../fields.ts'
import type { ToolCallIds } from '../../tool-call-ids.ts'
import {
  messageEvent,
  messageUsage,
  openMessage,
  withCost,
  type MessageHead,
} from './message-parts.ts'

export interface NativeMessageStream {
  /** The events that the customer may see now; the end waits for the charge. */
  chunk(events: readonly JsonObject[]): string | undefined
  /** As `chunk`, for an event that only adds text. */
  delta(delta: TextDelta): string
  end(charged: Charged): string
}

type Ids = Pick<ToolCallIds, 'hidden'>

const BLOCK_FIELDS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['text', ['type', 'text', 'citations']],
  ['thinking', ['type', 'thinking', 'signature']],
  ['redacted_thinking', ['type', 'data']],
  ['tool_use', ['type', 'id', 'name', 'input']],
  ['server_tool_use', ['type', 'id', 'name', 'input']],
  ['web_search_tool_result', ['type', 'tool_use_id', 'content']],
])
const DELTA_FIELDS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['text_delta', ['type', 'text']],
  ['thinking_delta', ['type', 'thinking']],
  ['signature_delta', ['type', 'signature']],
  ['input_json_delta', ['type', 'partial_json']],
  ['citations_delta', ['type', 'citation']],
])

/** The reasons of the format: an upstream's own words may name it. */
const STOP_REASONS: ReadonlySet<unknown> = new Set([
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
  'compaction',
])

/** Writes a whole message as JSON, from an answer in the Messages format. */
export function nativeMessage(
  head: MessageHead,
  ids: Ids,
  answer: JsonObject,
  charged: Charged,
): string {
  const content: JsonObject[] = []
  for (const block of Array.isArray(answer.content) ? (answer.content as unknown[]) : []) {
    const shown = isObject(block) && publicBlock(block, ids)
    if (shown) content.push(shown)
  }
  const message: JsonObject = openMessage(head)
  message.content = content
  Object.assign(message, endOf(answer), editsOf(answer))
  message.usage = messageUsage(charged)
  return withCost(JSON.stringify(message), charged)
}

export function createNativeMessageStream(head: MessageHead, ids: Ids): NativeMessageStream {
  /** The numbers of the blocks that are shown, by those that the upstream gave. */
  const numbers = new Map<unknown, number>()
  let delta: JsonObject = endOf({})
  let edits: JsonObject = {}

  function show(event: JsonObject): string {
    const { type } = event
    const index = numbers.get(event.index)
    switch (type) {
      case 'message_start': {
        const { usage } = isObject(event.message) ? event.message : {}
        const message = {
          ...openMessage(head),
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: tokensOf(isObject(usage) ? usage : {}),
        }
        return messageEvent({ type, message })
      }
      case 'content_block_start': {
        const block = isObject(event.content_block) && publicBlock(event.content_block, ids)
        if (!block) return ''
        numbers.set(event.index, numbers.size)
        return messageEvent({ type, index: numbers.size - 1, content_block: block })
      }
      case 'content_block_delta': {
        const shown =
          index !== undefined && isObject(event.delta) && pick(DELTA_FIELDS, event.delta)
        if (shown && shown.type === 'citations_delta' && !isPage(shown.citation)) return ''
        return shown ? messageEvent({ type, index, delta: shown }) : ''
      }
      case 'content_block_stop':
        return index === undefined ? '' : messageEvent({ type, index })
      case 'ping':
        return messageEvent({ type })
      case 'message_delta':
        if (isObject(event.delta)) delta = endOf(event.delta)
        edits = { ...edits, ...editsOf(event) }
        return ''
      // The end waits for the charge, and a fault is written by `broken`.
      default:
        return ''
    }
  }

  // What is shown of a delta depends on nothing but the delta.
  const deltas = createDeltaWriter(({ nativeWith }, text) =>
    nativeWith ? show(nativeWith(text)) : '',
  )

  return {
    chunk(events) {
      let shown = ''
      for (const event of events) shown += show(event)
      return shown === '' ? undefined : shown
    },
    delta: deltas.write,
    end(charged) {
      const last = { type: 'message_delta', delta, ...edits, usage: messageUsage(charged) }
      const text = withCost(JSON.stringify(last), charged)
      return `event: message_delta\ndata: ${text}\n\n${messageEvent({ type: 'message_stop' })}`
    },
  }
}

function publicBlock(block: JsonObject, ids: Ids): JsonObject | undefined {
  const shown = pick(BLOCK_FIELDS, block)
  for (const field of ['id', 'tool_use_id'])
    if (shown && typeof shown[field] === 'string') shown[field] = ids.hidden(shown[field])
  return shown?.citations === undefined ? shown : withPages(shown)
}

/** Returns a block with those of its citations that are of pages that a search found. */
function withPages({ citations, ...block }: JsonObject): JsonObject {
  const pages = Array.isArray(citations) ? citations.filter(isPage) : []
  return pages.length === 0 ? block : { ...block, citations: pages }
}

function isPage(citation: unknown): boolean {
  return isObject(citation) && citation.type === 'web_search_result_location'
}

/** Returns the known fields of a part; undefined for a part of a type that is not known here. */
function pick(
  fieldsOf: ReadonlyMap<unknown, readonly string[]>,
  part: JsonObject,
): JsonObject | undefined {
  const fields = fieldsOf.get(part.type)
  return fields && copyFields(fields, part, {})
}

function endOf(from: JsonObject): JsonObject {
  const { stop_reason: reason = null, stop_sequence: sequence = null, stop_details: details } = from
  const isKnown = reason === null || STOP_REASONS.has(reason)
  const ended = { stop_reason: isKnown ? reason : 'end_turn', stop_sequence: sequence }
  return isObject(details) ? { ...ended, stop_details: details } : ended
}

/** What the edits that the client asked for have taken from the prompt. */
function editsOf({ context_management: edits }: JsonObject): JsonObject {
  return isObject(edits) ? { context_management: edits } : {}
}

/** What the upstream counts at the beginning; the charge follows at the end. */
function tokensOf(usage: JsonObject): JsonObject {
  const count = (field: string): unknown => (typeof usage[field] === 'number' ? usage[field] : 0)
  return {
    input_tokens: count('input_tokens'),
    cache_creation_input_tokens: count('cache_creation_input_tokens'),
    cache_read_input_tokens: count('cache_read_input_tokens'),
    output_tokens: count('output_tokens'),
  }
}
