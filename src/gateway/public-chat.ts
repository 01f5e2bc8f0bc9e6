/**
 * What of an upstream's answer a customer sees: the chat-completions format and nothing else. Names,
 * fingerprints and fields of an upstream's own are left out by naming what stays.
 */
import { jsonBrl, type NanoBrl } from '../lib/money.ts'
import type { TokenCounts } from '../catalog/prices.ts'
import type { JsonObject } from '../providers/contract.ts'

/** What an answer says of itself, the same in every chunk of a stream. */
export interface AnswerHead {
  readonly id: string
  readonly created: number
  readonly modelId: string
}

const CHOICE_FIELDS = ['index', 'finish_reason', 'logprobs'] as const
const MESSAGE_FIELDS = [
  'role',
  'content',
  'refusal',
  'tool_calls',
  'function_call',
  'annotations',
  'reasoning_content',
  'reasoning',
] as const

/** What was used, and what it costs. */
export type Charged = TokenCounts & { readonly billedNanoBrl: NanoBrl }

/** The JSON of a whole answer, with its cost to the last digit. */
export function publicAnswer(head: AnswerHead, body: JsonObject, charged: Charged): string {
  return JSON.stringify({
    id: head.id,
    object: 'chat.completion',
    created: head.created,
    model: head.modelId,
    choices: publicChoices(body.choices, 'message'),
    usage: publicUsage(charged),
    cost_billed_brl: jsonBrl(charged.billedNanoBrl),
  })
}

/** A chunk as an event; undefined where nothing of it is for the customer, as a chunk of only usage. */
export function publicChunk(head: AnswerHead, body: JsonObject): string | undefined {
  if (!Array.isArray(body.choices) || body.choices.length === 0) return undefined
  const chunk = { ...chunkHead(head), choices: publicChoices(body.choices, 'delta') }
  return `data: ${JSON.stringify(chunk)}\n\n`
}

/** The chunk that tells the usage, last before the end, for clients that asked for it. */
export function usageChunk(head: AnswerHead, charged: Charged): string {
  const chunk = {
    ...chunkHead(head),
    choices: [],
    usage: publicUsage(charged),
    cost_billed_brl: jsonBrl(charged.billedNanoBrl),
  }
  return `data: ${JSON.stringify(chunk)}\n\n`
}

/** Texts that the model put out in an answer, to be counted where the upstream did not. */
export function outputTexts(body: JsonObject, part: 'message' | 'delta'): string[] {
  if (!Array.isArray(body.choices)) return []
  const texts: string[] = []
  for (const choice of body.choices as unknown[]) {
    const message = isObject(choice) && isObject(choice[part]) ? choice[part] : {}
    for (const field of ['content', 'refusal', 'reasoning_content', 'reasoning'] as const) {
      if (typeof message[field] === 'string' && message[field] !== '') texts.push(message[field])
    }
    for (const field of ['tool_calls', 'function_call'] as const) {
      if (message[field]) texts.push(JSON.stringify(message[field]))
    }
  }
  return texts
}

function chunkHead(head: AnswerHead): JsonObject {
  return {
    id: head.id,
    object: 'chat.completion.chunk',
    created: head.created,
    model: head.modelId,
  }
}

function publicChoices(choices: unknown, part: 'message' | 'delta'): JsonObject[] {
  const shown: JsonObject[] = []
  for (const choice of choices as unknown[]) {
    if (!isObject(choice)) continue
    const result: JsonObject = {}
    pick(CHOICE_FIELDS, choice, result)
    if (isObject(choice[part])) {
      const message: JsonObject = {}
      pick(MESSAGE_FIELDS, choice[part], message)
      result[part] = message
    }
    shown.push(result)
  }
  return shown
}

function publicUsage(tokens: TokenCounts): JsonObject {
  return {
    prompt_tokens: tokens.promptTokens,
    completion_tokens: tokens.completionTokens,
    total_tokens: tokens.promptTokens + tokens.completionTokens,
    prompt_tokens_details: { cached_tokens: tokens.cachedTokens },
    completion_tokens_details: { reasoning_tokens: tokens.reasoningTokens },
  }
}

function pick(fields: readonly string[], from: JsonObject, to: JsonObject): void {
  for (const field of fields) if (from[field] !== undefined) to[field] = from[field]
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
