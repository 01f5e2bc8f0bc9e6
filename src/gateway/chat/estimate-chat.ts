import { outputTokensTypical } from '../../catalog/prompt-size.ts'
import type { HeldCall, Used } from '../call.ts'
import { estimated } from '../charge.ts'
import { countTokens } from '../count-tokens.ts'
import type { JsonObject } from '../../providers/contract.ts'
import type { ChatRequest } from './chat-request.ts'
import { promptTexts } from './prompt-texts.ts'

/** Counts what an upstream that answered did not report, or a stream that broke off had delivered. */
export async function estimateChat(
  held: HeldCall<ChatRequest>,
  output: string[] | number,
  reason: string,
): Promise<Used> {
  const { messages, imageCount, hasFiles, hasTools, hasSound } = held.request
  const counted = await countTokens(promptTexts(messages), held.model.tokenizer)
  // Images and tools are not texts; where there are some, the typical size counts them.
  const isAllText = imageCount === 0 && !hasFiles && !hasTools
  const promptTokens =
    counted !== undefined && isAllText
      ? counted + messages.reduce((sum, message) => sum + tokensBeside(message), 0)
      : held.promptTokensEstimated
  const completionTokens = typeof output === 'number' ? output : await countOutput(output)
  const used = estimated(held, { promptTokens, completionTokens }, reason)
  return hasSound ? asSound(used) : used
}

/** What an earlier turn has beside its content, and what is around each message. */
function tokensBeside({ refusal, tool_calls: calls, function_call: call }: JsonObject): number {
  const around = 4
  if (!refusal && !calls && !call) return around
  return around + outputTokensTypical(JSON.stringify([refusal, calls, call]).length)
}

/** The prompt at the price of sound: most of it is, where some of it is. */
function asSound({ counts, ...used }: Used): Used {
  const units = { input_audio_tokens: counts.promptTokens }
  return { ...used, counts: { ...counts, promptTokens: 0, units } }
}

async function countOutput(texts: string[]): Promise<number> {
  const counted = await countTokens(texts)
  return (
    counted ?? outputTokensTypical(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0))
  )
}
