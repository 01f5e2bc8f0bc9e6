/**
 * The signed-in customer's conversation. It lives outside of the page, so that a paid answer continues while
 * the customer looks at another page. A reload restores it from sessionStorage, and the history from the browser's
 * database.
 */
import { queryClient } from '../../api/query-client.ts'
import { newUuid } from '../../lib/new-uuid.ts'
import { onSignOut } from '../../lib/sign-out-acts.ts'
import { settledTurns, writeAnswer, writeImages, type WrittenAnswer } from './write-answer.ts'
import { changedByCharge, findCharge } from './find-charge.ts'
import {
  emptyConversation,
  LANES_MAX,
  newAnswer,
  sessionIdOf,
  type AnswerTurn,
  type Conversation,
  type Lane,
  type ToolCall,
  type Turn,
  type UserTurn,
} from './conversation.ts'
import { chatBody, type ChatSettings } from './chat-settings.ts'
import { readSaved, saveInHistory } from './history.ts'
import { HISTORY } from './history-query.ts'
import { keep, readKept, type Kept } from './kept-playground.ts'

export interface Playground {
  readonly get: () => Kept
  readonly subscribe: (listener: () => void) => () => void
  readonly set: (change: Partial<ChatSettings>) => void
  readonly setModel: (laneId: string, model: string) => void
  /** Adds a model to compare with. It continues the first lane's conversation. */
  readonly addLane: (model: string) => void
  readonly removeLane: (laneId: string) => void
  /** Appends a message of the user, which every lane answers. */
  readonly send: (message: Message, request: Asked) => void
  /** Replaces the text of the user's message with that id, and removes the later turns. */
  readonly sendInstead: (id: string, text: string, request: Asked) => void
  readonly answerCalls: (laneId: string, results: readonly ToolResult[], request: Asked) => void
  readonly regenerate: (laneId: string, request: Asked) => void
  /** Replaces the text of an answer; the model will take it for its own. */
  readonly rewrite: (id: string, text: string) => void
  readonly stop: () => void
  /** Begins a new conversation with the same models; the old one stays in the history. */
  readonly clear: () => void
  readonly open: (conversation: Conversation) => void
}

export type Message = Pick<UserTurn, 'text' | 'attachments'>

/** What a request needs beside the conversation and the settings. */
export interface Asked {
  readonly apiKeyId: string
  /** By the id of the lane. */
  readonly models: ReadonlyMap<string, AskedModel>
}

export interface AskedModel {
  readonly id: string
  readonly drawsImages: boolean
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
  const { openId, ...kept } = readKept(customerId)
  let state: Kept = kept
  const controllers = new Map<string, AbortController>()
  const listeners = new Set<() => void>()

  function change(next: Kept): void {
    state = next
    for (const listener of listeners) listener()
  }
  function changeLanes(edit: (lane: Lane) => Lane): void {
    const { conversation } = state
    change({ ...state, conversation: { ...conversation, lanes: conversation.lanes.map(edit) } })
  }
  function converse(laneId: string, turns: readonly Turn[]): void {
    changeLanes((lane) => (lane.id === laneId ? { ...lane, turns } : lane))
  }
  function changeTurn(id: string, edit: (turn: Turn) => Turn): void {
    changeLanes((lane) => ({
      ...lane,
      turns: lane.turns.map((turn) => (turn.id === id ? edit(turn) : turn)),
    }))
  }
  function replace(conversationId: string, answer: AnswerTurn): void {
    if (state.conversation.id === conversationId) changeTurn(answer.id, () => answer)
  }
  function save(): void {
    // After sign-out, a late answer must not store anything.
    if (current?.playground !== playground) return
    const { conversation } = state
    const lanes = conversation.lanes.map((lane) => ({ ...lane, turns: settledTurns(lane.turns) }))
    const settled = { ...conversation, lanes }
    keep(customerId, { ...state, conversation: settled })
    if (lanes.every(({ turns }) => turns.length === 0)) return
    void saveInHistory(customerId, settled).then(() =>
      queryClient.invalidateQueries({ queryKey: HISTORY }),
    )
  }
  // A reload ends the running answer; the received part is kept.
  window.addEventListener('pagehide', save)

