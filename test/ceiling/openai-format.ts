/** How a provider of the chat-completions format bills a request and answers it. */
import { isObject } from '../../src/platform/lib/is-object.ts'
import { unknownFields } from './allow-lists.ts'
import { costOf, counts, mostExpensive, withSearches, type Bill, type Counts } from './bill.ts'
import { keepsLimits, pixelsOf, type ModelTruth } from './model-truth.ts'
import {
  measurer,
  mediaOfUrl,
  tokensOf,
  TOKENS_PER_MESSAGE,
  TOKENS_PER_PROMPT,
  type Media,
} from './prompt-size.ts'

type Body = Record<string, unknown>

export function billOpenAiChat(model: ModelTruth, body: Body): Bill {
  const measure = measurer(model, model.upstreamId === 'openai' ? openAiOwnMedia : openAiMedia)
  const messages = listOf(body.messages)
  const prompt = measure(messages)
  let tokens = prompt.tokens + messages.length * TOKENS_PER_MESSAGE + TOKENS_PER_PROMPT
  tokens += namesOfAnsweredCalls(model, messages)
  // The text that providers put around messages: tools and schemas as JSON, byte by byte.
  for (const field of ['tools', 'functions', 'response_format', 'prediction', 'documents'])
    if (body[field]) tokens += Buffer.byteLength(JSON.stringify(body[field]))
  if (listOf(body.tools).length + listOf(body.functions).length > 0) tokens += 30
  if (body.chat_template) tokens *= 100
  // Mistral prepends a text of its own to the prompt.
  if (body.safe_prompt === true) tokens += 40

  const outputOfOne = Math.min(limitOf(model, body) ?? model.ownOutputMax, model.ownOutputMax)
  const choices = typeof body.n === 'number' ? body.n : 1
  const predicted = body.prediction ? JSON.stringify(body.prediction).length : 0
  const completionTokens = outputOfOne * choices + predicted
  const lifetime = lifetimeOf(body)
  const writesUnasked = model.tiers[0].cacheWrite5m !== undefined && model.upstreamId === 'compat'
  const of = mostExpensive(model, tokens, (size) => ({
    completionTokens,
    reasoningTokens: model.tiers[0].reasoning === undefined ? 0 : completionTokens,
    cacheWrite1h: lifetime === '1h' ? size : 0,
    cacheWrite5m: lifetime !== '1h' && writesUnasked ? size : 0,
    factor: model.upstreamId === 'openai' ? factorOf(body.service_tier) : 1,
    extras: extrasOf(body),
  }))
  return {
    ...of,
    model,
    costPicoUsd: costOf(model, of),
    unknown: unknownFields('openai chat', body),
  }
}

/** The same in the Responses format. What is encrypted may have more tokens than bytes. */
export function billOpenAiResponse(model: ModelTruth, body: Body): Bill {
  const items = listOf(body.input)
  const measure = measurer(model, responseMedia)
  const input = typeof body.input === 'string' ? body.input : items
  let tokens = measure([input, body.instructions]).tokens
  tokens += (items.length + 2) * TOKENS_PER_MESSAGE + TOKENS_PER_PROMPT
  for (const field of ['tools', 'text'])
    if (body[field]) tokens += Buffer.byteLength(JSON.stringify(body[field]))
  if (listOf(body.tools).length > 0) tokens += 30
  for (const item of items)
    if (typeof item.encrypted_content === 'string')
      tokens += Buffer.byteLength(item.encrypted_content)
  const limit = body.max_output_tokens
  const completionTokens = Math.min(
    typeof limit === 'number' ? limit : model.ownOutputMax,
    model.ownOutputMax,
  )
  const of = mostExpensive(model, tokens, () => ({
    completionTokens,
    reasoningTokens: model.tiers[0].reasoning === undefined ? 0 : completionTokens,
    factor: factorOf(body.service_tier),
  }))
  const unknown = unknownFields('openai responses', body)
  const bill = { ...of, model, costPicoUsd: costOf(model, of), unknown }
  if (!listOf(body.tools).some(({ type }) => String(type).startsWith('web_search'))) return bill
  const uses = typeof body.max_tool_calls === 'number' ? body.max_tool_calls : 1_000
  // Once for each use, once after the last, and once for a use above the limit; the output's limit is for all rounds.
  return withSearches(bill, uses, { prompts: uses + 2, outputs: 1 })
}

function responseMedia({ type, image_url: url, file_data: data }: Body): Media | undefined {
  if (type === 'input_image' && typeof url === 'string')
    return { mediaType: 'image/png', bytes: undefined }
  if (type !== 'input_file') return undefined
  return mediaOfUrl(data, 'application/pdf') ?? { mediaType: 'application/pdf', bytes: undefined }
}

export function responseUsage(of: Counts): object {
  return {
    input_tokens: of.promptTokens,
    input_tokens_details: { cached_tokens: of.cachedTokens, cache_write_tokens: 0 },
    output_tokens: of.completionTokens,
    output_tokens_details: { reasoning_tokens: of.reasoningTokens },
    total_tokens: of.promptTokens + of.completionTokens,
  }
}

function limitOf({ limitField = 'max_tokens' }: ModelTruth, body: Body): number | undefined {
  if (keepsLimits) {
    const both = [body.max_tokens, body.max_completion_tokens].filter(
      (each) => typeof each === 'number',
    )
    return both.length > 0 ? Math.max(...both) : undefined
  }
  const limit = body[limitField]
  return typeof limit === 'number' ? limit : undefined
}

