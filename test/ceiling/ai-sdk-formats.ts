/** How the providers with their own formats bill a chat request. */
import { isObject } from '../../src/platform/lib/is-object.ts'
import { unknownFields } from './allow-lists.ts'
import { costOf, counts, mostExpensive, withSearches, type Bill, type Counts } from './bill.ts'
import type { ModelTruth } from './model-truth.ts'
import { listOf } from './openai-format.ts'
import {
  measurer,
  mediaOfUrl,
  TOKENS_PER_MESSAGE,
  TOKENS_PER_PROMPT,
  TOOL_PREAMBLE,
  type Media,
  type PromptSize,
} from './prompt-size.ts'

type Body = Record<string, unknown>

interface Received {
  /** The parts of a request that the model reads. */
  readonly parts: readonly unknown[]
  readonly messages: number
  readonly hasTools: boolean
  readonly limit: unknown
  readonly choices?: unknown
  readonly mediaOf: (value: Body) => Media | undefined
}

function billChat(model: ModelTruth, body: Body, received: Received): Bill {
  const measure = measurer(model, received.mediaOf)
  const size: PromptSize = { tokens: 0, audioTokens: 0 }
  for (const part of received.parts) {
    const { tokens, audioTokens } = measure(part)
    size.tokens += tokens
    size.audioTokens += audioTokens
  }
  const around = received.messages * TOKENS_PER_MESSAGE + TOKENS_PER_PROMPT
  const tokens = size.tokens + around + (received.hasTools ? TOOL_PREAMBLE : 0)
  const limit = typeof received.limit === 'number' ? received.limit : model.ownOutputMax
  const choices = typeof received.choices === 'number' ? received.choices : 1
  const completionTokens = Math.min(limit, model.ownOutputMax) * choices
  const text = JSON.stringify(body)
  const caches = text.includes('"cache_control"') || text.includes('"cachePoint"')
  const isLong = /"ttl":"1h"/.test(text)
  const of = mostExpensive(model, tokens, (promptTokens) => ({
    completionTokens,
    audioTokens: model.audioInput === undefined ? 0 : Math.min(size.audioTokens, promptTokens),
    cacheWrite5m: caches && !isLong ? promptTokens : 0,
    cacheWrite1h: caches && isLong ? promptTokens : 0,
  }))
  const unknown = unknownFields(`${model.format} chat`, body)
  return { ...of, model, costPicoUsd: costOf(model, of), unknown }
}

/** Flags that change what is billed. */
const PRICED_FLAGS = /context-1m|fast-mode|compact|code-execution|skills|mcp|web-|advisor/

export function billAnthropic(model: ModelTruth, body: Body, flags: string): Bill {
  const read = billChat(model, body, {
    parts: [body.system, body.messages, body.tools, body.output_config, body.output_format],
    messages: listOf(body.messages).length,
    hasTools: listOf(body.tools).length > 0,
    limit: body.max_tokens,
    mediaOf: anthropicMedia,
  })
  const search = listOf(body.tools).find(({ type }) => String(type).startsWith('web_search'))
  const bill = search ? withSearches(read, mostOf(search.max_uses), ANTHROPIC_ROUNDS) : read
  return PRICED_FLAGS.test(flags)
    ? { ...bill, unknown: [...bill.unknown, `the flags ${flags}`] }
    : bill
}

/** The provider stops by itself after as many rounds; each may write up to the limit. */
const ANTHROPIC_ROUNDS = { prompts: 10, outputs: 10 }

/** Without a limit, the model searches as long as it likes. */
function mostOf(usesMax: unknown): number {
  return typeof usesMax === 'number' ? usesMax : 1_000
}

function anthropicMedia({ type, source }: Body): Media | undefined {
  // Texts and images inside the document are read one by one.
  if (!isObject(source) || source.type === 'content') return undefined
  const given = typeof source.media_type === 'string' ? source.media_type : 'application/pdf'
  const mediaType = type === 'image' ? 'image/png' : given
  if (source.type === 'text') return { mediaType, bytes: undefined, text: String(source.data) }
  const bytes = typeof source.data === 'string' ? Buffer.from(source.data, 'base64') : undefined
  return { mediaType, bytes }
}

export function billGemini(model: ModelTruth, body: Body): Bill {
  const config = isObject(body.generationConfig) ? body.generationConfig : {}
  return billChat(model, body, {
    parts: [
      body.systemInstruction,
      body.contents,
      body.tools,
      config.responseSchema,
      config.responseJsonSchema,
    ],
    messages: listOf(body.contents).length,
    hasTools: listOf(body.tools).length > 0,
    limit: config.maxOutputTokens,
    choices: config.candidateCount,
    mediaOf: geminiMedia,
  })
}

function geminiMedia({ inlineData, fileData }: Body): Media | undefined {
  if (isObject(inlineData)) {
    const mediaType = String(inlineData.mimeType).toLowerCase()
    return { mediaType, bytes: Buffer.from(String(inlineData.data), 'base64') }
  }
  // A YouTube address is a video, whatever type the request names.
  return isObject(fileData)
    ? /youtu/.test(String(fileData.fileUri))
      ? { mediaType: 'video/mp4', bytes: undefined }
      : { mediaType: String(fileData.mimeType), bytes: undefined }
    : undefined
}

