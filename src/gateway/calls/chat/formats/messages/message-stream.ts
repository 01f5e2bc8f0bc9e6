/** Writes the events of a streamed message, from the chunks of a stream in the chat-completions shape. */
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import type { Charged } from '../../chat-format.ts'
import type { ToolCallIds } from '../../tool-call-ids.ts'
import type { SealReasoning } from '../responses/reasoning-seal.ts'
import { createCallBlocks } from './call-blocks.ts'
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
  const calls = createCallBlocks({
    begin: (call) => begin({ ...call, type: 'tool_use' }),
    add: (text) => add({ type: 'input_json_delta', partial_json: text }),
  })

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

  /** Begins a block beside those of calls, which end before it. */
  function beginOther(block: JsonObject & { type: BlockType }): string {
    return calls.end() + begin(block)
  }

  function openThinking(): string {
    return open === 'thinking' ? '' : beginOther({ type: 'thinking', thinking: '', signature: '' })
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
        events += beginOther({ type: 'redacted_thinking', data: detail.data }) + close()
      if (!hasReasoning) events += think(textOfDetail(detail))
      if (typeof detail.signature === 'string' && detail.signature !== '')
        events += openThinking() + sign(detail.signature) + close()
    }
    return events
  }

  function say(text: unknown): string {
    if (typeof text !== 'string' || text === '') return ''
    const begun = open === 'text' ? '' : beginOther({ type: 'text', text: '' })
    return begun + add({ type: 'text_delta', text })
  }

  function endSignatures(): string {
    const kept = signaturesIn(signature, calls.signatures)
    return kept ? begin({ type: 'redacted_thinking', data: seal(kept) }) : ''
  }

  return {
    chunk({ choices }) {
      let events = start()
      for (const choice of Array.isArray(choices) ? choices.filter(isObject) : []) {
        const { index, delta, finish_reason: reason } = choice
        // A message has one choice; some upstreams number it with null.
        if ((index ?? 0) !== 0) continue
        if (isObject(delta)) {
          ids.hide(delta)
          events += thinkOf(delta) + readDetails(delta.reasoning_details)
          events += say(delta.content) + say(delta.refusal) + calls.add(delta.tool_calls)
          signature = delta.extra_content ?? signature
        }
        if (typeof reason === 'string') finishReason = reason
      }
      return events === '' ? undefined : events
    },
    end(charged) {
      const stopReason = stopReasonOf(finishReason, calls.count > 0)
      const delta = { stop_reason: stopReason, stop_sequence: null }
      const last = JSON.stringify({ type: 'message_delta', delta, usage: messageUsage(charged) })
      return (
        start() +
        calls.end() +
        endSignatures() +
        close() +
        `event: message_delta\ndata: ${withCost(last, charged)}\n\n` +
        messageEvent({ type: 'message_stop' })
      )
    },
  }
}
