/** What an answer cost that was stopped or broke off: the stream does not tell it, the ledger knows. */
import type { ChatCharge } from '../../api/chat-events.ts'
import { api } from '../../api/client.ts'
import type { Conversation } from './conversation.ts'

/** Charged a moment after the stream has ended, and by some models only when they come to an end themselves. */
const WAITS_MS = [300, 700, 1_500, 3_000, 6_000]
const LOOKED_AT = 20

/** Undefined: nothing was charged, or not yet. */
export async function findCharge(
  sessionId: string,
  requestId: string,
): Promise<ChatCharge | undefined> {
  for (const ms of WAITS_MS) {
    await new Promise((resolve) => setTimeout(resolve, ms))
    try {
      const query = { session_id: sessionId, limit: LOOKED_AT }
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
      // Looked for again; the page of usage has it in any case.
    }
  }
  return undefined
}

/** With the charge at its answer, if that is still there, and in the sum in any case. */
export function changedByCharge(
  conversation: Conversation,
  answerId: string,
  charge: ChatCharge,
): Conversation {
  const { turns, costs } = conversation
  return {
    ...conversation,
    turns: turns.map((turn) =>
      turn.id === answerId && turn.kind === 'answer' ? { ...turn, charge } : turn,
    ),
    costs: charge.costBrl === undefined ? costs : [...costs, charge.costBrl],
  }
}
