/** The turns of a playground conversation, and the messages that a model gets of them. */
import type { ChatCharge } from '../../api/chat-events.ts'
import type { ChatBody } from '../../api/stream-chat.ts'
import { newUuid } from '../../lib/new-uuid.ts'
import { t } from '../../language/t.ts'

export interface ToolCall {
  readonly id: string
  readonly name: string
  /** JSON as the model wrote it, which may be invalid. */
  readonly arguments: string
}

export interface Attachment {
  readonly kind: 'image' | 'text'
  readonly name: string
  /** The data URL of an image, or the text of a file. */
  readonly content: string
}

export interface UserTurn {
  readonly kind: 'user'
  readonly id: string
  readonly text: string
  readonly attachments?: readonly Attachment[]
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
  /** Data URLs of generated images. */
  readonly images?: readonly string[]
  readonly state: 'running' | 'done' | 'stopped' | 'failed'
  readonly error?: { readonly code: string; readonly text: string }
  /** As the model reported it: `length` means that the answer was cut. */
  readonly finish?: string
  readonly firstTokenMs?: number
  readonly wholeMs?: number
  readonly charge?: ChatCharge
}

export type Turn = UserTurn | ToolTurn | AnswerTurn

/** One model's side of the conversation. Every lane has the same user turns. */
export interface Lane {
  readonly id: string
  /** Empty until the user chooses a model; then the page uses its default model. */
  readonly model: string
  readonly turns: readonly Turn[]
}

export interface Conversation {
  readonly id: string
  /** One lane, or several that are compared. */
  readonly lanes: readonly Lane[]
  /** BRL of every answer, including replaced ones. */
  readonly costs: readonly number[]
}

/** A message of the user and what each lane answered, in the order of the lanes. */
export interface Round {
  readonly user: UserTurn | undefined
  /** Lanes with the same turns, because one joined later, share a part. */
  readonly parts: readonly RoundPart[]
}

export interface RoundPart {
  readonly laneId: string
  readonly turns: readonly (ToolTurn | AnswerTurn)[]
}

export type RequestMessage = ChatBody['messages'][number]

export const LANES_MAX = 4

export function emptyConversation(models: readonly string[] = ['']): Conversation {
  const lanes = models.map((model) => ({ id: newUuid(), model, turns: [] }))
  return { id: newUuid(), lanes, costs: [] }
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

/** The lanes side by side, one round for each message of the user. */
export function roundsOf(lanes: readonly Lane[]): readonly Round[] {
  const split = lanes.map((lane) => ({ lane, rounds: splitAtUser(lane.turns) }))
  const count = Math.max(0, ...split.map(({ rounds }) => rounds.length))
  return Array.from({ length: count }, (_, index) => {
    const parts: RoundPart[] = []
    const seen = new Set<string>()
    for (const { lane, rounds } of split) {
      const turns = rounds[index]?.turns ?? []
      const first = turns[0]
      if (!first || seen.has(first.id)) continue
      seen.add(first.id)
      parts.push({ laneId: lane.id, turns })
    }
    return { user: split.map(({ rounds }) => rounds[index]?.user).find(Boolean), parts }
  })
}

interface LaneRound {
  readonly user: UserTurn | undefined
  readonly turns: (ToolTurn | AnswerTurn)[]
}

function splitAtUser(turns: readonly Turn[]): readonly LaneRound[] {
  const rounds: LaneRound[] = []
  for (const turn of turns) {
    if (turn.kind === 'user') rounds.push({ user: turn, turns: [] })
    else if (rounds.length === 0) rounds.push({ user: undefined, turns: [turn] })
    else rounds.at(-1)?.turns.push(turn)
  }
  return rounds
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
    if (turn.kind === 'user') messages.push({ role: 'user', content: contentOf(turn) })
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

/** Files come before the message that speaks of them. */
function contentOf({ text, attachments = [] }: UserTurn): NonNullable<RequestMessage['content']> {
  if (attachments.length === 0) return text
  const parts = attachments.map(({ kind, name, content }) =>
    kind === 'image'
      ? { type: 'image_url', image_url: { url: content } }
      : { type: 'text', text: `${t('Arquivo {name}:', { name })}\n\n${content}` },
  )
  return [...parts, { type: 'text', text }]
}

function toolCallOf({ id, name, arguments: args }: ToolCall): object {
  return { id, type: 'function', function: { name, arguments: args } }
}

/** The tool calls of the last answer, while the model waits for their results. */
export function awaitedCalls(turns: readonly Turn[]): readonly ToolCall[] {
  const last = turns.at(-1)
  return last?.kind === 'answer' && last.state === 'done' ? last.toolCalls : []
}

export function isAnswering({ turns }: Lane): boolean {
  const last = turns.at(-1)
  return last?.kind === 'answer' && last.state === 'running'
}

/** Whether a message of the conversation has an image: then only models that read images can continue it. */
export function hasImages({ lanes }: Conversation): boolean {
  return lanes.some(({ turns }) =>
    turns.some(
      (turn) =>
        turn.kind === 'user' && turn.attachments?.some(({ kind }) => kind === 'image') === true,
    ),
  )
}