/** One request of the images adapter, billed for as many images as the model makes without a limit. */
export function billGeminiImage(model: ModelTruth, body: Body): Bill {
  const config = isObject(body.generationConfig) ? body.generationConfig : {}
  const one = model.imageTokensByQuality?.high ?? 0
  const limit = Math.min(
    typeof config.maxOutputTokens === 'number' ? config.maxOutputTokens : Infinity,
    model.ownOutputMax,
  )
  // A prompt that asks for several pictures gets several.
  const wanted = Number(
    /\b(\d+) (?:images|imagens)\b/.exec(JSON.stringify(body.contents))?.[1] ?? 1,
  )
  const imageOutputTokens =
    Math.min(Math.max(wanted, 1), Math.max(1, Math.floor(limit / one))) * one
  const { tokens } = measurer(model, geminiMedia)(body.contents)
  const of = counts({
    promptTokens: Math.min(tokens + TOKENS_PER_PROMPT, model.context),
    completionTokens: imageOutputTokens,
    imageOutputTokens,
  })
  const unknown = unknownFields('google images', body)
  return { ...of, model, costPicoUsd: costOf(model, of), unknown }
}

export function billBedrock(model: ModelTruth, body: Body): Bill {
  const inference = isObject(body.inferenceConfig) ? body.inferenceConfig : {}
  const tools = isObject(body.toolConfig) ? listOf(body.toolConfig.tools) : []
  const more = isObject(body.additionalModelRequestFields) ? body.additionalModelRequestFields : {}
  return billChat(model, body, {
    parts: [body.system, body.messages, tools, more.output_config, more.output_format],
    messages: listOf(body.messages).length,
    hasTools: tools.length > 0,
    limit: inference.maxTokens,
    mediaOf: bedrockMedia,
  })
}

function bedrockMedia({ image, document, video }: Body): Media | undefined {
  if (isObject(image)) return { mediaType: 'image/png', bytes: undefined }
  if (isObject(video)) return { mediaType: 'video/mp4', bytes: undefined }
  if (!isObject(document)) return undefined
  const source = isObject(document.source) ? document.source : {}
  const bytes = Buffer.from(typeof source.bytes === 'string' ? source.bytes : '', 'base64')
  return { mediaType: document.format === 'pdf' ? 'application/pdf' : 'text/plain', bytes }
}

export function billCohere(model: ModelTruth, body: Body): Bill {
  const format = isObject(body.response_format) ? body.response_format : {}
  return billChat(model, body, {
    parts: [body.messages, body.tools, body.documents, format.json_schema],
    messages: listOf(body.messages).length,
    hasTools: listOf(body.tools).length > 0,
    limit: body.max_tokens,
    mediaOf: ({ image_url: image }) =>
      isObject(image) ? mediaOfUrl(image.url, 'image/png') : undefined,
  })
}

export function anthropicUsage(of: Counts): object {
  return {
    input_tokens: of.promptTokens - of.cachedTokens - of.cacheWrite5m - of.cacheWrite1h,
    cache_creation_input_tokens: of.cacheWrite5m + of.cacheWrite1h,
    cache_creation: {
      ephemeral_5m_input_tokens: of.cacheWrite5m,
      ephemeral_1h_input_tokens: of.cacheWrite1h,
    },
    cache_read_input_tokens: of.cachedTokens,
    output_tokens: of.completionTokens,
    service_tier: 'standard',
    ...(of.searches > 0 ? { server_tool_use: { web_search_requests: of.searches } } : {}),
  }
}

export function geminiUsage(of: Counts): object {
  const modality = (modality: string, tokenCount: number) => ({ modality, tokenCount })
  return {
    promptTokenCount: of.promptTokens,
    candidatesTokenCount: of.completionTokens - of.reasoningTokens,
    thoughtsTokenCount: of.reasoningTokens,
    totalTokenCount: of.promptTokens + of.completionTokens,
    promptTokensDetails: [
      modality('TEXT', of.promptTokens - of.audioTokens),
      ...(of.audioTokens > 0 ? [modality('AUDIO', of.audioTokens)] : []),
    ],
    ...(of.imageOutputTokens > 0
      ? { candidatesTokensDetails: [modality('IMAGE', of.imageOutputTokens)] }
      : {}),
  }
}

export function bedrockUsage(of: Counts): object {
  const written = of.cacheWrite5m + of.cacheWrite1h
  return {
    inputTokens: of.promptTokens - of.cachedTokens - written,
    outputTokens: of.completionTokens,
    totalTokens: of.promptTokens + of.completionTokens,
    cacheReadInputTokens: of.cachedTokens,
    cacheWriteInputTokens: written,
    cacheDetails: [
      { ttl: '5m', inputTokens: of.cacheWrite5m },
      { ttl: '1h', inputTokens: of.cacheWrite1h },
    ],
  }
}

export function cohereUsage(of: Counts): object {
  const tokens = { input_tokens: of.promptTokens, output_tokens: of.completionTokens }
  return { billed_units: tokens, tokens }
}
