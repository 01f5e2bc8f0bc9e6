import type { JsonObject } from '../../contract.ts'
import { asReminder } from '../../system-reminder.ts'

/**
 * Instructions before the first turn are a part of `system`. Later ones keep their place: as the client wrote them where
 * the format has them, after a turn of the user and before one of the assistant; elsewhere as a reminder in a turn of
 * the user.
 */
export function placeInstructions(
  cleaned: readonly JsonObject[],
  takesSystem: boolean,
): { opening: JsonObject[]; messages: JsonObject[] } {
  const opening: JsonObject[] = []
  const messages: JsonObject[] = []
  /** Results of tools must follow their calls at once. */
  let waiting: JsonObject[] = []
  const turns = cleaned.filter(({ role }) => role !== 'system')
  let turnsSeen = 0
  for (const message of cleaned) {
    const { role, content } = message
    const last = messages.at(-1)
    if (role !== 'system') {
      turnsSeen += 1
      messages.push(message, ...waiting)
      waiting = []
      continue
    }
    const texts = toBlocks(content).filter(({ type }) => type === 'text')
    const isInPlace = turns[turnsSeen - 1]?.role === 'user' && turns[turnsSeen]?.role !== 'user'
    if (takesSystem && (isInPlace || texts.length === 0)) messages.push(message)
    else if (texts.length === 0) continue
    else if (!last) opening.push(...texts)
    else {
      const turn = { role: 'user', content: texts.map(toReminder) }
      const hasCalls = toBlocks(last.content).some(({ type }) => type === 'tool_use')
      if (hasCalls) waiting.push(turn)
      else messages.push(turn)
    }
  }
  // Upstreams require a question. Clients that have a single text may call it instructions.
  if (turns.length === 0) return { opening: [], messages: [{ role: 'user', content: opening }] }
  return { opening, messages: [...messages, ...waiting] }
}

export function toBlocks(content: unknown): JsonObject[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : (content as JsonObject[])
}

function toReminder(block: JsonObject): JsonObject {
  return { ...block, text: asReminder(block.text as string) }
}
