/**
 * Puts the shield into a kind of call: between the reading of a request and everything after it. The quote, the hold,
 * fallbacks and retries see the masked request alone, and know nothing of the shield; the shield knows no money.
 */
import type { ActiveKey } from '../../../customers/key-cache.ts'
import type { ShieldNote } from '../../../customers/shield-counts.ts'
import type { Provider, UpstreamFailure } from '../../providers/contract.ts'
import { MASKED_VALUES_MAX, SHIELDED_CHARACTERS_MAX } from '../../shield/shield-chat.ts'
import { type Counts } from '../../../customers/shield-setting.ts'
import type { CallKind, UpstreamTry } from '../call-kind.ts'
import type { CallRequest } from '../call.ts'
import type { OwnTime } from '../own-time.ts'
import { isRefusal, refusals, type Refusal } from '../refusal.ts'
import type { ShieldSetting } from '../../../customers/shield-setting.ts'
import type { ShieldRequest } from './shielded-request.ts'
import { refusalOfData } from './refusal-of-data.ts'
import { shieldInSlices } from './shield-in-slices.ts'

export function shieldKind<Body, Request extends CallRequest, Outcome extends { kind: string }>(
  kind: CallKind<Body, Request, Outcome>,
  shieldRequest: ShieldRequest<Request>,
  notes: { note(note: ShieldNote): void },
  time: OwnTime,
): CallKind<Body, Request, Outcome> {
  /** Masked requests that no upstream has received yet. */
  const waiting = new WeakMap<Request, Counts>()
  async function readShielded(
    body: Body,
    key: ActiveKey,
    { action, uuids }: ShieldSetting & { readonly action: 'mask' | 'block' },
    flags: readonly string[] | undefined,
  ): Promise<Request | Refusal> {
    const request = await kind.read(body, key, flags)
    if (isRefusal(request)) return request
    const { customerId } = key
    const turn = time.turn(customerId)
    if (turn && isRefusal(turn)) {
      kind.dispose?.(request)
      return turn
    }
    if (turn) await turn
    const options = { action, uuids }
    const outcome = await shieldInSlices(request, shieldRequest, options, { time, customerId })
    if (outcome.kind === 'clear') return request
    if (outcome.kind === 'too_long') {
      kind.dispose?.(request)
      return refusals.textsTooLong(SHIELDED_CHARACTERS_MAX, MASKED_VALUES_MAX)
    }
    if (outcome.kind === 'blocked') {
      kind.dispose?.(request)
      notes.note({ keyId: key.id, action: 'block', counts: outcome.counts })
      return refusalOfData(outcome)
    }
    waiting.set(outcome.request, outcome.counts)
    return outcome.request
  }

  async function callMasked(
    provider: Provider,
    attempt: UpstreamTry<Request>,
    counts: Counts,
  ): Promise<Outcome | UpstreamFailure> {
    const outcome = await kind.call(provider, attempt)
    const { request, key } = attempt.held
    if (!isUnsent(outcome)) {
      waiting.delete(request)
      notes.note({ keyId: key.id, action: 'mask', counts })
    }
    return outcome
  }

  return {
    ...kind,
    read(body, key, flags) {
      const { action } = key.shield
      return action === 'off'
        ? kind.read(body, key, flags)
        : readShielded(body, key, { ...key.shield, action }, flags)
    },
    call(provider, attempt) {
      const counts = waiting.get(attempt.held.request)
      return counts ? callMasked(provider, attempt, counts) : kind.call(provider, attempt)
    },
  }
}

/** Whether surely no byte of the request left. */
function isUnsent(outcome: { readonly kind: string }): boolean {
  if (outcome.kind !== 'failure') return false
  const { reason, isUnsent } = outcome as UpstreamFailure
  return isUnsent === true || reason === 'unsupported' || reason === 'connect_failed'
}
