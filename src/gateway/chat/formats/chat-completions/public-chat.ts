/**
 * What of an upstream's answer a customer sees: the chat-completions format and nothing else. Names,
 * fingerprints and fields of an upstream's own are left out by naming what stays.
 */
import type { TokenCounts } from '../../../../catalog/prices.ts'
import { isObject } from '../../../../lib/is-object.ts'
import { decimalBrl, jsonBrl } from '../../../../lib/money.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import type { Charged } from '../../chat-format.ts'

/** What an answer says of itself, the same in every chunk of a stream. */
export interface AnswerHead {
  readonly id: string
  readonly created: number
  readonly modelId: string
}

const CHOICE_FIELDS: ReadonlySet<string> = new Set(['index', 'finish_reason', 'logprobs'])
const MESSAGE_FIELDS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'refusal',
  'tool_calls',
  'function_call',
  'annotations',
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  // Signatures of thoughts, which some models want back in the next turn.
  'extra_content',
])

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

/** What every event of a stream begins with, up to its choices. */
export function chunkOpening({ id, created, modelId }: AnswerHead): string {
  const head = JSON.stringify({ id, object: 'chat.completion.chunk', created, model: modelId })
  return `data: ${head.slice(0, -1)},"choices":`
}

/** A chunk as an event; undefined where nothing of it is for the customer, as a chunk of only usage. */
export function publicChunk(opening: string, body: JsonObject): string | undefined {
  if (!Array.isArray(body.choices) || body.choices.length === 0) return undefined
  return `${opening}${JSON.stringify(publicChoices(body.choices, 'delta'))}}\n\n`
}

/** The chunk that tells the usage, last before the end, for clients that asked for it. */
export function usageChunk(head: AnswerHead, charged: Charged): string {
  const usage = JSON.stringify(publicUsage(charged))
  const cost = decimalBrl(charged.billedNanoBrl)
  return `${chunkOpening(head)}[],"usage":${usage},"cost_billed_brl":${cost}}\n\n`
}

function publicChoices(choices: unknown, part: 'message' | 'delta'): JsonObject[] {
  const shown: JsonObject[] = []
  for (const choice of choices as unknown[]) {
    if (!isObject(choice)) continue
    if (isPublic(choice, part)) {
      shown.push(choice)
      continue
    }
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

/** Most are, and need no copy. */
function isPublic(choice: JsonObject, part: 'message' | 'delta'): boolean {
  for (const field in choice) if (field !== part && !CHOICE_FIELDS.has(field)) return false
  const message = choice[part]
  if (message === undefined) return true
  if (!isObject(message)) return false
  for (const field in message) if (!MESSAGE_FIELDS.has(field)) return false
  return true
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

function pick(fields: ReadonlySet<string>, from: JsonObject, to: JsonObject): void {
  for (const field of fields) if (from[field] !== undefined) to[field] = from[field]
}
