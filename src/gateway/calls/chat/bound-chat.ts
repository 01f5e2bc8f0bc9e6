import { type Model, type Route, hasUnitPrice } from '../../../money/catalog/model.ts'
import {
  promptTokensBound,
  promptTokensTypical,
  type PromptFacts,
} from '../../../money/catalog/quote.ts'
import { HOUR_CACHE_UNIT } from '../../../money/catalog/hour-cache.ts'
import type { UnitCounts } from '../../../money/catalog/prices.ts'
import { WEB_SEARCH_UNIT } from '../../../money/catalog/web-search.ts'
import type { ChatContent, JsonObject, Provider, SearchRounds } from '../../providers/contract.ts'
import type { CallBounds } from '../call-kind.ts'
import { countTokens } from '../count-tokens.ts'
import type { ChatRequest } from './chat-request.ts'
import { outputTokensReadable } from './output-limit.ts'
import { promptTexts, withoutTexts } from './prompt-texts.ts'

/**
 * Computes the most that a chat can use. The prompt is bounded by the bytes that would be sent to the upstreams,
 * the output by the limit that is sent with them.
 */
export async function boundChat(
  model: Model,
  request: ChatRequest,
  providers: ReadonlyMap<string, Provider>,
): Promise<CallBounds> {
  const lean = await boundWithoutSearches(model, request, providers)
  const webSearches = request.native?.webSearches ?? 0
  if (webSearches === 0 || !hasUnitPrice(model, WEB_SEARCH_UNIT)) return lean
  const rounds = searchRounds(model, request, providers, lean.outputTokensMax)
  if (!rounds) return lean
  // No size of the results is documented: each round may read the whole context.
  const promptTokensMax = model.contextTokens * rounds.prompts
  return {
    ...lean,
    promptTokensMax,
    choices: rounds.outputs,
    unitsMax: { ...unitsMax(model, request, promptTokensMax), [WEB_SEARCH_UNIT]: webSearches },
    writesCache: true,
    countPrompt: undefined,
    leastCount: undefined,
    // Where the balance does not cover a search that the client insists on, the call is refused.
    lean: request.native?.mustSearch ? undefined : lean,
  }
}

/** Returns the searches of the web that a hold covers, and so those that are sent. */
export function webSearchesHeld(unitsHeld: UnitCounts | undefined): number {
  return unitsHeld?.[WEB_SEARCH_UNIT] ?? 0
}

/** The most rounds over all routes, because any of them may answer; undefined if none of them would search. */
function searchRounds(
  model: Model,
  request: ChatRequest,
  providers: ReadonlyMap<string, Provider>,
  outputTokensMax: number,
): SearchRounds | undefined {
  let most: SearchRounds | undefined
  for (const { upstreamId, upstreamModel } of model.routes) {
    const webSearches = request.native?.webSearches
    const content = contentOf(model, request, upstreamModel, outputTokensMax, webSearches)
    const rounds = providers.get(upstreamId)?.searchRounds?.(content)
    if (!rounds) continue
    most = {
      prompts: Math.max(rounds.prompts, most?.prompts ?? 0),
      outputs: Math.max(rounds.outputs, most?.outputs ?? 0),
    }
  }
  return most
}

async function boundWithoutSearches(
  model: Model,
  request: ChatRequest,
  providers: ReadonlyMap<string, Provider>,
): Promise<CallBounds> {
  const { choices } = request
  const outputTokensAsked = askedOutput(model, request)
  const promptTokensEstimated = typicalPrompt(model, request)
  const bytes = await maxBodyBytes(model, request, providers)
  const facts = bytes === undefined ? undefined : { ...factsOf(request), bytes }
  const promptTokensMax = facts ? promptTokensBound(facts, model) : model.contextTokens
  const counts = facts && request.imageCount === 0 ? countsOf(facts, model, request, providers) : {}
  return {
    promptTokensMax,
    promptTokensEstimated: Math.min(promptTokensEstimated, promptTokensMax),
    outputTokensMax:
      outputTokensAsked ??
      Math.min(defaultOutputTokens(model, promptTokensMax), outputTokensReadable(request)),
    choices,
    unitsMax: unitsMax(model, request, promptTokensMax),
    // Only the limit that the client set counts, as with other providers, never the maximum of the model.
    tokensCounted: promptTokensEstimated + (outputTokensAsked ?? 0) * choices,
    canLowerOutput: true,
    writesCache: mayWriteCache(model, request, providers),
    ...counts,
  }
}

