/** Writes an answer as it is streamed. */
import { ApiError } from '../../api/api-error.ts'
import type { ChatEvent } from '../../api/chat-events.ts'
import { drawImages, type ImageCall } from '../../api/draw-images.ts'
import { streamChat, type ChatCall } from '../../api/stream-chat.ts'
import type { AnswerTurn, ToolCall, Turn } from './conversation.ts'
import { explainChatError } from './explain-chat-error.ts'

/**
 * Limits rendering, since a fast model sends hundreds of pieces per second; very long texts are rendered less
 * often.
 */
const SHOWN_EVERY_MS = 40
const CHARACTERS_PER_MS = 1_000

export interface WrittenAnswer {
  readonly answer: AnswerTurn
  /** Whether a charge may exist that the stream has not reported. */
  readonly mayBeCharged: boolean
}

/** Never throws: an error is part of the answer. */
export async function writeAnswer(
  begun: AnswerTurn,
  call: ChatCall,
  show: (soFar: AnswerTurn) => void,
): Promise<WrittenAnswer> {
  let answer = begun
  let timer: ReturnType<typeof setTimeout> | undefined
  const startedAt = performance.now()
  const passedMs = (): number => Math.round(performance.now() - startedAt)
  const showSoon = (): void => {
    timer ??= setTimeout(
      () => {
        timer = undefined
        show(answer)
      },
      SHOWN_EVERY_MS + answer.text.length / CHARACTERS_PER_MS,
    )
  }
  const end = (ended: Partial<AnswerTurn>, mayBeCharged: boolean): WrittenAnswer => ({
    answer: { ...answer, wholeMs: passedMs(), ...ended },
    mayBeCharged,
  })
  try {
    for await (const event of streamChat(call)) {
      const firstTokenMs = answer.firstTokenMs ?? (isOutput(event) ? passedMs() : undefined)
      answer = withEvent(firstTokenMs === undefined ? answer : { ...answer, firstTokenMs }, event)
      showSoon()
    }
    return end(
      { state: 'done', toolCalls: answer.toolCalls.map(withId) },
      answer.charge?.costBrl === undefined,
    )
  } catch (error) {
    if (call.signal.aborted) return end({ state: 'stopped' }, true)
    const { failed, status } = failureOf(error)
    return end(failed, answer.firstTokenMs !== undefined || status === 0)
  } finally {
    clearTimeout(timer)
  }
}

/** Images come at once, with their charge. Never throws either. */
export async function writeImages(begun: AnswerTurn, call: ImageCall): Promise<WrittenAnswer> {
  const startedAt = performance.now()
  const end = (ended: Partial<AnswerTurn>, mayBeCharged: boolean): WrittenAnswer => {
    const wholeMs = Math.round(performance.now() - startedAt)
    return { answer: { ...begun, wholeMs, ...ended }, mayBeCharged }
  }
  try {
    const { images, charge } = await drawImages(call)
    return end({ state: 'done', images, charge }, false)
  } catch (error) {
    if (call.signal.aborted) return end({ state: 'stopped' }, true)
    const { failed, status } = failureOf(error)
    return end(failed, status === 0)
  }
}

function failureOf(error: unknown): { failed: Partial<AnswerTurn>; status: number } {
  const known = error instanceof ApiError ? error : new ApiError(0, 'internal_error')
  const explained = { code: known.code, text: explainChatError(known) }
  return { failed: { state: 'failed', error: explained }, status: known.status }
}

function isOutput({ kind }: ChatEvent): boolean {
  return kind === 'text' || kind === 'reasoning' || kind === 'tool_call'
}

function withEvent(answer: AnswerTurn, event: ChatEvent): AnswerTurn {
  switch (event.kind) {
    case 'text':
      return { ...answer, text: answer.text + event.text }
    case 'reasoning':
      return { ...answer, reasoning: answer.reasoning + event.text }
    case 'tool_call':
      return { ...answer, toolCalls: withPart(answer.toolCalls, event) }
    case 'finish':
      return { ...answer, finish: event.reason }
    case 'charged': {
      const { kind: _, ...charge } = event
      return { ...answer, charge }
    }
  }
}

function withPart(
  calls: readonly ToolCall[],
  part: Extract<ChatEvent, { kind: 'tool_call' }>,
): readonly ToolCall[] {
  // A far index would be a fault of the upstream, and must not create a list of that length.
  const index = Math.min(part.index, calls.length)
  const before = calls[index]
  const call = {
    id: before?.id || part.id,
    name: (before?.name ?? '') + part.name,
    arguments: (before?.arguments ?? '') + part.arguments,
  }
  return before ? calls.with(index, call) : [...calls, call]
}

/** Some upstreams give their tool calls no id, but the result must refer to one. */
function withId(call: ToolCall, index: number): ToolCall {
  return call.id === '' ? { ...call, id: `call_${index}` } : call
}

/** An answer that was being written when the page closed counts as stopped. */
export function settledTurns(turns: readonly Turn[]): readonly Turn[] {
  return turns.map((turn) =>
    turn.kind === 'answer' && turn.state === 'running' ? { ...turn, state: 'stopped' } : turn,
  )
}
