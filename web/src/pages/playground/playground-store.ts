/**
 * The signed-in customer's conversation. It lives outside of the page, so that a paid answer continues while
 * the customer looks at another page. A reload restores it from sessionStorage.
 */
import { queryClient } from '../../api/query-client.ts'
import { newUuid } from '../../lib/new-uuid.ts'
import { onSignOut } from '../../lib/sign-out-acts.ts'
import { settledTurns, writeAnswer, type WrittenAnswer } from './write-answer.ts'
import { changedByCharge, findCharge } from './find-charge.ts'
import {
  emptyConversation,
  newAnswer,
  sessionIdOf,
  type AnswerTurn,
  type ToolCall,
  type Turn,
} from './conversation.ts'
import { chatBody, type ChatSettings } from './chat-settings.ts'
import { keep, readKept, type Kept } from './kept-playground.ts'

export interface Playground {
  readonly get: () => Kept
  readonly subscribe: (listener: () => void) => () => void
  readonly set: (change: Partial<ChatSettings>) => void
  /** Appends a message of the user. */
  readonly send: (text: string, request: Asked) => void
  /** Replaces the text of the user's message with that id, and removes the later turns. */
  readonly sendInstead: (id: string, text: string, request: Asked) => void
  readonly answerCalls: (results: readonly ToolResult[], request: Asked) => void
  readonly regenerate: (request: Asked) => void
  /** Replaces the text of an answer; the model will take it for its own. */
  readonly rewrite: (id: string, text: string) => void
  readonly stop: () => void
  readonly clear: () => void
}

/** What a request needs beside the conversation and the settings. */
export interface Asked {
  readonly model: string
  readonly apiKeyId: string
}

export interface ToolResult {
  readonly call: ToolCall
  readonly text: string
}

/** Queries that a charge makes stale. */
const CHANGED_BY_CHARGE = [['dashboard-stats'], ['usage'], ['sessions'], ['runway']] as const

let current: { customerId: string; playground: Playground } | undefined

onSignOut(leave)

/** Returns one playground per customer, and discards another customer's conversation. */
export function playgroundOf(customerId: string): Playground {
  if (current?.customerId !== customerId) {
    leave()
    current = { customerId, playground: createPlayground(customerId) }
  }
  return current.playground
}

function leave(): void {
  const left = current
  current = undefined
  left?.playground.stop()
}

function createPlayground(customerId: string): Playground {
  let state = readKept(customerId)
  let controller: AbortController | undefined
  const listeners = new Set<() => void>()

  function change(next: Kept): void {
    state = next
    for (const listener of listeners) listener()
  }
  function converse(turns: readonly Turn[]): void {
    change({ ...state, conversation: { ...state.conversation, turns } })
  }
  function replace(conversationId: string, answer: AnswerTurn): void {
    const { conversation } = state
    if (conversation.id !== conversationId) return
    converse(conversation.turns.map((turn) => (turn.id === answer.id ? answer : turn)))
  }
  function save(): void {
    // After sign-out, a late answer must not store anything.
    if (current?.playground !== playground) return
    const { conversation } = state
    const turns = settledTurns(conversation.turns)
    keep(customerId, { ...state, conversation: { ...conversation, turns } })
  }
  // A reload ends the running answer; the received part is kept.
  window.addEventListener('pagehide', save)

  async function ask(turns: readonly Turn[], { model, apiKeyId }: Asked): Promise<void> {
    controller?.abort()
    const own = new AbortController()
    controller = own
    const { conversation, settings } = state
    const answer = newAnswer(model)
    converse([...turns, answer])
    save()
    const call = {
      body: chatBody(turns, { ...settings, model }),
      apiKeyId,
      sessionId: sessionIdOf(conversation.id),
      requestId: answer.id,
      signal: own.signal,
    }
    const written = await writeAnswer(answer, call, (soFar) => replace(conversation.id, soFar))
    if (controller === own) controller = undefined
    replace(conversation.id, written.answer)
    await addCharge(conversation.id, written)
  }

  /** A stream that ended early did not report its cost. */
  async function addCharge(
    conversationId: string,
    { answer, mayBeCharged }: WrittenAnswer,
  ): Promise<void> {
    const sessionId = sessionIdOf(conversationId)
    const charge = mayBeCharged ? await findCharge(sessionId, answer.id) : answer.charge
    const { conversation } = state
    if (conversation.id === conversationId && charge)
      change({ ...state, conversation: changedByCharge(conversation, answer.id, charge) })
    if (charge)
      for (const queryKey of CHANGED_BY_CHARGE) void queryClient.invalidateQueries({ queryKey })
    save()
  }

  const playground: Playground = {
    get: () => state,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    set(settings) {
      change({ ...state, settings: { ...state.settings, ...settings } })
      save()
    },
    send: (text, request) =>
      void ask(
        [...settledTurns(state.conversation.turns), { kind: 'user', id: newUuid(), text }],
        request,
      ),
    sendInstead(id, text, request) {
      const { turns } = state.conversation
      const place = turns.findIndex((turn) => turn.id === id)
      if (place === -1) return
      void ask([...turns.slice(0, place), { kind: 'user', id: newUuid(), text }], request)
    },
    answerCalls(results, request) {
      const said = results.map(
        ({ call, text }) => ({ kind: 'tool', id: newUuid(), call, text }) as const,
      )
      void ask([...state.conversation.turns, ...said], request)
    },
    regenerate(request) {
      const { turns } = state.conversation
      if (turns.at(-1)?.kind === 'answer') void ask(turns.slice(0, -1), request)
    },
    rewrite(id, text) {
      converse(
        state.conversation.turns.map((turn) =>
          turn.id === id && turn.kind === 'answer' ? { ...turn, text } : turn,
        ),
      )
      save()
    },
    stop: () => controller?.abort(),
    clear() {
      controller?.abort()
      change({ ...state, conversation: emptyConversation() })
      save()
    },
  }
  return playground
}
