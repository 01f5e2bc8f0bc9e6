/** What was said in the playground, and what of it a model is told. */
import type { ChatCharge } from '../../api/chat-events.ts'
import type { ChatBody } from '../../api/stream-chat.ts'
import { newUuid } from '../../lib/new-uuid.ts'

export interface ToolCall {
  readonly id: string
  readonly name: string
  /** JSON, as the model wrote it: it may be none. */
  readonly arguments: string
}

export interface UserTurn {
  readonly kind: 'user'
  readonly id: string
  readonly text: string
}

/** What the user says that a tool gave back. */
export interface ToolTurn {
  readonly kind: 'tool'
  readonly id: string
  readonly call: ToolCall
  readonly text: string
}

export interface AnswerTurn {
  readonly kind: 'answer'
  /** Also that of its request. */
  readonly id: string
  readonly model: string
  readonly text: string
  readonly reasoning: string
  readonly toolCalls: readonly ToolCall[]
  readonly state: 'running' | 'done' | 'stopped' | 'failed'
  readonly error?: { readonly code: string; readonly text: string }
  /** As the model gave it: `length` is an answer that was cut. */
  readonly finish?: string
  readonly firstTokenMs?: number
  readonly wholeMs?: number
  readonly charge?: ChatCharge
}

export type Turn = UserTurn | ToolTurn | AnswerTurn

export interface Conversation {
  readonly id: string
  readonly turns: readonly Turn[]
  /** BRL of every answer, also of those that were replaced since. */
  readonly costs: readonly number[]
}

export type WireMessage = ChatBody['messages'][number]

export function emptyConversation(): Conversation {
  return { id: newUuid(), turns: [], costs: [] }
}

/** The session that its calls belong to. */
export function sessionIdOf(conversationId: string): string {
  return `playground-${conversationId}`
}

export function newAnswer(model: string): AnswerTurn {
  return {
    kind: 'answer',
    id: newUuid(),
    model,
    text: '',
    reasoning: '',
    toolCalls: [],
    state: 'running',
  }
}

/**
 * The messages of a request. Models refuse a call of a tool without its result: such a call is left out, and so is an
 * answer of which nothing is left then.
 */
export function messagesOf(turns: readonly Turn[], system: string): WireMessage[] {
  const results = new Map(
    turns.flatMap((turn) => (turn.kind === 'tool' ? [[turn.call.id, turn] as const] : [])),
  )
  const messages: WireMessage[] =
    system.trim() === '' ? [] : [{ role: 'system', content: system.trim() }]
  for (const turn of turns) {
    if (turn.kind === 'user') messages.push({ role: 'user', content: turn.text })
    if (turn.kind === 'tool')
      messages.push({ role: 'tool', tool_call_id: turn.call.id, content: turn.text })
    if (turn.kind !== 'answer') continue
    const calls = turn.toolCalls.filter(({ id }) => results.has(id))
    if (turn.text === '' && calls.length === 0) continue
    messages.push({
      role: 'assistant',
      content: turn.text === '' ? null : turn.text,
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(wireCall) }),
    })
  }
  return messages
}

function wireCall({ id, name, arguments: args }: ToolCall): object {
  return { id, type: 'function', function: { name, arguments: args } }
}

/** The calls of the last answer, while the model waits for their results. */
export function awaitedCalls(turns: readonly Turn[]): readonly ToolCall[] {
  const last = turns.at(-1)
  return last?.kind === 'answer' && last.state === 'done' ? last.toolCalls : []
}
