/** The events of a streamed chat completion, chunk by chunk, in the gateway's format. */
import { ApiError } from './api-error.ts'
import { readServerSentEvents } from './server-sent-events.ts'

export type ChatEvent =
  | { readonly kind: 'text' | 'reasoning'; readonly text: string }
  /** A fragment of a tool call: the name comes first, the arguments piece by piece. */
  | {
      readonly kind: 'tool_call'
      readonly index: number
      readonly id: string
      readonly name: string
      readonly arguments: string
    }
  | { readonly kind: 'finish'; readonly reason: string }
  | ({ readonly kind: 'charged' } & ChatCharge)

export interface ChatCharge {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly reasoningTokens: number
  /** BRL; undefined when the gateway did not report it. */
  readonly costBrl: number | undefined
}

/** Throws an ApiError when the gateway reports an error or the stream ends early. */
export async function* readChatEvents(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<ChatEvent> {
  for await (const data of untilBroken(stream)) {
    if (data === '[DONE]') return
    yield* eventsOf(readChunk(data))
  }
  throw streamBroken()
}

/** Turns a connection that is lost during reading into an ApiError. */
async function* untilBroken(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  try {
    yield* readServerSentEvents(stream)
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw streamBroken()
  }
}

function streamBroken(): ApiError {
  return new ApiError(0, 'stream_broken')
}

type Json = Readonly<Record<string, unknown>>

function readChunk(data: string): Json {
  let chunk: unknown
  try {
    chunk = JSON.parse(data)
  } catch {
    throw streamBroken()
  }
  const { error } = objectOf(chunk)
  if (error !== undefined && error !== null) {
    const { code, message } = objectOf(error)
    throw new ApiError(502, textOf(code) || 'stream_broken', textOf(message) || undefined)
  }
  return objectOf(chunk)
}

function* eventsOf(chunk: Json): Generator<ChatEvent> {
  const choice = objectOf(listOf(chunk.choices)[0])
  const delta = objectOf(choice.delta)
  const reasoning = textOf(delta.reasoning_content) || textOf(delta.reasoning)
  if (reasoning !== '') yield { kind: 'reasoning', text: reasoning }
  const text = textOf(delta.content) || textOf(delta.refusal)
  if (text !== '') yield { kind: 'text', text }
  for (const [place, part] of listOf(delta.tool_calls).entries()) {
    const call = objectOf(part)
    const made = objectOf(call.function)
    yield {
      kind: 'tool_call',
      index: typeof call.index === 'number' ? call.index : place,
      id: textOf(call.id),
      name: textOf(made.name),
      arguments: textOf(made.arguments),
    }
  }
  const reason = textOf(choice.finish_reason)
  if (reason !== '') yield { kind: 'finish', reason }
  if (chunk.usage !== undefined && chunk.usage !== null) yield chargeOf(chunk)
}

function chargeOf(chunk: Json): ChatEvent {
  const usage = objectOf(chunk.usage)
  const cost = chunk.cost_billed_brl
  return {
    kind: 'charged',
    promptTokens: countOf(usage.prompt_tokens),
    completionTokens: countOf(usage.completion_tokens),
    reasoningTokens: countOf(objectOf(usage.completion_tokens_details).reasoning_tokens),
    costBrl: typeof cost === 'number' ? cost : undefined,
  }
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function countOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}
