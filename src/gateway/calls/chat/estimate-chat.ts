import { outputTokensTypical } from '../../../money/catalog/quote.ts'
import { WEB_SEARCH_UNIT } from '../../../money/catalog/web-search.ts'
import type { HeldCall, Used } from '../call.ts'
import { estimated } from '../charge.ts'
import { countTokens } from '../count-tokens.ts'
import type { JsonObject } from '../../providers/contract.ts'
import { typicalPrompt } from './bound-chat.ts'
import type { ChatRequest } from './chat-request.ts'
import { promptTexts } from './prompt-texts.ts'

/** Estimates the usage of an answer for which the upstream reported none, or of a stream that broke off. */
export async function estimateChat(
  held: HeldCall<ChatRequest>,
  output: string[] | number,
  reason: string,
  webSearchesSeen = 0,
): Promise<Used> {
  const { messages, imageCount, hasFiles, hasTools, hasAudio, documentBytes } = held.request
  const counted = await countTokens(promptTexts(messages), held.model.tokenizer)
  // The tokenizer counts text only. For a prompt with images, files or tools the typical size is used instead.
  const isAllText = imageCount === 0 && !hasFiles && !hasTools
  const promptTokens =
    counted !== undefined && isAllText
      ? counted + messages.reduce((sum, message) => sum + tokensBeside(message), 0)
      : documentBytes === undefined
        ? held.promptTokensEstimated
        : typicalPrompt(held.model, held.request)
  const completionTokens = typeof output === 'number' ? output : await countOutput(output)
  const used = estimated({ promptTokens, completionTokens }, reason)
  const { counts, ...rest } = hasAudio ? asAudio(used) : used
  const units = { ...counts.units, [WEB_SEARCH_UNIT]: webSearchesSeen }
  return { ...rest, counts: webSearchesSeen > 0 ? { ...counts, units } : counts }
}

/** Estimates the tokens of a message beside its content: the chat template's, and those of a refusal or tool calls. */
function tokensBeside({ refusal, tool_calls: calls, function_call: call }: JsonObject): number {
  const around = 4
  if (!refusal && !calls && !call) return around
  return around + outputTokensTypical(JSON.stringify([refusal, calls, call]).length)
}

/** Charges the whole prompt as audio: in a prompt with audio, most tokens are audio. */
function asAudio({ counts, ...used }: Used): Used {
  const units = { input_audio_tokens: counts.promptTokens }
  return { ...used, counts: { ...counts, promptTokens: 0, units } }
}

async function countOutput(texts: string[]): Promise<number> {
  const counted = await countTokens(texts)
  return (
    counted ?? outputTokensTypical(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0))
  )
}
