/**
 * What an upstream requires back and this format has no field for: reasoning that is not signed, and signatures beside
 * texts and calls. Clients send signatures and hidden thinking back as they are, so it is sealed as one of them.
 */
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import type { KeptReasoning, ReasoningSeal } from '../responses/reasoning-seal.ts'
import type { ToolCallIds } from '../../tool-call-ids.ts'

/** Opens a signature, or the data of hidden thinking; undefined if it is an upstream's own. */
export type OpenThinking = (sealed: unknown) => KeptReasoning | undefined

const NOTHING: KeptReasoning = { fields: {}, calls: {} }

/** `model` is the one that is asked: what is sealed for another model is left out. */
export function createOpenThinking(
  seal: ReasoningSeal,
  ids: Pick<ToolCallIds, 'revealed'>,
  model: unknown,
): OpenThinking {
  return (sealed) => {
    if (typeof sealed !== 'string' || !seal.isOwn(sealed)) return undefined
    const { fields, calls } = seal.open(sealed, model) ?? NOTHING
    const byOwnId = Object.entries(calls).map(([id, extra]) => [ids.revealed(id), extra] as const)
    return { fields, calls: Object.fromEntries(byOwnId) as JsonObject }
  }
}

/** A body without what is sealed here: no upstream of this format can read it. */
export function withoutSealed(body: JsonObject, seal: Pick<ReasoningSeal, 'isOwn'>): JsonObject {
  const isSealed = ({ type, signature, data }: JsonObject): boolean => {
    const sealed = type === 'thinking' ? signature : type === 'redacted_thinking' ? data : undefined
    return typeof sealed === 'string' && seal.isOwn(sealed)
  }
  if (!Array.isArray(body.messages)) return body
  const messages = body.messages.map((message: unknown) => {
    if (!isObject(message) || !Array.isArray(message.content)) return message
    const blocks = message.content as unknown[]
    const isAnyone = blocks.some((block) => isObject(block) && isSealed(block))
    if (!isAnyone) return message
    return {
      ...message,
      content: blocks.filter((block) => !isObject(block) || !isSealed(block)),
    }
  })
  return { ...body, messages }
}

/** The fields in which upstreams send reasoning that they do not sign. */
const REASONING_FIELDS = ['reasoning_content', 'reasoning'] as const
export type ReasoningField = (typeof REASONING_FIELDS)[number]

/** Returns the field of a message or a delta that holds its reasoning. */
export function reasoningFieldOf(carrier: JsonObject): ReasoningField | undefined {
  return REASONING_FIELDS.find((field) => {
    const text = carrier[field]
    return typeof text === 'string' && text !== ''
  })
}

/** Returns the content of the signature of such reasoning; the text itself is the thinking of its block. */
export function unsignedIn(field: ReasoningField): KeptReasoning {
  return { fields: { [field]: '' }, calls: {} }
}

/** Returns the signatures beside texts and calls; undefined without any. */
export function signaturesIn(extra: unknown, calls: JsonObject): KeptReasoning | undefined {
  if (extra === undefined && Object.keys(calls).length === 0) return undefined
  return { fields: extra === undefined ? {} : { extra_content: extra }, calls }
}
