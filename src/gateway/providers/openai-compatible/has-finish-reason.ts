import type { JsonObject } from '../contract.ts'

/** Whether a chunk of a stream ends one of its choices. */
export function hasFinishReason(chunk: JsonObject): boolean {
  return (
    Array.isArray(chunk.choices) &&
    chunk.choices.some((choice: unknown) => Boolean((choice as JsonObject | null)?.finish_reason))
  )
}
