/**
 * The `encrypted_content` of reasoning items: the parts of an answer that its model requires back and that the format
 * has no field for, sealed for the customer; and that of compaction items, the summary of a conversation. Nothing is
 * stored: the client sends the text back, and only this service can read it.
 */
import { isObject } from '../../../../../platform/lib/is-object.ts'
import { seal, sealPrefix, unseal, SealError } from '../../../../../platform/lib/seal.ts'
import type { JsonObject } from '../../../../providers/contract.ts'

/** The parts that a chat message carries beside its text and calls. */
export interface KeptReasoning {
  /** The message's own fields: `reasoning_content`, `reasoning`, `reasoning_details`, `extra_content`. */
  readonly fields: JsonObject
  /** `extra_content` of tool calls by their ids. */
  readonly calls: JsonObject
}

export type SealReasoning = (kept: KeptReasoning) => string

/** The seal of one customer: what it sealed for another customer does not open. */
export interface ReasoningSeal {
  /** `models` are the names of the model whose reasoning it is. */
  seal(kept: KeptReasoning, models: readonly string[]): string
  /** Undefined if it is not the customer's, or of another model: models refuse each other's signatures. */
  open(sealed: string, model: unknown): KeptReasoning | undefined
  /** Whether it claims to be sealed here, for anybody and any model: no upstream can read it. */
  isOwn(sealed: string): boolean
  /** Seals the summary of a conversation, which every model can read. */
  sealSummary(text: string): string
  /** Undefined if it is no summary of the customer, or was changed. */
  openSummary(sealed: unknown): string | undefined
}

/** The seal for the customer with this id. */
export type ReasoningSeals = (customerId: string) => ReasoningSeal

const BOUND_TO = 'reasoning of a response'
const SUMMARY_BOUND_TO = 'summary of a conversation'

export function createReasoningSeals({
  sealingKey,
  previousSealingKey,
}: {
  sealingKey: Buffer
  previousSealingKey?: Buffer | undefined
}): ReasoningSeals {
  const prefixes = [sealingKey, ...(previousSealingKey ? [previousSealingKey] : [])].map(sealPrefix)
  return (customerId) =>
    createSeal(`${BOUND_TO} for ${customerId}`, `${SUMMARY_BOUND_TO} for ${customerId}`)

  function createSeal(boundTo: string, summaryBoundTo: string): ReasoningSeal {
    return {
      seal: (kept, models) => sealText(boundTo, JSON.stringify({ ...kept, models })),
      open(sealed, model) {
        const text = openText(boundTo, sealed)
        const kept: unknown = text === undefined ? undefined : JSON.parse(text)
        if (!isObject(kept) || !isObject(kept.fields) || !isObject(kept.calls)) return undefined
        const isOfModel = Array.isArray(kept.models) && kept.models.includes(model)
        return isOfModel ? { fields: kept.fields, calls: kept.calls } : undefined
      },
      isOwn(sealed) {
        // The first characters hold more bytes than a prefix has.
        const head = Buffer.from(sealed.slice(0, 16), 'base64url')
        return prefixes.some((prefix) => head.subarray(0, prefix.length).equals(prefix))
      },
      sealSummary: (text) => sealText(summaryBoundTo, text),
      openSummary: (sealed) =>
        typeof sealed === 'string' ? openText(summaryBoundTo, sealed) : undefined,
    }
  }

  function sealText(boundTo: string, text: string): string {
    return seal(sealingKey, boundTo, Buffer.from(text)).toString('base64url')
  }

  function openText(boundTo: string, sealed: string): string | undefined {
    const bytes = Buffer.from(sealed, 'base64url')
    try {
      return unseal(sealingKey, boundTo, bytes, previousSealingKey).toString()
    } catch (error) {
      if (error instanceof SealError) return undefined
      throw error
    }
  }
}