/** In the format of the newer models, the author of a result is the function, by its name. */
function namesOfAnsweredCalls(model: ModelTruth, messages: readonly Body[]): number {
  const names = new Map<unknown, string>()
  let tokens = 0
  for (const message of messages) {
    for (const call of listOf(message.tool_calls))
      if (isObject(call.function)) names.set(call.id, String(call.function.name))
    if (message.role === 'tool') tokens += tokensOf(model, names.get(message.tool_call_id) ?? '')
  }
  return tokens
}

/** OpenAI itself downloads nothing but images here. */
function openAiOwnMedia(value: Body): Media | undefined {
  return isObject(value.image_url)
    ? { mediaType: 'image/png', bytes: undefined }
    : openAiMedia(value)
}

function openAiMedia(value: Body): Media | undefined {
  if (isObject(value.image_url)) return mediaOfUrl(value.image_url.url, 'image/png')
  if (isObject(value.file)) {
    return (
      mediaOfUrl(value.file.file_data, 'application/pdf') ?? {
        mediaType: 'application/pdf',
        bytes: undefined,
      }
    )
  }
  if (isObject(value.input_audio)) return { mediaType: 'audio/wav', bytes: undefined }
  return undefined
}

function lifetimeOf(body: Body): '5m' | '1h' | undefined {
  const text = JSON.stringify({
    messages: body.messages,
    tools: body.tools,
    top: body.cache_control,
  })
  if (/"ttl":"1h"/.test(text)) return '1h'
  return text.includes('"cache_control"') ? '5m' : undefined
}

function factorOf(tier: unknown): number {
  return tier === 'flex' ? 0.5 : tier === 'priority' ? 2 : 1
}

const CENT = 10_000_000_000
/** The price that providers charge beside tokens when such a field arrives. */
const EXTRAS: Readonly<Record<string, number>> = {
  plugins: 2 * CENT,
  search_parameters: 50 * CENT,
  web_search_options: 4 * CENT,
  data_sources: 5 * CENT,
  provider: 10 * CENT,
  models: 10 * CENT,
  enable_search: 3 * CENT,
  best_of: 10 * CENT,
  audio: 5 * CENT,
}

function extrasOf(body: Body): number {
  const images = listOf(body.modalities).length > 0 && !isTextOnly(body.modalities) ? 4 * CENT : 0
  return Object.entries(EXTRAS).reduce(
    (sum, [field, price]) => sum + (body[field] === undefined ? 0 : price),
    images,
  )
}

const isTextOnly = (modalities: unknown): boolean =>
  Array.isArray(modalities) && modalities.every((each) => each === 'text')

export function listOf(value: unknown): Body[] {
  return Array.isArray(value) ? (value as Body[]) : []
}

export function openAiUsage(of: Counts): object {
  return {
    prompt_tokens: of.promptTokens,
    completion_tokens: of.completionTokens,
    total_tokens: of.promptTokens + of.completionTokens,
    prompt_tokens_details: {
      cached_tokens: of.cachedTokens,
      cache_write_tokens: of.cacheWrite5m + of.cacheWrite1h,
    },
    completion_tokens_details: { reasoning_tokens: of.reasoningTokens },
  }
}

export function billOpenAiEmbeddings(model: ModelTruth, body: Body): Bill {
  const inputs = inputsOf(body.input)
  let tokens = 0
  for (const input of inputs) {
    const size = typeof input === 'string' ? tokensOf(model, input) : input.length
    tokens += Math.min(size + (model.tokenizer ? 0 : 2), model.context)
  }
  for (const field of ['messages', 'documents', 'images'])
    if (body[field]) tokens += JSON.stringify(body[field]).length
  const of = counts({ promptTokens: tokens })
  return {
    ...of,
    model,
    costPicoUsd: costOf(model, of),
    unknown: unknownFields('openai embeddings', body),
  }
}

export function inputsOf(input: unknown): (string | number[])[] {
  if (typeof input === 'string') return [input]
  if (!Array.isArray(input)) return []
  return typeof input[0] === 'number' ? [input as number[]] : (input as (string | number[])[])
}

/** By the token as OpenAI bills, or by the pixel as Together does, whichever field gives their number. */
export function billOpenAiImages(model: ModelTruth, body: Body): Bill {
  const count = typeof body.n === 'number' ? body.n : 1
  const unknown = unknownFields('openai images', body)
  const promptTokens = Math.min(Buffer.byteLength(String(body.prompt)) + 20, model.context)
  if (model.megapixel !== undefined) {
    const { width, height } = body
    const pixels =
      typeof width === 'number' && typeof height === 'number'
        ? width * height
        : pixelsOf(typeof body.size === 'string' ? body.size : '2000x2000')
    const steps = typeof body.steps === 'number' ? Math.max(1, body.steps / 4) : 1
    const of = counts({ megapixels: (count * pixels * steps) / 1e6 })
    return { ...of, model, costPicoUsd: costOf(model, of), unknown }
  }
  const byQuality = model.imageTokensByQuality ?? {}
  const one = byQuality[String(body.quality)] ?? model.ownOutputMax
  const partial = typeof body.partial_images === 'number' ? body.partial_images * 100 : 0
  const completionTokens = count * (one + partial)
  const of = counts({ promptTokens, completionTokens, imageOutputTokens: completionTokens })
  return { ...of, model, costPicoUsd: costOf(model, of), unknown }
}