/** What is at an address is unknown before the call: a document of some ten pages. */
const DOCUMENT_BYTES_TYPICAL = 80_000

/** Estimates the prompt, with the documents at addresses as if the client had sent them, once they were downloaded. */
export function typicalPrompt(model: Model, request: ChatRequest): number {
  const { fileAddressCount, bytes, imageBytes } = request
  const { documentBytes = fileAddressCount * DOCUMENT_BYTES_TYPICAL } = request
  return promptTokensTypical(
    { ...factsOf(request), bytes: bytes - imageBytes + documentBytes },
    model,
  )
}

/** Whether any route may write a cache, at its price. */
function mayWriteCache(
  { routes }: Model,
  { hasCacheControl }: ChatRequest,
  providers: ReadonlyMap<string, Provider>,
): boolean {
  const isOnRequest = ({ upstreamId }: Route) => providers.get(upstreamId)?.cachesOnRequest === true
  return hasCacheControl || !routes.every(isOnRequest)
}

/** How the prompt can be counted: by the model's public tokenizer, or by that of each of its upstreams. */
function countsOf(
  facts: PromptFacts,
  model: Model,
  request: ChatRequest,
  providers: ReadonlyMap<string, Provider>,
): Pick<CallBounds, 'countPrompt' | 'leastCount'> {
  if (model.tokenizer !== undefined)
    return {
      countPrompt: () => countPromptBound(facts, model, request, providers),
      leastCount: () => boundBesideTexts(facts, model, request),
    }
  if (!model.routes.every(({ upstreamId }) => providers.get(upstreamId)?.countPrompt !== undefined))
    return {}
  const boundOf = (tokens: number): number =>
    promptTokensBound({ ...facts, bytes: Math.ceil(tokens) }, model)
  return {
    async countPrompt() {
      const limit = askedOutput(model, request) ?? model.outputTokensMax
      const counts = model.routes.map(async ({ upstreamId, upstreamModel }) => {
        const content = contentOf(model, request, upstreamModel, limit)
        return providers.get(upstreamId)?.countPrompt?.(content)
      })
      const most = (await Promise.all(counts)).reduce(
        (max, count) =>
          max === undefined || count === undefined ? undefined : Math.max(max, count),
        0,
      )
      return most === undefined ? undefined : boundOf(most * COUNT_MARGIN)
    },
    leastCount: () => boundOf(facts.bytes / BYTES_PER_TOKEN_HIGH),
  }
}

/** Anthropic says that its count may differ from what is billed "by a small amount". */
const COUNT_MARGIN = 1.03
/** Hardly a prompt has more bytes per token: a balance that does not cover so few is refused without a question. */
const BYTES_PER_TOKEN_HIGH = 8
/**
 * The most characters of messages whose tokens are counted, which takes about a second. Longer ones are bounded by
 * their bytes.
 */
const COUNTED_CHARACTERS_MAX = 1_000_000

/** Returns the content of a chat for one upstream model. */
export function contentOf(
  model: Model,
  request: ChatRequest,
  upstreamModel: string,
  outputTokensMax: number,
  webSearchesMax = 0,
): ChatContent {
  return {
    model: upstreamModel,
    body: bodyFor(model, request),
    native: request.native,
    documents: request.documents,
    memo: request.memo,
    isStream: request.isStream,
    outputTokensMax,
    imageBytes: request.imageBytes,
    hasImageAddresses: request.hasImageAddresses,
    hasCacheControl: request.hasCacheControl,
    cachesForAnHour: request.cachesForAnHour && hasUnitPrice(model, HOUR_CACHE_UNIT),
    hasFiles: request.hasFiles,
    hasAudio: request.hasAudio,
    webSearchesMax,
  }
}

/** The client's output limit for one choice of this model; undefined if it set none. */
function askedOutput(model: Model, { outputTokensMax }: ChatRequest): number | undefined {
  return outputTokensMax === undefined
    ? undefined
    : Math.min(outputTokensMax, model.outputTokensMax)
}

function factsOf({ imageCount, hasFiles, hasTools, hasSchema }: ChatRequest) {
  return { imageCount, hasFiles, hasTools: hasTools || hasSchema }
}

