/** Reads answers and events of the Responses format, and translates them to chat-completions for the counts. */
import { isObject } from '../../../lib/is-object.ts'
import { createSseReader } from '../../../lib/sse.ts'
import {
  StreamBroken,
  type ChatAnswer,
  type ChatContent,
  type ChatStream,
  type JsonObject,
  type ReportedUsage,
  type StreamChunk,
  type UpstreamFailure,
} from '../../contract.ts'
import { ANSWER_DEPTH_MAX } from '../../parse-answer.ts'
import { readLateError } from '../../read-late-error.ts'
import { createDeltaReader } from '../../text-delta.ts'
import { createStream, type StreamParser } from '../create-stream.ts'
import { broken, parseEvent } from '../parse-event.ts'
import type { AnswerBody } from '../exchange.ts'
import { BadAnswer, readObject } from '../read-answer.ts'
import { readUsage } from '../read-usage.ts'
import { bodyOf, outputOf, RESPONSE_DELTAS } from './response-deltas.ts'

/** Of an event, beside the request that it may repeat: the last one repeats the whole answer, too. */
const EVENT_CHARACTERS_MAX = 16 * 1024 * 1024

/** The last event has one level around the answer, which repeats the tools of a request that may be as deep. */
const EVENT_DEPTH_MAX = ANSWER_DEPTH_MAX + 1

/** Throws `BadAnswer`. */
export function readNativeResponse(text: string, asked: SearchAsked): ChatAnswer | UpstreamFailure {
  const native = readObject(text)
  if (native.status === 'failed') return failureOf(native.error)
  if (!Array.isArray(native.output)) throw new BadAnswer('the answer has no output')
  const items = native.output.filter(isObject)
  const calls = items.flatMap(callOf)
  const message = {
    role: 'assistant',
    ...textsOf(items),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  }
  const finish_reason = finishOf(native, calls.length > 0)
  const searches = asked.webSearchesMax === 0 ? {} : { webSearches: countSearches(items) }
  return {
    kind: 'answer',
    body: { choices: [{ index: 0, message, finish_reason }] },
    native,
    usage: usageOf(native.usage, searches),
    ...searches,
  }
}

/** Whether the request was sent with searches: only then the answer can have some that are billed. */
type SearchAsked = Pick<ChatContent, 'webSearchesMax'>
type Searches = Pick<StreamChunk, 'webSearches'>

/** `sentCharacters`: the length of the request, which an event may repeat. */
export function readNativeStream(
  body: AnswerBody,
  asked: SearchAsked,
  sentCharacters = 0,
): ChatStream {
  return createStream(body, createParser(asked, sentCharacters))
}

function createParser({ webSearchesMax }: SearchAsked, sentCharacters: number): StreamParser {
  const reader = createSseReader(EVENT_CHARACTERS_MAX + sentCharacters)
  const deltas = createDeltaReader(RESPONSE_DELTAS)
  let hasBegun = false
  let hasCalls = false
  const counted = { webSearches: 0 }
  const countWhole = createWholeCount()
  return {
    parse(bytes) {
      const chunks: StreamChunk[] = []
      for (const data of reader.push(bytes)) {
        const delta = deltas.read(data)
        if (delta) {
          chunks.push(delta)
          continue
        }
        if (!hasBegun && isOpening(data)) continue
        const event = readEvent(data)
        if (event === undefined) break
        if (event instanceof StreamBroken) return { chunks, end: event }
        if (OPENINGS.has(event.type as string)) continue
        hasBegun = true
        hasCalls ||= isCall(event)
        if (webSearchesMax > 0) countSearch(event, counted)
        chunks.push(toChunk(event, countWhole(event), hasCalls, counted.webSearches))
        deltas.record(data, event)
        if (isEnd(event)) return { chunks, end: 'done' }
      }
      return { chunks, end: undefined }
    },
    faultAtEnd: () => broken('connection_lost', 'the stream ended without its last event'),
  }
}

/**
 * The events that repeat the request. They are no answer: until more comes, another upstream could still answer. The
 * client gets some of ours.
 */
const OPENINGS: ReadonlySet<string> = new Set(['response.created', 'response.in_progress'])
const OPENING_TEXTS = [...OPENINGS].map((type) => `{"type":"${type}",`)

/** Recognizes most of them unread: with long instructions and many tools, they are the largest events of a stream. */
function isOpening(data: string): boolean {
  return OPENING_TEXTS.some((text) => data.startsWith(text))
}

/** Undefined for the mark at the end that some upstreams add. */
function readEvent(data: string): JsonObject | StreamBroken | undefined {
  if (data === '[DONE]') return undefined
  const event = parseEvent(data, EVENT_DEPTH_MAX)
  if (event instanceof StreamBroken) return event
  if (event.type === 'error' || event.type === 'response.failed') {
    const response = isObject(event.response) ? event.response : event
    return new StreamBroken(failureOf(response.error ?? event))
  }
  return event
}

function isEnd({ type }: JsonObject): boolean {
  return type === 'response.completed' || type === 'response.incomplete'
}

function isCall({ type, item }: JsonObject): boolean {
  return type === 'response.output_item.added' && isObject(item) && callOf(item).length > 0
}

