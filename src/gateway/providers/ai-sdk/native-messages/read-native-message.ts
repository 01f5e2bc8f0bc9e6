/**
 * Reads answers and events of the Messages format as the upstream wrote them. Beside them, the chat-completions shape has
 * what the gateway counts: the output, the finish reason and the usage.
 */
import { parseExactly } from '../../../../platform/lib/exact-json.ts'
import { isObject } from '../../../../platform/lib/is-object.ts'
import { createSseReader } from '../../../../platform/lib/sse.ts'
import {
  eventBytesMax,
  StreamBroken,
  type ChatAnswer,
  type ChatContent,
  type JsonObject,
  type ReportedUsage,
  type StreamChunk,
  type UpstreamFailure,
} from '../../contract.ts'
import { withErrorWords } from '../../error-words.ts'
import { type StreamParser, broken, parseEvent } from '../../openai-compatible/create-stream.ts'
import { BadAnswer, readObject } from '../../openai-compatible/read-answer.ts'
import { readCount, readUsage } from '../../openai-compatible/read-usage.ts'
import { shallowInput, readFinishReason, type FinishReason } from '../../parse-answer.ts'
import { readRefusal } from '../../read-failure.ts'
import { createDeltaReader } from '../../text-delta.ts'
import type { AskedOfUsage } from '../to-reported-usage.ts'
import { choice, MESSAGE_DELTAS, outputOf } from './message-deltas.ts'

/** The status that the provider sends with an error of this type, if it comes before the head of an answer. */
const ERROR_STATUSES: ReadonlyMap<unknown, number> = new Map([
  ['overloaded_error', 529],
  ['rate_limit_error', 429],
  ['authentication_error', 401],
  ['permission_error', 403],
  ['invalid_request_error', 400],
  ['request_too_large', 413],
])

/** Reads a whole answer in the Messages format. Throws `BadAnswer`. */
export function readNativeMessage(text: string, asked: AskedOfUsage): ChatAnswer | UpstreamFailure {
  const native = readObject(text, shortenInputs, parseExactly)
  if (native.type === 'error') return errorOf(native)
  if (!Array.isArray(native.content)) throw new BadAnswer('the answer has no content')
  if (typeof native.stop_reason !== 'string')
    throw new BadAnswer('the answer ended without a finish reason')
  const blocks = native.content.filter(isObject)
  const calls = blocks.flatMap((block) => callOf(block, JSON.stringify(block.input ?? {})))
  const message = {
    role: 'assistant',
    content: textOf(blocks, 'text'),
    refusal: explanationOf(native) ?? null,
    reasoning_content: textOf(blocks, 'thinking'),
    reasoning_details: blocks.some(({ data }) => data)
      ? blocks.map(({ data }) => ({ data }))
      : null,
    tool_calls: calls.length > 0 ? calls : null,
  }
  const choice = { index: 0, message, finish_reason: finishOf(native.stop_reason) }
  const searches = asked.webSearchesMax === 0 ? 0 : blocks.filter(isSearch).length
  return {
    kind: 'answer',
    body: { choices: [choice] },
    native,
    usage: usageOf(native.usage, blocks.length > 0, asked, searches),
    webSearches: searches,
  }
}

/** Replaces the arguments of tools that are too deep, see `shallowInput`. */
export function shortenInputs(answer: unknown): void {
  const content = isObject(answer) ? answer.content : undefined
  if (!Array.isArray(content)) return
  for (const block of content.filter(isObject))
    if (block.input !== undefined)
      block.input = shallowInput(block.input, () => JSON.stringify(block.input))
}

const UNFINISHED = broken('connection_lost', 'the answer ended without a finish reason')

/** Returns a parser of one stream in the Messages format. */
export function createMessageParser(
  asked: AskedOfUsage & Pick<ChatContent, 'outputTokensMax'>,
): StreamParser {
  const reader = createSseReader(eventBytesMax(asked))
  const deltas = createDeltaReader(MESSAGE_DELTAS)
  /** Events without output wait for some: until then, another upstream could still answer. */
  let held: JsonObject[] = []
  let hasStarted = false
  let hasFinished = false
  const usage: JsonObject = {}
  let searches = 0

  /** The chunk of an event; undefined while the event is held. */
  function take(event: JsonObject): StreamChunk | undefined {
    addUsage(usage, event)
    held.push(event)
    if (asked.webSearchesMax > 0 && isObject(event.content_block) && isSearch(event.content_block))
      searches += 1
    const choice = choiceOf(event)
    if (!choice && !hasStarted) return undefined
    const isEnd = typeof choice?.finish_reason === 'string'
    const reported = isEnd ? usageOf(usage, hasStarted, asked, searches) : undefined
    hasFinished ||= isEnd
    hasStarted = true
    const native = held
    held = []
    const body = { choices: choice ? [choice] : [] }
    return { body, native, usage: reported, ...(searches > 0 ? { webSearches: searches } : {}) }
  }

  return {
    parse(bytes) {
      const chunks: StreamChunk[] = []
      for (const data of reader.push(bytes)) {
        const delta = deltas.read(data)
        if (delta) {
          chunks.push(delta)
          continue
        }
        const event = parseEvent(data)
        if (event instanceof StreamBroken) return { chunks, end: event }
        if (event.type === 'error') return { chunks, end: new StreamBroken(errorOf(event)) }
        const chunk = take(event)
        if (chunk) chunks.push(chunk)
        deltas.record(data, event)
        if (event.type === 'message_stop') return { chunks, end: hasFinished ? 'done' : UNFINISHED }
      }
      return { chunks, end: undefined }
    },
    faultAtEnd: () => broken('connection_lost', 'the stream ended without its last event'),
  }
}

