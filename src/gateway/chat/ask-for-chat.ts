import type { Model } from '../../catalog/model.ts'
import {
  promptTokensBound,
  promptTokensTypical,
  type PromptFacts,
} from '../../catalog/prompt-size.ts'
import { HOUR_CACHE_UNIT, hasHourCachePrice } from '../../catalog/hour-cache.ts'
import type { UnitCounts } from '../../catalog/prices.ts'
import type { ChatContent, JsonObject, Provider } from '../../providers/contract.ts'
import type { Ask } from '../call-kind.ts'
import { countTokens } from '../count-tokens.ts'
import type { ChatRequest } from './chat-request.ts'
import { promptTexts } from './prompt-texts.ts'

/**
 * The most that a chat can use: its prompt by the bytes that the model's upstreams would be sent, its
 * output by the limit that they are sent.
 */
export async function askForChat(
  model: Model,
  request: ChatRequest,
  providers: ReadonlyMap<string, Provider>,
): Promise<Ask> {
  const { choices } = request
  const promptTokensEstimated = promptTokensTypical(
    { ...factsOf(request), bytes: request.bytes - request.imageBytes },
    model,
  )
  const bytes = await mostBytes(model, request, providers)
  const facts = bytes === undefined ? undefined : { ...factsOf(request), bytes }
  const promptTokensMax = facts ? promptTokensBound(facts, model) : model.contextTokens
  const canCount = facts !== undefined && request.imageCount === 0 && model.tokenizer !== undefined
  return {
    promptTokensMax,
    promptTokensEstimated: Math.min(promptTokensEstimated, promptTokensMax),
    outputTokensMax: request.outputTokensMax ?? defaultOutputTokens(model, promptTokensMax),
    choices,
    unitsMax: unitsMax(model, request, promptTokensMax),
    // As the field does it: what the client asked for, not what the model could do at most.
    tokensCounted: promptTokensEstimated + (request.outputTokensMax ?? 0) * choices,
    outputLimitOf: request.outputTokensMax === undefined ? 'model' : 'client',
    countPrompt: canCount ? () => countPromptBound(facts, model, request) : undefined,
  }
}

/** What every try of a call has in common. */
export function contentOf(
  model: Model,
  request: ChatRequest,
  upstreamModel: string,
  outputTokensMax: number,
): ChatContent {
  return {
    model: upstreamModel,
    body: bodyFor(model, request),
    memo: request.memo,
    isStream: request.isStream,
    outputTokensMax,
    imageBytes: request.imageBytes,
    hasCacheMarks: request.hasCacheMarks,
    cachesForAnHour: request.cachesForAnHour && hasHourCachePrice(model),
    hasFiles: request.hasFiles,
    hasSound: request.hasSound,
  }
}

function factsOf({ imageCount, hasFiles, hasTools, hasSchema }: ChatRequest) {
  return { imageCount, hasFiles, hasTools: hasTools || hasSchema }
}

/** Over all routes: which one will answer is not known yet. Undefined where one of them cannot say. */
async function mostBytes(
  model: Model,
  request: ChatRequest,
  providers: ReadonlyMap<string, Provider>,
): Promise<number | undefined> {
  if (request.hasFiles) return undefined
  let most = 0
  for (const { upstreamId, upstreamModel } of model.routes) {
    const provider = providers.get(upstreamId)
    if (!provider?.completeChat) continue
    const limit = request.outputTokensMax ?? model.outputTokensMax
    const measured = provider.measureChat?.(contentOf(model, request, upstreamModel, limit))
    const bytes = measured instanceof Promise ? await measured : measured
    if (bytes === undefined) return undefined
    if (bytes > most) most = bytes
  }
  return most
}

/** Nearly no text has fewer bytes to a token. */
const BYTES_PER_TOKEN_LEAST_TYPICAL = 2
const OUTPUT_TOKENS_LEAST = 4_096

/**
 * The limit that a request without one gets. Many upstreams refuse a limit that does not fit into the
 * context beside the prompt, so it leaves room for what the prompt can be, or hardly is more than.
 */
function defaultOutputTokens(
  { contextTokens, outputTokensMax }: Model,
  promptTokensMax: number,
): number {
  const room = contextTokens - Math.ceil(promptTokensMax / BYTES_PER_TOKEN_LEAST_TYPICAL)
  return Math.min(outputTokensMax, Math.max(room, OUTPUT_TOKENS_LEAST))
}

function unitsMax(
  model: Model,
  request: ChatRequest,
  promptTokensMax: number,
): UnitCounts | undefined {
  if (!request.hasSound && !request.cachesForAnHour) return undefined
  return {
    ...(request.hasSound ? { input_audio_tokens: model.contextTokens } : {}),
    ...(request.cachesForAnHour && hasHourCachePrice(model)
      ? { [HOUR_CACHE_UNIT]: promptTokensMax }
      : {}),
  }
}

/** Without a price for it, nothing is cached for an hour: the ordinary life is asked for. */
function bodyFor(model: Model, { body, cachesForAnHour }: ChatRequest): JsonObject {
  if (!cachesForAnHour || hasHourCachePrice(model)) return body
  const shortened = (carrier: JsonObject): JsonObject =>
    carrier.cache_control === undefined
      ? carrier
      : { ...carrier, cache_control: { type: 'ephemeral' } }
  const messages = (body.messages as JsonObject[]).map((message) =>
    Array.isArray(message.content)
      ? { ...message, content: (message.content as JsonObject[]).map(shortened) }
      : message,
  )
  const { tools } = body
  return {
    ...body,
    messages,
    ...(Array.isArray(tools) ? { tools: (tools as JsonObject[]).map(shortened) } : {}),
  }
}

/**
 * A bound by the model's own public tokenizer. It is the bound by bytes in which the texts of the
 * messages, and nothing else, stand with their tokens in place of their bytes: what is not counted, known
 * or unknown, stays bounded by its bytes, and so do the names and brackets around each message, which
 * are more than a chat format puts there.
 */
async function countPromptBound(
  facts: PromptFacts,
  model: Model,
  { messages }: ChatRequest,
): Promise<number | undefined> {
  const texts = promptTexts(messages)
  const counted = await countTokens(texts, model.tokenizer)
  if (counted === undefined) return undefined
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  return promptTokensBound({ ...facts, bytes: facts.bytes - bytes + counted }, model)
}
