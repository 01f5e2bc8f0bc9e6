import type { Model } from '../../catalog/model.ts'
import {
  promptTokensBound,
  promptTokensTypical,
  TOOL_PREAMBLE_TOKENS,
} from '../../catalog/prompt-size.ts'
import type { Ask } from '../call-kind.ts'
import { countTokens } from '../count-tokens.ts'
import type { ChatRequest } from './chat-request.ts'
import { promptTexts } from './prompt-texts.ts'

/** Around each message and around all of them, in the known chat formats, with a margin. */
const TOKENS_PER_MESSAGE = 8
const TOKENS_PER_PROMPT = 64

/** The most that a chat can use: its prompt by its bytes, its output by the limit that holds for it. */
export function askForChat(model: Model, request: ChatRequest): Ask {
  const { outputTokensMax, choices } = request
  const promptTokensEstimated = promptTokensTypical(request, model)
  const canCount = request.imageCount === 0 && !request.hasFiles && model.tokenizer !== undefined
  return {
    promptTokensMax: promptTokensBound(request, model),
    promptTokensEstimated,
    outputTokensMax: outputTokensMax ?? model.outputTokensMax,
    choices,
    // As the field does it: what the client asked for, not what the model could do at most.
    tokensCounted: promptTokensEstimated + (outputTokensMax ?? 0) * choices,
    outputLimitOf: outputTokensMax === undefined ? 'model' : 'client',
    countPrompt: canCount ? () => countPromptBound(request) : undefined,
  }
}

/** A bound by the model's own public tokenizer; what is not counted is bounded by its bytes. */
async function countPromptBound(request: ChatRequest): Promise<number | undefined> {
  const texts = promptTexts(request.messages)
  const counted = await countTokens(texts)
  if (counted === undefined) return undefined
  const rest = { ...request.body, messages: undefined }
  const restBytes = Buffer.byteLength(JSON.stringify(rest))
  return (
    counted +
    request.messages.length * TOKENS_PER_MESSAGE +
    TOKENS_PER_PROMPT +
    (request.hasTools ? restBytes + TOOL_PREAMBLE_TOKENS : restBytes)
  )
}