/** The output of an event, or the end of the message; undefined if it has neither. */
function choiceOf(event: JsonObject): JsonObject | undefined {
  const { type, index, delta, content_block: block } = event
  if (type === 'message_delta' && isObject(delta) && typeof delta.stop_reason === 'string') {
    const refusal = explanationOf(delta)
    return choice(refusal === undefined ? {} : { refusal }, finishOf(delta.stop_reason))
  }
  if (type === 'content_block_start' && isObject(block)) {
    // Its input is empty here, and follows as text.
    const isEmpty = !isObject(block.input) || Object.keys(block.input).length === 0
    const [call] = callOf(block, isEmpty ? '' : JSON.stringify(block.input))
    if (call) return choice({ tool_calls: [{ index, ...call }] })
    const { text, thinking, data } = block
    if (!text && !thinking && !data) return undefined
    return choice({ content: text, reasoning_content: thinking, reasoning_details: [{ data }] })
  }
  const output = outputOf(event)
  return output && choice(output)
}

/** The counts that an event reports. Those of the output are cumulative: the beginning knows nothing of it. */
function addUsage(usage: JsonObject, { message, usage: own }: JsonObject): void {
  const reported = isObject(message) ? message.usage : own
  if (!isObject(reported)) return
  for (const [field, count] of Object.entries(reported)) {
    const isKnown = !isObject(message) || field !== 'output_tokens'
    if (isKnown && count !== null && count !== undefined) usage[field] = count
  }
}

function callOf({ type, id, name }: JsonObject, text: string): JsonObject[] {
  return type === 'tool_use' ? [{ id, type: 'function', function: { name, arguments: text } }] : []
}

/** A search that found something, even nothing; one that failed is not billed. */
function isSearch({ type, content }: JsonObject): boolean {
  return type === 'web_search_tool_result' && Array.isArray(content)
}

function textOf(blocks: readonly JsonObject[], field: 'text' | 'thinking'): string {
  return blocks
    .map((block) => (block.type === field ? block[field] : undefined))
    .filter((text) => typeof text === 'string')
    .join('')
}

/** The client reads the reason itself, in its own format; for the counts, an answer that failed was cut. */
function finishOf(stopReason: string): FinishReason {
  const finish = readFinishReason(stopReason)
  return finish === 'failed' ? 'length' : finish
}

/** The upstream's explanation of a refusal. */
function explanationOf({ stop_details: details }: JsonObject): string | undefined {
  return isObject(details) && typeof details.explanation === 'string'
    ? details.explanation
    : undefined
}

/**
 * The whole prompt includes cache reads and writes, which this format counts apart. Zero prompt tokens, or zero output
 * tokens for an answer with output, count as missing.
 */
function usageOf(
  reported: unknown,
  hasOutput: boolean,
  asked: AskedOfUsage,
  searchesSeen: number,
): ReportedUsage | undefined {
  if (!isObject(reported)) return undefined
  const cached = readCount(reported.cache_read_input_tokens) ?? 0
  const written = readCount(reported.cache_creation_input_tokens) ?? 0
  const { input_tokens: input, output_tokens_details: details } = reported
  const tokens = readUsage({
    prompt_tokens: typeof input === 'number' ? input + cached + written : undefined,
    completion_tokens: reported.output_tokens,
    prompt_tokens_details: {
      cached_tokens: cached,
      cache_write_tokens: asked.hasCacheControl ? written : 0,
    },
    completion_tokens_details: {
      reasoning_tokens: isObject(details) ? details.thinking_tokens : undefined,
    },
  })
  if (!tokens || tokens.promptTokens === 0) return undefined
  if (tokens.completionTokens === 0 && hasOutput) return undefined
  const searches = asked.webSearchesMax === 0 ? 0 : searchesOf(reported, searchesSeen)
  const counted = searches > 0 ? { ...tokens, webSearches: searches } : tokens
  if (!asked.cachesForAnHour || tokens.cacheWriteTokens === 0) return counted
  return { ...counted, hourCacheWriteTokens: hourWrites(reported, tokens.cacheWriteTokens) }
}

/** At least the searches whose results the answer shows. */
function searchesOf({ server_tool_use: used }: JsonObject, seen: number): number {
  return Math.max((isObject(used) && readCount(used.web_search_requests)) || 0, seen)
}

/** Without details, all cache writes are taken for those of an hour, which cost more. */
function hourWrites({ cache_creation: details }: JsonObject, written: number): number {
  const hour = isObject(details) ? readCount(details.ephemeral_1h_input_tokens) : undefined
  return Math.min(hour ?? written, written)
}

function errorOf({ error }: JsonObject): UpstreamFailure {
  const { type, message } = isObject(error) ? error : {}
  const text = [type, message].filter((each) => typeof each === 'string').join(': ')
  const status = ERROR_STATUSES.get(type)
  return status === undefined
    ? {
        kind: 'failure',
        reason: 'server_error',
        detail: withErrorWords('error in the answer', text),
      }
    : readRefusal(status, undefined, text)
}
