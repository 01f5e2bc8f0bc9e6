import type { LanguageModelV4GenerateResult } from '@ai-sdk/provider'
import { unmarkIntegers } from '../../../platform/lib/exact-json.ts'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { ChatAnswer, JsonObject, UpstreamFailure } from '../contract.ts'
import { assertShallow } from '../parse-answer.ts'
import { shortenInputs } from './native-messages/read-native-message.ts'
import { toReasoningDetail, toExtraContent } from './reasoning-details.ts'
import { refusalText, toFinishReason } from './to-finish-reason.ts'
import { toReportedUsage, type AskedOfUsage } from './to-reported-usage.ts'

/** Converts a plain answer to the chat-completions shape, without the fields that the gateway adds. */
export function toChatAnswer(
  result: LanguageModelV4GenerateResult,
  asked: AskedOfUsage,
): ChatAnswer | UpstreamFailure {
  const { content, finishReason, usage, providerMetadata } = result
  const finish = toFinishReason(finishReason)
  // The connection did not fail; the answer itself is incomplete.
  if (typeof finish === 'object') return { ...finish, reason: 'bad_answer' }
  const message = toMessage(content, refusalText(providerMetadata))
  return {
    kind: 'answer',
    body: { choices: [{ index: 0, message, finish_reason: finish }] },
    usage: toReportedUsage(usage, content.length > 0, asked),
  }
}

/** Converts an answer in the client's own format, and keeps it beside. Throws `TooDeep`. */
export function toNativeAnswer(
  result: LanguageModelV4GenerateResult,
  asked: AskedOfUsage,
): ChatAnswer | UpstreamFailure {
  const answer = toChatAnswer(result, asked)
  const native = result.response?.body
  if (answer.kind !== 'answer' || !isObject(native)) return answer
  shortenInputs(native)
  assertShallow(native)
  return { ...answer, native }
}

function toMessage(
  content: LanguageModelV4GenerateResult['content'],
  refusal: string | undefined,
): JsonObject {
  let text = ''
  let reasoning = ''
  let extraContent: JsonObject = {}
  const details: JsonObject[] = []
  const toolCalls: JsonObject[] = []
  for (const part of content) {
    if (part.type === 'text') {
      text += part.text
      extraContent = { ...extraContent, ...toExtraContent(part.providerMetadata) }
    } else if (part.type === 'reasoning') {
      reasoning += part.text
      const detail = toReasoningDetail(part.text, part.providerMetadata, details.length)
      if (detail) details.push(detail)
    } else if (part.type === 'tool-call' && part.providerExecuted !== true) {
      toolCalls.push({
        id: part.toolCallId,
        type: 'function',
        function: { name: part.toolName, arguments: unmarkIntegers(part.input) },
        ...toExtraContent(part.providerMetadata),
      })
    }
  }
  return {
    role: 'assistant',
    content: text === '' && toolCalls.length > 0 ? null : text,
    refusal: refusal ?? null,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
    ...extraContent,
  }
}
