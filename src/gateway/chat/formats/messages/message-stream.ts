/** Writes the events of a streamed message, from the chunks of a stream in the chat-completions shape. */
import { isObject } from '../../../../lib/is-object.ts'
import { StreamBroken, type JsonObject } from '../../../../providers/contract.ts'
import type { Charged } from '../../chat-format.ts'
import type { ToolCallIds } from '../../tool-call-ids.ts'
import type { SealReasoning } from '../responses/reasoning-seal.ts'
import {
  messageEvent,
  messageUsage,
  openMessage,
  stopReasonOf,
  textOfDetail,
  withCost,
  type MessageHead,
} from './message-parts.ts'
import {
  reasoningFieldOf,
  signaturesIn,
  unsignedIn,
  type ReasoningField,
} from './sealed-thinking.ts'

export interface MessageStream {
  /** The events of one chunk. Throws `StreamBroken` for chunks that no sequence of blocks can express. */
  chunk(body: JsonObject): string | undefined
  /** The events after the last chunk. */
  end(charged: Charged): string
}

type BlockType = 'thinking' | 'redacted_thinking' | 'text' | 'tool_use'

interface ToolBlock {
  readonly id: unknown
  readonly index: number
}

export function createMessageStream(
  head: MessageHead,
  ids: Pick<ToolCallIds, 'hide'>,
  seal: SealReasoning,
): MessageStream {
  let hasStarted = false
  let finishReason: unknown
  /** Blocks have consecutive indexes; only the last one is open. */
  let blocks = 0
  let open: BlockType | undefined
  /** The thinking arrives in a field of its own; the details then repeat it. */
  let hasReasoning = false
  /** The field of the reasoning in the open block, which has no signature of its own yet. */
  let unsigned: ReasoningField | undefined
  let signature: unknown
  const signaturesOfCalls: JsonObject = {}
  /** The block of each tool call, by the call's index in the chunks. */
  const toolBlocks = new Map<unknown, ToolBlock>()

  function start(): string {
    if (hasStarted) return ''
    hasStarted = true
    const usage = { input_tokens: 0, output_tokens: 0 }
    const message = {
      ...openMessage(head),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...usage, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
    }
    return messageEvent({ type: 'message_start', message }) + messageEvent({ type: 'ping' })
  }

  function close(): string {
    if (open === undefined) return ''
    const signed = unsigned === undefined ? '' : sign(seal(unsignedIn(unsigned)))
    open = undefined
    return signed + messageEvent({ type: 'content_block_stop', index: blocks - 1 })
  }

  function begin(block: JsonObject & { type: BlockType }): string {
    const closed = close()
    open = block.type
    blocks += 1
    return (
      closed +
      messageEvent({ type: 'content_block_start', index: blocks - 1, content_block: block })
    )
  }

  function add(delta: JsonObject): string {
    return messageEvent({ type: 'content_block_delta', index: blocks - 1, delta })
  }

  function sign(text: string): string {
    unsigned = undefined
    return add({ type: 'signature_delta', signature: text })
  }

  function openThinking(): string {
    return open === 'thinking' ? '' : begin({ type: 'thinking', thinking: '', signature: '' })
  }

  function think(text: string): string {
    return text === '' ? '' : openThinking() + add({ type: 'thinking_delta', thinking: text })
  }

  function thinkOf(delta: JsonObject): string {
    const field = reasoningFieldOf(delta)
    if (field === undefined) return ''
    hasReasoning = true
    const events = think(delta[field] as string)
    unsigned = field
    return events
  }

  /** A signature arrives after its thinking; hidden thinking is a block of its own. */
  function readDetails(details: unknown): string {
    let events = ''
    for (const detail of Array.isArray(details) ? details.filter(isObject) : []) {
      if (detail.type === 'reasoning.encrypted')
        events += begin({ type: 'redacted_thinking', data: detail.data }) + close()
      if (!hasReasoning) events += think(textOfDetail(detail))
      if (typeof detail.signature === 'string' && detail.signature !== '')
        events += openThinking() + sign(detail.signature) + close()
    }
    return events
  }

  function say(text: unknown): string {
    if (typeof text !== 'string' || text === '') return ''
    const begun = open === 'text' ? '' : begin({ type: 'text', text: '' })
    return begun + add({ type: 'text_delta', text })
  }

  function call(calls: unknown): string {
    let events = ''
    for (const each of Array.isArray(calls) ? calls.filter(isObject) : []) {
      const { name, arguments: text } = isObject(each.function) ? each.function : {}
      let block = toolBlocks.get(each.index)
      if (!block || isOtherCall(each.id, block.id)) {
        events += begin({ type: 'tool_use', id: each.id, name, input: {} })
        block = { id: each.id, index: blocks - 1 }
        toolBlocks.set(each.index, block)
      }
      if (each.extra_content !== undefined) signaturesOfCalls[String(block.id)] = each.extra_content
      if (typeof text !== 'string' || text === '') continue
      // Clients run a call when its block ends, so arguments that come later would be lost.
      if (open !== 'tool_use' || block.index !== blocks - 1) throw interleaved()
      events += add({ type: 'input_json_delta', partial_json: text })
    }
    return events
  }

  function endSignatures(): string {
    const kept = signaturesIn(signature, signaturesOfCalls)
    return kept ? begin({ type: 'redacted_thinking', data: seal(kept) }) : ''
  }

  return {
    chunk({ choices }) {
      let events = start()
      for (const choice of Array.isArray(choices) ? choices.filter(isObject) : []) {
        const { index = 0, delta, finish_reason: reason } = choice
        // A message has one choice.
        if (index !== 0) continue
        if (isObject(delta)) {
          ids.hide(delta)
          events += thinkOf(delta) + readDetails(delta.reasoning_details)
          events += say(delta.content) + say(delta.refusal) + call(delta.tool_calls)
          signature = delta.extra_content ?? signature
        }
        if (typeof reason === 'string') finishReason = reason
      }
      return events === '' ? undefined : events
    },
    end(charged) {
      const stopReason = stopReasonOf(finishReason, toolBlocks.size > 0)
      const delta = { stop_reason: stopReason, stop_sequence: null }
      const last = JSON.stringify({ type: 'message_delta', delta, usage: messageUsage(charged) })
      return (
        start() +
        endSignatures() +
        close() +
        `event: message_delta\ndata: ${withCost(last, charged)}\n\n` +
        messageEvent({ type: 'message_stop' })
      )
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
