/** The turns of a playground conversation, and the messages that a model gets of them. */
import type { ChatCharge } from '../../api/chat-events.ts'
import type { ChatBody } from '../../api/stream-chat.ts'
import { newUuid } from '../../lib/new-uuid.ts'

export interface ToolCall {
  readonly id: string
  readonly name: string
  /** JSON as the model wrote it, which may be invalid. */
  readonly arguments: string
}

export interface UserTurn {
  readonly kind: 'user'
  readonly id: string
  readonly text: string
}

/** The result of a tool call, as typed by the user. */
export interface ToolTurn {
  readonly kind: 'tool'
  readonly id: string
  readonly call: ToolCall
  readonly text: string
}

export interface AnswerTurn {
  readonly kind: 'answer'
  /** Also the id of its request. */
  readonly id: string
  readonly model: string
  readonly text: string
  readonly reasoning: string
  readonly toolCalls: readonly ToolCall[]
  readonly state: 'running' | 'done' | 'stopped' | 'failed'
  readonly error?: { readonly code: string; readonly text: string }
  /** As the model reported it: `length` means that the answer was cut. */
  readonly finish?: string
  readonly firstTokenMs?: number
  readonly wholeMs?: number
  readonly charge?: ChatCharge
}

export type Turn = UserTurn | ToolTurn | AnswerTurn

export interface Conversation {
  readonly id: string
  readonly turns: readonly Turn[]
  /** BRL of every answer, including replaced ones. */
  readonly costs: readonly number[]
}

export type RequestMessage = ChatBody['messages'][number]

export function emptyConversation(): Conversation {
  return { id: newUuid(), turns: [], costs: [] }
}

/** The usage session of the conversation's calls. */
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
 * The messages of a request. Models refuse a tool call without its result, so such a call is left out, and so
 * is an answer that becomes empty by that.
 */
export function messagesOf(turns: readonly Turn[], system: string): RequestMessage[] {
  const results = new Map(
    turns.flatMap((turn) => (turn.kind === 'tool' ? [[turn.call.id, turn] as const] : [])),
  )
  const messages: RequestMessage[] =
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
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(toolCallOf) }),
    })
  }
  return messages
}

function toolCallOf({ id, name, arguments: args }: ToolCall): object {
  return { id, type: 'function', function: { name, arguments: args } }
}

/** The tool calls of the last answer, while the model waits for their results. */
export function awaitedCalls(turns: readonly Turn[]): readonly ToolCall[] {
  const last = turns.at(-1)
  return last?.kind === 'answer' && last.state === 'done' ? last.toolCalls : []
}
