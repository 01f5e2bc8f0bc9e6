/**
 * The adapter for upstreams that speak the chat-completions format themselves. Bodies pass through;
 * only what the gateway decides is changed: the model's name, usage in streams, a lowered limit.
 */
import { Pool } from 'undici'
import type { ChatAnswer, ChatCall, Provider, JsonObject, UpstreamFailure } from '../contract.ts'
import { exchange } from './exchange.ts'
import { readError, readRefusal } from '../read-failure.ts'
import { readStream } from './read-stream.ts'
import { readUsage } from './read-usage.ts'

export interface OpenAiCompatibleOptions {
  /** With its version segment, as in `https://api.example.com/v1`. */
  readonly baseUrl: string
  readonly apiKey: string | undefined
  readonly organization?: string | undefined
  readonly project?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly cancelStopsBilling: boolean
  /** What this upstream calls the limit of output tokens. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens'
  readonly connectTimeoutMs: number
  /** Until the first byte of the answer: for a plain answer the whole of the model's work. */
  readonly firstByteTimeoutMs: number
  /** Between two bytes of the answer. */
  readonly idleTimeoutMs: number
  readonly connectionsMax: number
}

/** A plain answer larger than this is refused as broken. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024
/** Of an error's body no more than this is read. */
const ERROR_BYTES_MAX = 16 * 1024

export function createOpenAiCompatible(options: OpenAiCompatibleOptions): Provider {
  const url = new URL(options.baseUrl)
  const path = `${url.pathname.replace(/\/$/, '')}/chat/completions`
  const headers = requestHeaders(options)
  const pool = new Pool(url.origin, {
    connections: options.connectionsMax,
    pipelining: 1,
    connect: { timeout: options.connectTimeoutMs },
    headersTimeout: options.firstByteTimeoutMs,
    bodyTimeout: options.idleTimeoutMs,
    keepAliveTimeout: 30_000,
  })

  return {
    cancelStopsBilling: options.cancelStopsBilling,
    async completeChat(call, signal) {
      try {
        const request = {
          path,
          method: 'POST',
          headers: { ...headers, 'x-catraca-call-id': call.callId },
          body: JSON.stringify(requestBody(call, options.maxTokensField)),
        } as const
        const { status, headers: answered, body } = await exchange(pool, request, signal)
        if (status !== 200) {
          const text = await body.text(ERROR_BYTES_MAX)
          return readRefusal(status, one(answered['retry-after']), text)
        }
        if (!call.isStream) return readAnswer(await body.text(ANSWER_BYTES_MAX))
        if (isEventStream(one(answered['content-type']))) return readStream(body)
        body.cancel()
        return badAnswer('a stream was asked for and something else came')
      } catch (error) {
        return readError(error)
      }
    },
    close: () => pool.destroy(),
  }
}

function requestHeaders(options: OpenAiCompatibleOptions): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'user-agent': 'catraca',
    ...(options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` }),
    ...(options.organization === undefined ? {} : { 'openai-organization': options.organization }),
    ...(options.project === undefined ? {} : { 'openai-project': options.project }),
    ...options.headers,
  }
}

function requestBody(call: ChatCall, maxTokensField: string): JsonObject {
  const body: JsonObject = { ...call.body }
  if (call.outputTokensMax !== undefined) body[maxTokensField] = call.outputTokensMax
  if (call.isStream) {
    const given =
      typeof body.stream_options === 'object' && body.stream_options !== null
        ? body.stream_options
        : {}
    body.stream_options = { ...given, include_usage: true }
  }
  return body
}

function readAnswer(text: string): ChatAnswer | UpstreamFailure {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return badAnswer('the answer is not JSON')
  }
  if (typeof body !== 'object' || body === null || !Array.isArray((body as JsonObject).choices)) {
    return badAnswer('the answer has no choices')
  }
  return { kind: 'answer', body: body as JsonObject, usage: readUsage((body as JsonObject).usage) }
}

function isEventStream(contentType: string | undefined): boolean {
  return contentType?.toLowerCase().startsWith('text/event-stream') ?? false
}

function badAnswer(detail: string): UpstreamFailure {
  return { kind: 'failure', reason: 'bad_answer', detail }
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
