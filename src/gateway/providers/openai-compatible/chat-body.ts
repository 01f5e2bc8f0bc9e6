/** Serializes the body of a chat for an upstream with the chat-completions format. */
import { createHash } from 'node:crypto'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { ChatContent, JsonObject } from '../contract.ts'
import { OPENAI_CHAT_FIELDS } from './chat-deltas.ts'

/** The body of an answer, pushed by its connection and taken by one consumer. */

/** Returns undefined to get more. */
type TakeBytes<Result> = (bytes: Buffer) => Result | undefined | Promise<Result | undefined>

/** The connection that the body comes from. */
interface BodySource {
  pause(): void
  resume(): void
}

export interface BodyQueue {
  push(bytes: Buffer): void
  /** Nothing more is pushed. */
  end(): void
  /**
   * Calls `take` with the data of each read from the network. Resolves to the first result that `take` returns, or to
   * undefined at the end. While a promise of `take` is pending, the data waits, and too much of it pauses the source.
   * Rejects with an error of `take`. Called once.
   */
  readonly each: <Result>(take: TakeBytes<Result>) => Promise<Result | undefined>
}

interface Consumer {
  readonly take: TakeBytes<unknown>
  readonly settle: (result: unknown) => void
  readonly fail: (error: unknown) => void
}

/** The most data that waits before the source is paused. */
const WAITING_BYTES_MAX = 64 * 1024
/** The memory of a part beside its bytes: an upstream may send one byte at a time. */
const PART_BYTES = 128

export function createBodyQueue(source: BodySource): BodyQueue {
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let hasEnded = false
  let isPaused = false
  let consumer: Consumer | undefined
  /** A promise of the consumer is pending. */
  let isTaking = false
  let isDue = false

  /** Later in this turn of the event loop, so that all that one read of the socket brings is taken at once. */
  function drainSoon(): void {
    if (isDue || !consumer) return
    isDue = true
    queueMicrotask(drain)
  }

  function drain(): void {
    isDue = false
    if (consumer && !isTaking && waiting.length > 0) pass(consumer, takeWaiting())
    if (hasEnded && !isTaking) finish((ended) => ended.settle(undefined))
  }

  function takeWaiting(): Buffer {
    const taken = waiting
    waiting = []
    waitingBytes = 0
    if (isPaused) {
      isPaused = false
      source.resume()
    }
    return taken.length === 1 ? (taken[0] as Buffer) : Buffer.concat(taken)
  }

  function pass({ take }: Consumer, bytes: Buffer): void {
    try {
      const result = take(bytes)
      if (result instanceof Promise) {
        isTaking = true
        result.then(passed, failed)
      } else if (result !== undefined) finish((ended) => ended.settle(result))
    } catch (error) {
      failed(error)
    }
  }

  function passed(result: unknown): void {
    isTaking = false
    if (result === undefined) drain()
    else finish((ended) => ended.settle(result))
  }

  function failed(error: unknown): void {
    isTaking = false
    finish((ended) => ended.fail(error))
  }

  function finish(end: (ended: Consumer) => void): void {
    const ended = consumer
    consumer = undefined
    if (ended) end(ended)
  }

  return {
    push(bytes) {
      waiting.push(bytes)
      waitingBytes += bytes.length + PART_BYTES
      if (waitingBytes > WAITING_BYTES_MAX && !isPaused) {
        isPaused = true
        source.pause()
      }
      drainSoon()
    },
    end() {
      hasEnded = true
      drainSoon()
    },
    each<Result>(take: TakeBytes<Result>) {
      return new Promise<Result | undefined>((settle, fail) => {
        consumer = { take, settle: settle as Consumer['settle'], fail }
        drain()
      })
    },
  }
}

/** What upstreams of the chat-completions format name or spell otherwise than OpenAI, in the messages and the effort. */
interface Dialect {
  /** The upstream takes instructions of the role `developer`; others know `system` alone. */
  readonly knowsDeveloper: boolean
  /** The upstream takes ids of tool calls of nine letters and digits only, as Mistral does. */
  readonly hasShortCallIds: boolean
}

/** The same object where nothing is written otherwise. */
function toUpstreamBody(body: JsonObject, model: string, dialect: Dialect): JsonObject {
  const messages = toMessages(body.messages, dialect)
  const effort = toEffort(body.reasoning_effort, model)
  return messages === body.messages && effort === body.reasoning_effort
    ? body
    : { ...body, messages, reasoning_effort: effort }
}

function toMessages(messages: unknown, { knowsDeveloper, hasShortCallIds }: Dialect): unknown {
  if (!Array.isArray(messages)) return messages
  let isChanged = false
  const written = messages.map((message: unknown) => {
    if (!isObject(message)) return message
    let changed = message
    if (!knowsDeveloper && message.role === 'developer') changed = { ...changed, role: 'system' }
    if (hasShortCallIds) changed = withShortIds(changed)
    isChanged ||= changed !== message
    return changed
  })
  return isChanged ? written : messages
}

