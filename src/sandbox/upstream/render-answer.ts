/** Renders an answer in the chat-completions format: as one body, or as the events of a stream. */
import { createId } from '../../platform/lib/ids.ts'
import type { Answer, Choice } from './compose-answer.ts'
import type { Piece, TokenizedText } from './open-tokenizer.ts'
import type { ChatRequest } from './read-chat-request.ts'
import type { JsonObject } from './read-field.ts'
import type { SandboxModel } from './sandbox-models.ts'

/** The fields that the body or all chunks of one answer share. */
export interface AnswerIdentity {
  readonly id: string
  readonly created: number
  readonly model: string
}

export interface AnswerEvent {
  /** In the `event:` line, for formats that have one. */
  readonly name?: string
  /** The JSON after `data: `. */
  readonly data: string
  /** Tokens of the answer in this event, for the pace. */
  readonly tokens: number
}

/** Fields that providers add and a gateway must not forward. */
const PROVIDER_FIELDS = { service_tier: 'default', system_fingerprint: 'fp_sandbox4c1e' }

export function createIdentity(model: string): AnswerIdentity {
  return {
    id: `chatcmpl-${createId().replaceAll('-', '')}`,
    created: Math.floor(Date.now() / 1000),
    model,
  }
}

export function renderBody(
  identity: AnswerIdentity,
  answer: Answer,
  usage: Usage | undefined,
  topLogprobs?: number,
): string {
  const { id, created, model } = identity
  return JSON.stringify({
    id,
    object: 'chat.completion',
    created,
    model,
    choices: answer.choices.map((choice, index) => ({
      index,
      message: renderMessage(choice),
      logprobs: renderLogprobs(choice.content?.pieces ?? [], topLogprobs),
      finish_reason: choice.finishReason,
    })),
    usage,
    ...PROVIDER_FIELDS,
  })
}

/** Renders all events except `[DONE]`. Several choices alternate, as if a model wrote them at the same time. */
export function* renderEvents(
  identity: AnswerIdentity,
  answer: Answer,
  usage: Usage | undefined,
  { includesUsage, topLogprobs }: Pick<ChatRequest, 'includesUsage' | 'topLogprobs'>,
): Generator<AnswerEvent> {
  const { id, created, model } = identity
  const head = JSON.stringify({
    id,
    object: 'chat.completion.chunk',
    created,
    model,
    ...PROVIDER_FIELDS,
  }).slice(0, -1)
  // As in OpenAI's API: if usage was requested, every chunk has the field, but only the last one has a value.
  const tail = includesUsage && usage !== undefined ? '],"usage":null}' : ']}'

  const running = new Map(
    answer.choices.map((choice, index) => [index, renderDeltas(choice)] as const),
  )
  while (running.size > 0) {
    for (const [index, deltas] of running) {
      const step = deltas.next()
      if (step.done === true) {
        running.delete(index)
        continue
      }
      const { delta, finishReason, tokens, piece } = step.value
      const logprobs = JSON.stringify(piece ? renderLogprobs([piece], topLogprobs) : null)
      const finish = finishReason === null ? 'null' : `"${finishReason}"`
      const choice = `{"index":${index},"delta":${delta},"logprobs":${logprobs},"finish_reason":${finish}}`
      yield { data: `${head},"choices":[${choice}${tail}`, tokens }
    }
  }
  if (includesUsage && usage !== undefined) {
    yield { data: `${head},"choices":[],"usage":${JSON.stringify(usage)}}`, tokens: 0 }
  }
}

interface Delta {
  readonly delta: string
  readonly finishReason: string | null
  readonly tokens: number
  /** Of the text that the user reads, for which probabilities can be asked. */
  readonly piece?: Piece
}

function* renderDeltas(choice: Choice): Generator<Delta> {
  const { reasoning, content, toolCalls, finishReason } = choice
  const opening = { role: 'assistant', content: content === undefined ? null : '', refusal: null }
  yield { delta: JSON.stringify(opening), finishReason: null, tokens: 0 }
  if (reasoning !== undefined) {
    yield* renderPieces(reasoning, (text) => `{"reasoning_content":${text}}`)
  }
  if (content !== undefined) {
    const deltas = renderPieces(content, (text) => `{"content":${text}}`)
    for (const piece of content.pieces) yield { ...(deltas.next().value as Delta), piece }
  }
  for (const [index, made] of toolCalls.entries()) {
    const { nameTokens, arguments: text } = made
    const call = { index, ...renderCall(made, '') }
    const delta = JSON.stringify({ tool_calls: [call] })
    yield { delta, finishReason: null, tokens: nameTokens }
    const field = made.isCustom ? '"custom":{"input"' : '"function":{"arguments"'
    yield* renderPieces(text, (piece) => `{"tool_calls":[{"index":${index},${field}:${piece}}}]}`)
  }
  yield { delta: '{}', finishReason, tokens: 0 }
}

function* renderPieces(text: TokenizedText, wrap: (json: string) => string): Generator<Delta> {
  for (const piece of text.pieces) {
    yield { delta: wrap(JSON.stringify(piece.text)), finishReason: null, tokens: piece.tokens }
  }
}

function renderLogprobs(pieces: readonly Piece[], top: number | undefined): object | null {
  if (top === undefined) return null
  return { content: pieces.map((piece) => describeLogprob(piece, top)), refusal: null }
}

function renderMessage({ reasoning, content, toolCalls }: Choice): Record<string, unknown> {
  return {
    role: 'assistant',
    content: content === undefined ? null : content.text,
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning.text }),
    refusal: null,
    annotations: [],
    ...(toolCalls.length === 0
      ? {}
      : {
          tool_calls: toolCalls.map((made) => renderCall(made, made.arguments.text)),
        }),
  }
}

function renderCall(
  { id, name, isCustom }: Choice['toolCalls'][number],
  text: string,
): Record<string, unknown> {
  return isCustom
    ? { id, type: 'custom', custom: { name, input: text } }
    : { id, type: 'function', function: { name, arguments: text } }
}

/**
 * Returns the probability of a piece of the answer, and of as many others as are asked for. The sandbox does not
 * sample, so they are invented: each token is twice as probable as the next one, and the piece comes first.
 */
export function describeLogprob({ text }: Piece, topCount: number): JsonObject {
  const list = [text, ...Array.from({ length: topCount }, (_, index) => ` outra${index + 1}`)]
  const others = list.slice(0, topCount).map(describeToken)
  return { ...describeToken(text, 0), top_logprobs: others }
}

function describeToken(token: string, rank: number): JsonObject {
  return { token, logprob: -Math.LN2 * (rank + 1), bytes: [...Buffer.from(token)] }
}

/** The `usage` object of the answer. */
export interface Usage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly prompt_tokens_details: { cached_tokens: number; audio_tokens: number }
  readonly completion_tokens_details: {
    reasoning_tokens: number
    audio_tokens: number
    accepted_prediction_tokens: number
    rejected_prediction_tokens: number
  }
}

/** Returns the usage that the model reports, which some models falsify; undefined if it reports none. */
export function describeUsage(
  answer: Answer,
  request: ChatRequest,
  model: SandboxModel,
): Usage | undefined {
  if (model.usage === 'none') return undefined
  const { promptTokens } = answer
  const completionTokens =
    model.usage === 'overrun'
      ? (request.outputTokensMax ?? answer.completionTokens) * 10 + 1000
      : answer.completionTokens
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: {
      cached_tokens: model.usage === 'half_cached' ? Math.floor(promptTokens / 2) : 0,
      audio_tokens: 0,
    },
    completion_tokens_details: {
      reasoning_tokens: answer.reasoningTokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}