/**
 * The largest body over all routes, because any of them may answer. Undefined if the provider of one route cannot
 * measure its body.
 */
async function maxBodyBytes(
  model: Model,
  request: ChatRequest,
  providers: ReadonlyMap<string, Provider>,
): Promise<number | undefined> {
  if (request.hasFiles) return undefined
  let most = 0
  for (const { upstreamId, upstreamModel } of model.routes) {
    const provider = providers.get(upstreamId)
    if (!provider?.completeChat) continue
    const limit = askedOutput(model, request) ?? model.outputTokensMax
    const measured = provider.measureChat?.(contentOf(model, request, upstreamModel, limit))
    const bytes = measured instanceof Promise ? await measured : measured
    if (bytes === undefined) return undefined
    if (bytes > most) most = bytes
  }
  return most
}

/** Almost no text has fewer bytes per token. */
const BYTES_PER_TOKEN_LOW = 2
const OUTPUT_TOKENS_MIN = 4_096

/**
 * The output limit of a request that sets none. Many upstreams refuse a limit that does not fit into the
 * context beside the prompt, so this limit leaves room for the largest prompt that is likely.
 */
function defaultOutputTokens(
  { contextTokens, outputTokensMax }: Model,
  promptTokensMax: number,
): number {
  const room = contextTokens - Math.ceil(promptTokensMax / BYTES_PER_TOKEN_LOW)
  return Math.min(outputTokensMax, Math.max(room, OUTPUT_TOKENS_MIN))
}

function unitsMax(
  model: Model,
  request: ChatRequest,
  promptTokensMax: number,
): UnitCounts | undefined {
  if (!request.hasAudio && !request.cachesForAnHour) return undefined
  return {
    ...(request.hasAudio ? { input_audio_tokens: model.contextTokens } : {}),
    ...(request.cachesForAnHour && hasUnitPrice(model, HOUR_CACHE_UNIT)
      ? { [HOUR_CACHE_UNIT]: promptTokensMax }
      : {}),
  }
}

/** The body for the upstream: without the options that this model cannot take. */
function bodyFor(model: Model, { body, cachesForAnHour }: ChatRequest): JsonObject {
  const asked = model.canReason === false ? withoutReasoning(body) : body
  return cachesForAnHour && !hasUnitPrice(model, HOUR_CACHE_UNIT) ? withShortCache(asked) : asked
}

/** Agents ask every model for reasoning; upstreams refuse it for a model that cannot reason. */
function withoutReasoning(body: JsonObject): JsonObject {
  if (body.reasoning_effort === undefined) return body
  const { reasoning_effort: _effort, ...rest } = body
  return rest
}

/** Requests the default lifetime of cache writes, for a model without a price for one hour. */
function withShortCache(body: JsonObject): JsonObject {
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
 * Bounds the prompt by the model's own public tokenizer: the tokens of the messages' texts, and the bytes of all else,
 * also of fields that we do not know and of the names and brackets around each message. Those bytes exceed the tokens
 * that a chat template adds for each message. The rest is the larger of two: the largest body less the bytes of the texts,
 * which a body may have more than once; and the largest body that the upstreams get with the texts left out, since the
 * largest one may be a native body that does not have them.
 */
async function countPromptBound(
  facts: PromptFacts,
  model: Model,
  request: ChatRequest,
  providers: ReadonlyMap<string, Provider>,
): Promise<number | undefined> {
  const texts = promptTexts(request.messages)
  const counted = await countTokens(texts, model.tokenizer, COUNTED_CHARACTERS_MAX)
  if (counted === undefined) return undefined
  const others = await maxBodyBytes(model, withoutTexts(request), providers)
  if (others === undefined) return undefined
  const rest = Math.max(facts.bytes - bytesOf(texts), others)
  return promptTokensBound({ ...facts, bytes: rest + counted }, model)
}

/**
 * Returns the bound as if the texts had no token. It is never above the bound with their count, whose rest is this one
 * or larger.
 */
function boundBesideTexts(facts: PromptFacts, model: Model, { messages }: ChatRequest): number {
  const bytes = Math.max(0, facts.bytes - bytesOf(promptTexts(messages)))
  return promptTokensBound({ ...facts, bytes }, model)
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}
