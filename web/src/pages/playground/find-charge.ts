/**
 * Finds the charge of an answer that was stopped or broke off: the stream did not report it, but the ledger has
 * it.
 */
import type { ChatCharge } from '../../api/chat-events.ts'
import { api } from '../../api/client.ts'
import type { Conversation } from './conversation.ts'

/**
 * The charge comes a moment after the stream has ended; some models are charged only when they finish on their
 * own.
 */
const WAITS_MS = [300, 700, 1_500, 3_000, 6_000]
const EVENTS_READ = 20

/** Undefined: nothing was charged, or not yet. */
export async function findCharge(
  sessionId: string,
  requestId: string,
): Promise<ChatCharge | undefined> {
  for (const ms of WAITS_MS) {
    await new Promise((resolve) => setTimeout(resolve, ms))
    try {
      const query = { session_id: sessionId, limit: EVENTS_READ }
      const { usage_events: events } = await api.get('/usage/events', { query })
      const event = events.find(({ request_id }) => request_id === requestId)
      if (event)
        return {
          promptTokens: event.prompt_tokens ?? 0,
          completionTokens: event.completion_tokens ?? 0,
          reasoningTokens: event.reasoning_tokens ?? 0,
          costBrl: event.cost_billed_brl,
        }
    } catch {
      // Tried again; the usage page shows the charge in any case.
    }
  }
  return undefined
}

/** Adds the charge to its answer, if the answer still exists, and always to the sum. */
export function changedByCharge(
  conversation: Conversation,
  answerId: string,
  charge: ChatCharge,
): Conversation {
  const { lanes, costs } = conversation
  return {
    ...conversation,
    lanes: lanes.map((lane) => ({
      ...lane,
      turns: lane.turns.map((turn) =>
        turn.id === answerId && turn.kind === 'answer' ? { ...turn, charge } : turn,
      ),
    })),
    costs: charge.costBrl === undefined ? costs : [...costs, charge.costBrl],
  }
}