  async function ask(
    laneId: string,
    turns: readonly Turn[],
    { apiKeyId, models }: Asked,
  ): Promise<void> {
    const model = models.get(laneId)
    if (!model) return
    controllers.get(laneId)?.abort()
    const own = new AbortController()
    controllers.set(laneId, own)
    const { conversation, settings } = state
    const answer = newAnswer(model.id)
    converse(laneId, [...turns, answer])
    save()
    const paid = {
      apiKeyId,
      sessionId: sessionIdOf(conversation.id),
      requestId: answer.id,
      signal: own.signal,
    }
    const written = model.drawsImages
      ? await writeImages(answer, { ...paid, body: { model: model.id, prompt: lastText(turns) } })
      : await writeAnswer(answer, { ...paid, body: chatBody(model.id, turns, settings) }, (soFar) =>
          replace(conversation.id, soFar),
        )
    if (controllers.get(laneId) === own) controllers.delete(laneId)
    replace(conversation.id, written.answer)
    await addCharge(conversation.id, written)
  }

  /** An answer that ended early did not report its cost. */
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

  function stop(): void {
    for (const controller of controllers.values()) controller.abort()
    controllers.clear()
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
    setModel(laneId, model) {
      changeLanes((lane) => (lane.id === laneId ? { ...lane, model } : lane))
      save()
    },
    addLane(model) {
      const { conversation } = state
      const { lanes } = conversation
      if (lanes.length >= LANES_MAX) return
      const added = { id: newUuid(), model, turns: settledTurns(lanes[0]?.turns ?? []) }
      change({ ...state, conversation: { ...conversation, lanes: [...lanes, added] } })
      save()
    },
    removeLane(laneId) {
      const { conversation } = state
      if (conversation.lanes.length === 1) return
      controllers.get(laneId)?.abort()
      const lanes = conversation.lanes.filter(({ id }) => id !== laneId)
      change({ ...state, conversation: { ...conversation, lanes } })
      save()
    },
    send(message, request) {
      const user = { kind: 'user', id: newUuid(), ...message } as const
      for (const { id, turns } of state.conversation.lanes)
        void ask(id, [...settledTurns(turns), user], request)
    },
    sendInstead(id, text, request) {
      const newId = newUuid()
      for (const { id: laneId, turns } of state.conversation.lanes) {
        const place = turns.findIndex((turn) => turn.id === id)
        const before = turns[place]
        if (before?.kind !== 'user') continue
        void ask(laneId, [...turns.slice(0, place), { ...before, id: newId, text }], request)
      }
    },
    answerCalls(laneId, results, request) {
      const lane = state.conversation.lanes.find(({ id }) => id === laneId)
      const said = results.map(
        ({ call, text }) => ({ kind: 'tool', id: newUuid(), call, text }) as const,
      )
      if (lane) void ask(laneId, [...lane.turns, ...said], request)
    },
    regenerate(laneId, request) {
      const turns = state.conversation.lanes.find(({ id }) => id === laneId)?.turns ?? []
      if (turns.at(-1)?.kind === 'answer') void ask(laneId, turns.slice(0, -1), request)
    },
    rewrite(id, text) {
      changeTurn(id, (turn) => (turn.kind === 'answer' ? { ...turn, text } : turn))
      save()
    },
    stop,
    clear() {
      stop()
      const models = state.conversation.lanes.map(({ model }) => model)
      change({ ...state, conversation: emptyConversation(models) })
      save()
    },
    open(conversation) {
      stop()
      change({ ...state, conversation })
      save()
    },
  }
  // The tab's storage had no room for the conversation: it is in the history.
  if (openId !== undefined)
    void readSaved(customerId, openId).then((conversation) => {
      const isUntouched = state.conversation === kept.conversation
      if (conversation && isUntouched) change({ ...state, conversation })
    })
  return playground
}

/** Image models get the last message only. */
function lastText(turns: readonly Turn[]): string {
  const last = turns.findLast((turn) => turn.kind === 'user')
  return last?.kind === 'user' ? last.text : ''
}
