/** Reads answers and events of the Responses format, and translates them to chat-completions for the counts. */
import { isObject } from '../../../../platform/lib/is-object.ts'
import { createSseReader } from '../../../../platform/lib/sse.ts'
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
import { readLateError } from '../../read-failure.ts'
import { createDeltaReader, type DeltaForm } from '../../text-delta.ts'
import { createStream, type StreamParser, broken, parseEvent } from '../create-stream.ts'
import type { AnswerBody } from '../exchange.ts'
import { BadAnswer, readObject } from '../read-answer.ts'
import { readUsage } from '../read-usage.ts'

/** The events that only add text, or the input of a tool. */
const RESPONSE_DELTAS: DeltaForm = {
  varying: ['sequence_number', 'obfuscation'],
  textOf(event) {
    const { delta, item, part } = event
    if (typeof delta !== 'string' || isObject(item) || isObject(part)) return undefined
    return outputOf(event) && { field: 'delta', text: delta }
  },
  shapeOf(event) {
    const nativeWith = (delta: string): JsonObject => ({ ...event, delta })
    const bodyWith = (text: string): JsonObject => bodyOf(outputOf(nativeWith(text)))
    return { nativeWith, bodyWith }
  },
}

/** Of an event, beside the request that it may repeat: the last one repeats the whole answer, too. */
const EVENT_CHARACTERS_MAX = 16 * 1024 * 1024

/** The last event has one level around the answer, which repeats the tools of a request that may be as deep. */
const EVENT_DEPTH_MAX = ANSWER_DEPTH_MAX + 1

/** Reads a whole answer in the Responses format. Throws `BadAnswer`. */
export function readNativeResponse(text: string, asked: SearchAsked): ChatAnswer | UpstreamFailure {
  const native = readObject(text)
  if (native.status === 'failed') return failureOf(native.error)
  if (!Array.isArray(native.output)) throw new BadAnswer('the answer has no output')
  const items = native.output.filter(isObject)
  const calls = items.flatMap(callOf)
  const message = {
    role: 'assistant',
    ...textsOf(items),
    ...toDetails(items.map(({ encrypted_content: data }) => data)),
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
        const event = readEvent(data, searchesOf(counted.webSearches))
        if (event === undefined) break
        if (event instanceof StreamBroken) return { chunks, end: event }
        if (OPENINGS.has(event.type as string)) continue
        hasBegun = true
        hasCalls ||= isCall(event)
        if (webSearchesMax > 0) countSearch(event, counted)
        chunks.push(toChunk(event, countWhole(event), hasCalls, searchesOf(counted.webSearches)))
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
function readEvent(data: string, searches: Searches): JsonObject | StreamBroken | undefined {
  if (data === '[DONE]') return undefined
  const event = parseEvent(data, EVENT_DEPTH_MAX)
  if (event instanceof StreamBroken) return event
  if (event.type === 'error' || event.type === 'response.failed') {
    const response = isObject(event.response) ? event.response : event
    return new StreamBroken(failureOf(response.error ?? event), usageOf(response.usage, searches))
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

const searchesOf = (webSearches: number): Searches => (webSearches > 0 ? { webSearches } : {})

/** `whole`: what the event shows that came without deltas. */
function toChunk(
  event: JsonObject,
  whole: JsonObject | undefined,
  hasCalls: boolean,
  searches: Searches,
): StreamChunk {
  const native = [event]
  const delta = whole && { ...whole, ...deltaOf(event) }
  if (!isEnd(event))
    return { body: bodyOf(delta ?? deltaOf(event)), usage: undefined, native, ...searches }
  const response = isObject(event.response) ? event.response : {}
  const last = { index: 0, delta: delta ?? {}, finish_reason: finishOf(response, hasCalls) }
  const usage = usageOf(response.usage, searches)
  return { body: { choices: [last] }, usage, native, ...searches }
}

/**
 * Returns a function that takes the events in their order, and returns the delta of what came whole, without deltas, in
 * an item, in a part or text of it, or in the last event: the client sees it, so it is output, too.
 */
function createWholeCount(): (event: JsonObject) => JsonObject | undefined {
  const counted = new Set<string>()
  const takeNew = (path: string, text: unknown): string => {
    if (typeof text !== 'string' || text === '' || counted.has(path)) return ''
    counted.add(path)
    return text
  }
  const takeItem = (item: JsonObject, index: number): string =>
    LISTS.map((list) => {
      const parts = objectsIn(item[list])
      return parts.map((part, at) => takeNew(`${index} ${list} ${at}`, wholeText(part))).join('')
    }).join('') + takeNew(`${index} input`, wholeText(item))
  return (event) => {
    const { type, output_index, item, part, response } = event
    const path = placeOf(event)
    if (outputOf(event)) {
      counted.add(path)
      return undefined
    }
    const isAdded = type === 'response.output_item.added'
    const output = isEnd(event) && isObject(response) ? objectsIn(response.output) : []
    const items = isObject(item) ? [[numberOf(output_index), item] as const] : output.entries()
    let content = takeNew(path, wholeText(isObject(part) ? part : event))
    let data = ''
    for (const [at, each] of items) {
      const text = takeItem(each, at)
      // Its own delta counts an added call. What is encrypted is whole at the end of its item.
      if (!isCall(event)) content += text
      if (!isAdded) data += takeNew(`${at} data`, each.encrypted_content)
    }
    if (content === '' && data === '') return undefined
    return { ...(content === '' ? {} : { content }), ...toDetails([data]) }
  }
}

/** Encrypted reasoning, in the shape of chat-completions. */
function toDetails(encrypted: readonly unknown[]): JsonObject {
  const details = encrypted.flatMap((data) =>
    typeof data === 'string' && data !== '' ? { data } : [],
  )
  return details.length === 0 ? {} : { reasoning_details: details }
}

const LISTS = ['content', 'summary'] as const

function objectsIn(list: unknown): JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : []
}

/** Where in the output the text of an event belongs. */
function placeOf({ type, output_index, content_index, summary_index }: JsonObject): string {
  const kind = typeof type === 'string' ? type : ''
  const index = numberOf(output_index)
  if (/arguments|input/.test(kind)) return `${index} input`
  return kind.includes('summary')
    ? `${index} summary ${numberOf(summary_index)}`
    : `${index} content ${numberOf(content_index)}`
}

function numberOf(index: unknown): number {
  return typeof index === 'number' ? index : 0
}

function wholeText({ text, refusal, arguments: args, input }: JsonObject): unknown {
  return text || refusal || args || input
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
    if (type !== 'message' && type !== 'reasoning') continue
    for (const part of [...objectsIn(summary), ...objectsIn(content)]) {
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

/** Returns the delta of chat completions for what an event of these types adds. */
function outputOf({ type, delta, output_index: index }: JsonObject): JsonObject | undefined {
  switch (type) {
    case 'response.output_text.delta':
      return { content: delta }
    case 'response.refusal.delta':
      return { refusal: delta }
    case 'response.reasoning_text.delta':
    case 'response.reasoning_summary_text.delta':
      return { reasoning_content: delta }
    case 'response.function_call_arguments.delta':
      return { tool_calls: [{ index, function: { arguments: delta } }] }
    case 'response.custom_tool_call_input.delta':
      return { tool_calls: [{ index, custom: { input: delta } }] }
    default:
      return undefined
  }
}

function bodyOf(delta: JsonObject | undefined): JsonObject {
  return { choices: delta ? [{ index: 0, delta, finish_reason: null }] : [] }
}
