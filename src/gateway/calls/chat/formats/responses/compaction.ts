/**
 * Compaction: the model that was asked for writes a summary of the conversation, which its client gets sealed as one
 * item and sends back in the place of the conversation. It is an ordinary call at every upstream, whose last message asks
 * for the summary: it is bounded, held and charged as any other. A summary that comes back is a message before anything
 * is measured.
 */
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { refusals, type Refusal } from '../../../refusal.ts'
import { describe } from './input-items.ts'
import type { ReasoningSeal } from './reasoning-seal.ts'
import { placeOf } from './to-chat-messages.ts'

export interface Compaction {
  /** Set for `/v1/responses/compact`: the items of the call's answer before its summary. */
  readonly keptOf?: ((callId: string) => readonly JsonObject[]) | undefined
}

const INSTRUCTION = `Stop here and do not go on with the task. The conversation above will be deleted, and another assistant will continue it with nothing but the user's messages and what you write now. Write what that assistant must know, in the language of the conversation:
- what the user wants, with every limit and preference that the user named;
- what was done and found, with decisions and their reasons;
- what is needed again word for word: names, paths, identifiers, numbers, commands, code, error texts;
- what is under way, what is still to be done, and the next step.
Do not call tools. Answer with the summary alone.`

const OPENING =
  'The conversation until here was replaced by this summary, which an assistant wrote. Go on from it.'

/** A summary has some thousand tokens, and the reasoning before it more. */
const OUTPUT_TOKENS_MAX = 32_768
/** The user's messages that stay beside a summary, the newest first: otherwise it would save nothing. */
const KEPT_CHARACTERS_MAX = 256 * 1024

/**
 * Returns the body with messages in the place of sealed summaries and, if it asks for a summary, with the message that
 * says so; `itemsBefore` of its input are stored ones. `compacts`: it always asks for one.
 */
export function readCompaction(
  body: JsonObject,
  seal: Pick<ReasoningSeal, 'openSummary'>,
  itemsBefore: number,
  compacts: boolean,
): { readonly body: JsonObject; readonly compaction?: Compaction } | Refusal {
  const given = typeof body.input === 'string' ? [userMessage(body.input)] : body.input
  // The translation refuses it, with the reason.
  if (!Array.isArray(given)) return { body }
  const isTriggered = isTrigger(given.at(-1))
  const isCompaction = isTriggered || compacts
  if (!isCompaction && !given.some(isSummary)) return { body }
  const conversation: unknown[] = isTriggered ? given.slice(0, -1) : given
  const opened: unknown[] = []
  for (const [index, item] of conversation.entries()) {
    const summary = isSummary(item) ? seal.openSummary(item.encrypted_content) : undefined
    if (isSummary(item) && summary === undefined)
      return refusals.invalidRequest(
        `${placeOf(index, itemsBefore)}: este resumo não é desta conta, ou foi alterado. Envie o item "compaction" como ele veio de uma resposta daqui.`,
      )
    opened.push(summary === undefined ? item : userMessage(`${OPENING}\n\n${summary}`))
  }
  if (!isCompaction) return { body: { ...body, input: opened } }
  if (opened.length === 0)
    return refusals.invalidRequest('O campo "input" deve ter a conversa a resumir.')
  return {
    body: {
      ...body,
      input: [...opened, userMessage(INSTRUCTION)],
      max_output_tokens: body.max_output_tokens ?? OUTPUT_TOKENS_MAX,
      // They are sent: some upstreams refuse calls of tools that are not there, and a cached prompt has them, too.
      tool_choice: 'none',
      text: undefined,
      ...(compacts ? { stream: false } : {}),
    },
    compaction: compacts ? keepUserMessages(conversation) : {},
  }
}

function keepUserMessages(conversation: readonly unknown[]): Compaction {
  let charactersLeft = KEPT_CHARACTERS_MAX
  const messages = conversation.filter(isObject).filter(({ role }) => role === 'user')
  const first = messages.findLastIndex((message) => {
    charactersLeft -= JSON.stringify(message).length
    return charactersLeft < 0
  })
  const kept = messages.slice(first + 1)
  return { keptOf: (callId) => kept.map((message, index) => describe(message, callId, index)) }
}

/** What a stored conversation is from its last summary on: the items before it are in it. */
export function withoutCompacted(items: readonly unknown[]): readonly unknown[] {
  const last = items.findLastIndex((item, at) => isTrigger(item) && isSummary(items[at + 1]))
  return items.slice(last + 1).filter((item) => !isTrigger(item))
}

function isTrigger(item: unknown): boolean {
  return isObject(item) && item.type === 'compaction_trigger'
}

function isSummary(item: unknown): item is JsonObject {
  return isObject(item) && item.type === 'compaction'
}

function userMessage(content: string): JsonObject {
  return { type: 'message', role: 'user', content }
}
