import type { JsonObject } from '../../providers/contract.ts'
import {
  MASKED_VALUES_MAX,
  SHIELDED_CHARACTERS_MAX,
  shieldChat,
  sumOf,
  type ShieldOptions,
} from '../../shield/shield-chat.ts'
import type { Counts, DataKind } from '../../../customers/shield-setting.ts'

/** Masks or reports single texts, each on its own, of a request whose answer gets no values back. */
export interface TextShield {
  /** The masked text, or the same one. `place` names it in a refusal. */
  read(path: string, text: string): string
  /** Reads every field of a body but the model and `except`; returns the same body if it has no personal data. */
  readFields(body: JsonObject, except?: string): JsonObject
  /** The outcome of all texts; `masked` is the request with their results. */
  outcome<Request>(masked: Request): ShieldedRequest<Request>
}

export function createTextShield(options: ShieldOptions): TextShield {
  const counts: Partial<Record<DataKind, number>> = {}
  const places: string[] = []
  let characters = 0
  let isTooLong = false

  function add(found: Counts, at: readonly string[]): void {
    for (const [kind, count] of Object.entries(found) as [DataKind, number][])
      counts[kind] = (counts[kind] ?? 0) + count
    places.push(...at)
    if (options.action === 'mask' && sumOf(counts) > MASKED_VALUES_MAX) isTooLong = true
  }

  return {
    read(path, text) {
      characters += text.length
      isTooLong ||= characters > SHIELDED_CHARACTERS_MAX
      if (isTooLong) return text
      const outcome = shieldChat({ text }, options)
      if (outcome.kind === 'too_long') isTooLong = true
      if (outcome.kind === 'clear' || outcome.kind === 'too_long') return text
      add(outcome.counts, [path])
      return outcome.kind === 'masked' ? (outcome.body.text as string) : text
    },
    readFields(body, except) {
      const { [except ?? '']: _, ...read } = body
      const outcome = shieldChat(read, options)
      if (outcome.kind === 'too_long') isTooLong = true
      if (outcome.kind === 'clear' || outcome.kind === 'too_long') return body
      add(outcome.counts, outcome.kind === 'blocked' ? outcome.places : [])
      return outcome.kind === 'masked' ? { ...body, ...outcome.body } : body
    },
    outcome(request) {
      if (isTooLong) return { kind: 'too_long' }
      if (Object.keys(counts).length === 0) return { kind: 'clear' }
      return options.action === 'block'
        ? { kind: 'blocked', counts, places }
        : { kind: 'masked', request, counts }
    },
  }
}

export type ShieldedRequest<Request> =
  /** Nothing was found: the request goes as it is. */
  | { readonly kind: 'clear' }
  | { readonly kind: 'masked'; readonly request: Request; readonly counts: Counts }
  | FoundData
  /** The texts are longer than the shield reads. */
  | { readonly kind: 'too_long' }

export interface FoundData {
  readonly kind: 'blocked'
  readonly counts: Counts
  /** Fields of the request; none of them contains a value. */
  readonly places: readonly string[]
}

/** Masks or reports the personal data of a request. The request itself stays as it was. */
export type ShieldRequest<Request> = (
  request: Request,
  options: ShieldOptions,
) => ShieldedRequest<Request>
