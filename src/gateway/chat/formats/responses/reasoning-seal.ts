/**
 * The `encrypted_content` of reasoning items: the parts of an answer that its model requires back and that the format
 * has no field for, sealed. Nothing is stored: the client sends the text back, and only this service can read it.
 */
import { isObject } from '../../../../lib/is-object.ts'
import { seal, unseal, SealError } from '../../../../lib/seal.ts'
import type { JsonObject } from '../../../../providers/contract.ts'

/** The parts that a chat message carries beside its text and calls. */
export interface KeptReasoning {
  /** The message's own fields: `reasoning_content`, `reasoning`, `reasoning_details`, `extra_content`. */
  readonly fields: JsonObject
  /** `extra_content` of tool calls by their ids. */
  readonly calls: JsonObject
}

export type SealReasoning = (kept: KeptReasoning) => string

export interface ReasoningSeal {
  /** `models` are the names of the model whose reasoning it is. */
  seal(kept: KeptReasoning, models: readonly string[]): string
  /** Undefined if it is not ours, or of another model: models refuse each other's signatures. */
  open(sealed: string, model: unknown): KeptReasoning | undefined
  /** Whether it was sealed here, for any model. */
  isOwn(sealed: string): boolean
}

const BOUND_TO = 'reasoning of a response'

export function createReasoningSeal({
  sealingKey,
  previousSealingKey,
}: {
  sealingKey: Buffer
  previousSealingKey?: Buffer | undefined
}): ReasoningSeal {
  return {
    seal(kept, models) {
      const text = JSON.stringify({ ...kept, models })
      return seal(sealingKey, BOUND_TO, Buffer.from(text)).toString('base64url')
    },
    open(sealed, model) {
      const text = openText(sealed)
      const kept: unknown = text === undefined ? undefined : JSON.parse(text)
      if (!isObject(kept) || !isObject(kept.fields) || !isObject(kept.calls)) return undefined
      const isOfModel = Array.isArray(kept.models) && kept.models.includes(model)
      return isOfModel ? { fields: kept.fields, calls: kept.calls } : undefined
    },
    isOwn: (sealed) => openText(sealed) !== undefined,
  }

  function openText(sealed: string): string | undefined {
    const bytes = Buffer.from(sealed, 'base64url')
    try {
      return unseal(sealingKey, BOUND_TO, bytes, previousSealingKey).toString()
    } catch (error) {
      if (error instanceof SealError) return undefined
      throw error
    }
  }
}
