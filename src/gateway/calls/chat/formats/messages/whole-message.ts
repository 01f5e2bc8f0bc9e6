import { parseExactly } from '../../../../../platform/lib/exact-json.ts'
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { shallowInput } from '../../../../providers/parse-answer.ts'
import type { Charged } from '../../chat-format.ts'
import type { ToolCallIds } from '../../tool-call-ids.ts'
import type { SealReasoning } from '../responses/reasoning-seal.ts'
import {
  messageUsage,
  openMessage,
  stopReasonOf,
  textOfDetail,
  withCost,
  type MessageHead,
} from './message-parts.ts'
import { reasoningFieldOf, signaturesIn, unsignedIn } from './sealed-thinking.ts'

/** Writes a whole message as JSON, from an answer in the chat-completions shape. */
export function wholeMessage(
  head: MessageHead,
  ids: Pick<ToolCallIds, 'hide'>,
  seal: SealReasoning,
  body: JsonObject,
  charged: Charged,
): string {
  const choice = Array.isArray(body.choices) ? (body.choices[0] as unknown) : undefined
  const { message, finish_reason: reason } = isObject(choice) ? choice : {}
  if (isObject(message)) ids.hide(message)
  const content = isObject(message) ? toBlocks(message, seal) : []
  const hasToolCalls = content.some(({ type }) => type === 'tool_use')
  const text = JSON.stringify({
    ...openMessage(head),
    content,
    stop_reason: stopReasonOf(reason, hasToolCalls),
    stop_sequence: null,
    usage: messageUsage(charged),
  })
  return withCost(text, charged)
}

function toBlocks(message: JsonObject, seal: SealReasoning): JsonObject[] {
  const { content, refusal, tool_calls: made, extra_content: extra } = message
  const calls = Array.isArray(made) ? made.filter(isObject) : []
  const signed = calls.filter((call) => call.extra_content !== undefined)
  const kept = signaturesIn(
    extra,
    Object.fromEntries(signed.map((call) => [String(call.id), call.extra_content])),
  )
  return [
    ...toThinking(message, seal),
    ...[content, refusal]
      .filter((text) => typeof text === 'string' && text !== '')
      .map((text) => ({ type: 'text', text })),
    ...calls.map(toToolUse),
    ...(kept ? [{ type: 'redacted_thinking', data: seal(kept) }] : []),
  ]
}

/** Blocks of thinking end with their signature; those of upstreams that sign nothing have one of ours. */
function toThinking(message: JsonObject, seal: SealReasoning): JsonObject[] {
  const { reasoning_details: list } = message
  const details = Array.isArray(list) ? list.filter(isObject) : []
  const blocks: JsonObject[] = []
  // Upstreams that send the thinking in both places send the same text.
  const field = reasoningFieldOf(message)
  const isInDetails = details.some((detail) => textOfDetail(detail) !== '')
  let thinking = isInDetails || field === undefined ? '' : (message[field] as string)
  const end = (signature: string): void => {
    if (thinking !== '' || signature !== '') {
      const own = signature !== '' || field === undefined ? signature : seal(unsignedIn(field))
      blocks.push({ type: 'thinking', thinking, signature: own })
    }
    thinking = ''
  }
  for (const detail of details) {
    if (detail.type === 'reasoning.encrypted') {
      end('')
      blocks.push({ type: 'redacted_thinking', data: detail.data })
    }
    thinking += textOfDetail(detail)
    if (typeof detail.signature === 'string' && detail.signature !== '') end(detail.signature)
  }
  end('')
  return blocks
}

function toToolUse({ id, function: called }: JsonObject): JsonObject {
  const { name, arguments: text } = isObject(called) ? called : {}
  return { type: 'tool_use', id, name, input: parseInput(text) }
}

/** The arguments of a call as an object; text that a model wrote wrongly stays visible. */
function parseInput(text: unknown): unknown {
  if (typeof text !== 'string' || text === '') return {}
  try {
    const input = parseExactly(text)
    return shallowInput(isObject(input) ? input : { value: input }, () => text)
  } catch {
    return { invalid_json: text }
  }
}