/** The last event repeats all items; some upstreams leave them out there. */
function countSearch(event: JsonObject, counted: { webSearches: number }): void {
  if (event.type === 'response.output_item.done' && isObject(event.item))
    counted.webSearches += countSearches([event.item])
  const output = isEnd(event) && isObject(event.response) ? event.response.output : undefined
  if (Array.isArray(output))
    counted.webSearches = Math.max(counted.webSearches, countSearches(output.filter(isObject)))
}

/**
 * Each search is an item. Reading one of the found pages is an item too, and has no price of its own. A search of an
 * upstream that names no action is one.
 */
function countSearches(items: readonly JsonObject[]): number {
  return items.filter(({ type, status, action }) => {
    if (type !== 'web_search_call' || status === 'failed') return false
    return !isObject(action) || action.type === undefined || action.type === 'search'
  }).length
}

function toChunk(
  event: JsonObject,
  whole: string,
  hasCalls: boolean,
  webSearches: number,
): StreamChunk {
  const searches = webSearches > 0 ? { webSearches } : {}
  const native = [event]
  const delta = whole === '' ? undefined : { content: whole }
  if (!isEnd(event))
    return { body: bodyOf(delta ?? deltaOf(event)), usage: undefined, native, ...searches }
  const response = isObject(event.response) ? event.response : {}
  const last = { index: 0, delta: delta ?? {}, finish_reason: finishOf(response, hasCalls) }
  const usage = usageOf(response.usage, searches)
  return { body: { choices: [last] }, usage, native, ...searches }
}

/**
 * Returns a function that takes the events in their order, and returns the text of items that came whole, without
 * deltas: the client sees them, so they are output, too.
 */
function createWholeCount(): (event: JsonObject) => string {
  const counted = new Set<unknown>()
  const takeItem = (item: unknown, index: unknown): string => {
    if (counted.has(index)) return ''
    counted.add(index)
    return wholeTextOf(item)
  }
  return (event) => {
    const { type, output_index: index, item, response } = event
    const isCounted = outputOf(event) !== undefined || (isCall(event) && wholeTextOf(item) !== '')
    if (isCounted) counted.add(index)
    if (type === 'response.output_item.done') return takeItem(item, index)
    const output = isEnd(event) && isObject(response) ? response.output : undefined
    return Array.isArray(output) ? output.map(takeItem).join('') : ''
  }
}

/** Without the name of a call: the event that adds its item counts it. */
function wholeTextOf(item: unknown): string {
  if (!isObject(item)) return ''
  const parts = [item.content, item.summary].flatMap((list) =>
    Array.isArray(list) ? list.filter(isObject) : [],
  )
  return [item.arguments, item.input, ...parts.flatMap(({ text, refusal }) => [text, refusal])]
    .filter((text) => typeof text === 'string')
    .join('')
}

/** The output of an event, for the counts. */
function deltaOf(event: JsonObject): JsonObject | undefined {
  const { type, item, output_index: index } = event
  if (type !== 'response.output_item.added') return outputOf(event)
  const [call] = isObject(item) ? callOf(item) : []
  return call ? { tool_calls: [{ index, ...call }] } : undefined
}

function callOf(item: JsonObject): JsonObject[] {
  const { type, call_id: id, name, arguments: args, input } = item
  if (type === 'function_call')
    return [{ id, type: 'function', function: { name, arguments: args } }]
  return type === 'custom_tool_call' ? [{ id, type: 'custom', custom: { name, input } }] : []
}

/** The texts of all items; null for a kind of text that no item has. */
function textsOf(items: readonly JsonObject[]): Readonly<Record<TextKind, string | null>> {
  const texts: Record<TextKind, string | null> = {
    content: null,
    refusal: null,
    reasoning_content: null,
  }
  const add = (kind: TextKind, text: unknown): void => {
    if (typeof text === 'string') texts[kind] = (texts[kind] ?? '') + text
  }
  for (const { type, content, summary } of items) {
    const parts = type === 'message' ? content : type === 'reasoning' ? summary : undefined
    if (!Array.isArray(parts)) continue
    for (const part of parts as unknown[]) {
      if (!isObject(part)) continue
      add(type === 'message' ? 'content' : 'reasoning_content', part.text)
      if (type === 'message') add('refusal', part.refusal)
    }
  }
  return texts
}

type TextKind = 'content' | 'refusal' | 'reasoning_content'

function finishOf({ status, incomplete_details: details }: JsonObject, hasCalls: boolean): string {
  if (status !== 'incomplete') return hasCalls ? 'tool_calls' : 'stop'
  return isObject(details) && details.reason === 'content_filter' ? 'content_filter' : 'length'
}

function usageOf(usage: unknown, searches: Searches): ReportedUsage | undefined {
  if (!isObject(usage)) return undefined
  const tokens = readUsage({
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    total_tokens: usage.total_tokens,
    prompt_tokens_details: usage.input_tokens_details,
    completion_tokens_details: usage.output_tokens_details,
  })
  return tokens && { ...tokens, ...searches }
}

function failureOf(error: unknown): UpstreamFailure {
  const failure = readLateError(error, 'error in the answer')
  const isLimited = isObject(error) && error.code === 'rate_limit_exceeded'
  return isLimited ? { ...failure, reason: 'rate_limited' } : failure
}
