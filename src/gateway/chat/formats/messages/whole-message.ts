import { isObject } from '../../../../lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import type { Charged } from '../../chat-format.ts'
import type { ToolCallIds } from '../../tool-call-ids.ts'
import {
  messageUsage,
  openMessage,
  reasoningOf,
  stopReasonOf,
  textOfDetail,
  withCost,
  type MessageHead,
} from './message-parts.ts'

/** The JSON of a whole message, from an answer in the chat-completions shape. */
export function wholeMessage(
  head: MessageHead,
  ids: Pick<ToolCallIds, 'hide'>,
  body: JsonObject,
  charged: Charged,
): string {
  const choice = Array.isArray(body.choices) ? (body.choices[0] as unknown) : undefined
  const { message, finish_reason: reason } = isObject(choice) ? choice : {}
  if (isObject(message)) ids.hide(message)
  const content = isObject(message) ? toBlocks(message) : []
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

function toBlocks(message: JsonObject): JsonObject[] {
  const { content, refusal, tool_calls: calls } = message
  return [
    ...toThinking(message),
    ...[content, refusal]
      .filter((text) => typeof text === 'string' && text !== '')
      .map((text) => ({ type: 'text', text })),
    ...(Array.isArray(calls) ? calls.filter(isObject).map(toToolUse) : []),
  ]
}

/** Blocks of thinking end with their signature; upstreams that sign nothing have one block without any. */
function toThinking(message: JsonObject): JsonObject[] {
  const { reasoning_details: list } = message
  const details = Array.isArray(list) ? list.filter(isObject) : []
  const blocks: JsonObject[] = []
  // Upstreams that send the thinking in both places send the same text.
  let thinking = details.some((detail) => textOfDetail(detail) !== '') ? '' : reasoningOf(message)
  const end = (signature: string): void => {
    if (thinking !== '' || signature !== '') blocks.push({ type: 'thinking', thinking, signature })
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
    const input: unknown = JSON.parse(text)
    return isObject(input) ? input : { value: input }
  } catch {
    return { invalid_json: text }
  }
}
