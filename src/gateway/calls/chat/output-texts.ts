import { outputTokensLeast } from '../../../money/catalog/quote.ts'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../providers/contract.ts'
import { TEXT_FIELDS } from '../../providers/openai-compatible/chat-deltas.ts'

/**
 * Returns the generated texts of a whole answer, which are counted if the upstream reports no usage, or less than it
 * has.
 */
export function outputTexts(body: JsonObject): string[] {
  if (!Array.isArray(body.choices)) return []
  const texts: string[] = []
  for (const choice of body.choices as unknown[]) {
    const message = isObject(choice) && isObject(choice.message) ? choice.message : {}
    for (const field of TEXT_FIELDS) {
      if (field === 'reasoning' && isRepeated(message)) continue
      if (typeof message[field] === 'string' && message[field] !== '') texts.push(message[field])
    }
    texts.push(...detailTexts(message.reasoning_details, hasReasoning(message)))
    for (const field of ['tool_calls', 'function_call'] as const) {
      if (message[field]) texts.push(JSON.stringify(message[field]))
    }
  }
  return texts
}

/** The output of a stream, counted while it is relayed. */
export interface OutputCount {
  /** Texts and groups of tool calls; each has at least one token. */
  deltas: number
  /** Bytes of the texts, and of the tool calls: of the delta that names one as JSON, and of the text that others add. */
  bytes: number
  /** Some reasoning was counted as text: its details repeat it. */
  hasReasoning?: boolean
  /** Bytes of the texts, and of the names and arguments of tool calls without the JSON around them. */
  writtenBytes: number
}

/** Adds a chunk to the count. Runs for every event of every stream, so it reads each field once and allocates nothing for texts. */
export function countOutput(body: JsonObject, count: OutputCount): void {
  if (!Array.isArray(body.choices)) return
  for (const choice of body.choices as unknown[]) {
    if (!isObject(choice) || !isObject(choice.delta)) continue
    const { delta } = choice
    countText(delta.content, count)
    countText(delta.refusal, count)
    countText(delta.reasoning_content, count)
    if (!isRepeated(delta)) countText(delta.reasoning, count)
    if (hasReasoning(delta)) count.hasReasoning = true
    if (delta.reasoning_details)
      for (const text of detailTexts(delta.reasoning_details, count.hasReasoning === true)) {
        count.deltas += 1
        count.bytes += Buffer.byteLength(text)
      }
    if (delta.tool_calls) countCalls(delta.tool_calls, delta.tool_calls, count)
    if (delta.function_call)
      countCalls(delta.function_call, [{ function: delta.function_call }], count)
  }
}

/** Some upstreams send the same reasoning under both of its names, for older clients. */
function isRepeated({ reasoning, reasoning_content: content }: JsonObject): boolean {
  return reasoning === content
}

function hasReasoning({ reasoning, reasoning_content: content }: JsonObject): boolean {
  return isText(reasoning) || isText(content)
}

/**
 * The reasoning that only its details show: encrypted, where its base64 is as much longer as it is decoded, or its text,
 * unless the answer has it as text, too.
 */
function detailTexts(details: unknown, isShown: boolean): string[] {
  if (!Array.isArray(details)) return []
  return details
    .filter(isObject)
    .flatMap(({ data, text, summary }) => [
      ...(isText(data) ? [data.slice(0, Math.ceil(data.length * BASE64_SHARE))] : []),
      ...(isShown ? [] : [text, summary].filter(isText)),
    ])
}

const BASE64_SHARE = 3 / 4

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Returns the least tokens of the output; one at least where there is any. */
export function leastTokens({ deltas, writtenBytes }: OutputCount): number {
  return Math.max(outputTokensLeast(writtenBytes), Math.min(deltas, 1))
}

/** Returns the least tokens of a whole answer, as `leastTokens` does of a stream. */
export function leastTokensOf({ choices }: JsonObject): number {
  const count: OutputCount = { deltas: 0, bytes: 0, writtenBytes: 0 }
  if (Array.isArray(choices))
    countOutput({ choices: choices.map((choice) => ({ delta: choice?.message })) }, count)
  return leastTokens(count)
}

/** Adds the text of one field. */
export function countText(text: unknown, count: OutputCount): void {
  if (typeof text !== 'string' || text === '') return
  const bytes = Buffer.byteLength(text)
  count.deltas += 1
  count.bytes += bytes
  count.writtenBytes += bytes
}

/**
 * A model writes about as much around a call as the JSON of its first delta has. The JSON around each later delta is the
 * upstream's, and may be ten times as long as the text within.
 */
function countCalls(field: unknown, calls: unknown, count: OutputCount): void {
  count.deltas += 1
  if (!Array.isArray(calls)) {
    count.bytes += Buffer.byteLength(JSON.stringify(field))
    return
  }
  for (const call of calls as unknown[]) {
    const called = isObject(call) ? (call.function ?? call.custom) : undefined
    if (!isObject(called)) continue
    let written = 0
    for (const field of ['name', 'arguments', 'input'] as const) {
      const text = called[field]
      if (typeof text === 'string') written += Buffer.byteLength(text)
    }
    count.writtenBytes += written
    const isFirst = typeof called.name === 'string' && called.name !== ''
    count.bytes += isFirst ? Buffer.byteLength(JSON.stringify(call)) : written
  }
}
