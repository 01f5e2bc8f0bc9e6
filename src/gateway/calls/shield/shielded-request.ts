import type { ShieldOptions } from '../../shield/shield-chat.ts'
import type { Counts } from '../../../customers/shield-setting.ts'

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