function withShortIds(message: JsonObject): JsonObject {
  if (typeof message.tool_call_id === 'string')
    return { ...message, tool_call_id: toShortId(message.tool_call_id) }
  if (!Array.isArray(message.tool_calls)) return message
  const calls = message.tool_calls.map((call: unknown) =>
    isObject(call) && typeof call.id === 'string' ? { ...call, id: toShortId(call.id) } : call,
  )
  return { ...message, tool_calls: calls }
}

const SHORT_ID = /^[A-Za-z0-9]{9}$/

/** The same for a call and its result, and in each turn of a conversation. */
function toShortId(id: string): string {
  return SHORT_ID.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9)
}

/** Models that reason always, and refuse the effort `none`. */
const REASONS_ALWAYS = /(?:^|\/)(?:o\d|gpt-5(?![.\d])|gpt-oss|grok)/
const KNOWS_XHIGH = /(?:^|\/)gpt-(?:5\.[2-9]|[6-9])/

/** The nearest effort that the model takes: it would refuse the whole request for another. */
function toEffort(effort: unknown, model: string): unknown {
  if (effort === 'none' && REASONS_ALWAYS.test(model)) return 'low'
  if (effort === 'max') return KNOWS_XHIGH.test(model) ? 'xhigh' : 'high'
  return effort
}

export interface ChatBodyOptions {
  /** The fields of a request that reach this upstream, in addition to those that the gateway writes itself. */
  readonly fields: ReadonlySet<string>
  /** The upstream's name for the limit of output tokens. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens'
  /** Sent with every chat to an upstream that would otherwise choose the price tier itself. */
  readonly serviceTier?: 'default' | undefined
  /** The upstream takes ids of tool calls of nine letters and digits only, as Mistral does. Default: false. */
  readonly hasShortCallIds?: boolean | undefined
}

export interface ChatBody {
  /** The bytes that `write` produces at most for this output limit or a lower one, without image data. */
  measure(content: ChatContent): number
  write(content: ChatContent): string
}

/** The body without the fields that the gateway writes itself; `bytes` excludes image data. */
interface Rest {
  readonly fields: ReadonlySet<string>
  readonly hasShortCallIds: boolean
  readonly body: JsonObject
  readonly model: string
  readonly text: string
  readonly bytes: number
}

/**
 * Each request is serialized once, before the hold, whose amount depends on its size. Every attempt sends the same
 * text.
 */
export function createChatBody({
  fields,
  maxTokensField,
  serviceTier,
  hasShortCallIds = false,
}: ChatBodyOptions): ChatBody {
  const tier = serviceTier === undefined ? '' : `,"service_tier":"${serviceTier}"`

  function restOf({ body, model, hasCacheControl, imageBytes, memo }: ChatContent): Rest {
    // Upstreams of the same dialect share the text. A model that needs another body has an object of its own.
    const known = memo.written as Rest | undefined
    const isSame = known?.fields === fields && known.hasShortCallIds === hasShortCallIds
    if (isSame && known.body === body && known.model === model) return known
    const knowsDeveloper = fields === OPENAI_CHAT_FIELDS
    const sent = toUpstreamBody(body, model, { knowsDeveloper, hasShortCallIds })
    const text = writeFields(hasCacheControl ? withoutCacheControl(sent) : sent, fields)
    const rest = {
      fields,
      hasShortCallIds,
      body,
      model,
      text,
      bytes: Buffer.byteLength(text) - imageBytes,
    }
    memo.written = rest
    return rest
  }

  function headOf({ model, outputTokensMax, isStream }: ChatContent): string {
    const stream = isStream ? ',"stream":true,"stream_options":{"include_usage":true}' : ''
    return `{"model":${JSON.stringify(model)},"${maxTokensField}":${outputTokensMax}${stream}${tier}`
  }

  return {
    measure: (content) => Buffer.byteLength(headOf(content)) + restOf(content).bytes,
    write: (content) => headOf(content) + restOf(content).text,
  }
}

/** Field by field: copying the request without the other fields was measured to be slower. */
function writeFields(body: JsonObject, fields: ReadonlySet<string>): string {
  let text = ''
  for (const field in body) {
    const value = body[field]
    if (value === null || value === undefined || !fields.has(field)) continue
    text += `,"${field}":${JSON.stringify(value)}`
  }
  return `${text}}`
}

/**
 * Removes `cache_control`: upstreams may bill cache writes at prices that the catalog does not have. A single text is no
 * list without it, as in every request (`read-messages.ts`).
 */
function withoutCacheControl(body: JsonObject): JsonObject {
  const without = (carrier: unknown): unknown => {
    if (!isObject(carrier) || carrier.cache_control === undefined) return carrier
    const { cache_control: _control, ...rest } = carrier
    return rest
  }
  const messages = (body.messages as JsonObject[]).map((message) =>
    Array.isArray(message.content)
      ? { ...message, content: toOneText(message.content.map(without)) }
      : message,
  )
  return {
    ...body,
    messages,
    ...(Array.isArray(body.tools) ? { tools: body.tools.map(without) } : {}),
  }
}

function toOneText(parts: unknown[]): unknown {
  const [first] = parts
  const isOne = parts.length === 1 && isObject(first) && first.type === 'text'
  return isOne ? first.text : parts
}
