/**
 * How the sandbox misbehaves when it is told to: by `failNext` in tests, or by the centavos of an
 * amount, so that every fault can be had through a product's own pages.
 */
export type SandboxFaultKind =
  /** It is done, and the connection is cut before the answer. */
  | 'answer_lost'
  /** The connection is cut before anything is done. */
  | 'cut'
  /** It is done, and the answer does not come until the caller has gone. */
  | 'no_answer'
  | 'error_500'
  /** A page of maintenance in HTML with a 503. */
  | 'maintenance'
  /** The same with a 200. */
  | 'maintenance_200'
  | 'rate_limited'
  | 'slow'
  /** Answers tell half of the amount. */
  | 'other_amount'

export interface SandboxFault {
  readonly kind: SandboxFaultKind
  /** As `POST /v3/payments`, with `{id}` for an id; any call if not given. */
  readonly endpoint?: string | undefined
  /** 1 if not given. */
  readonly times?: number
}

export type EventFault = 'twice' | 'out_of_order' | 'never'

export interface SandboxFaults {
  failNext(fault: SandboxFault): void
  /** The fault of this call, which is used up by it. */
  take(endpoint: string): SandboxFaultKind | undefined
  /** By the amount, at the first creation with this reference only: whoever tries again gets through. */
  takeOfCreation(amountCents: bigint, reference: string): SandboxFaultKind | undefined
}

/** Centavos of amounts, and what a creation with them meets. */
export const CREATION_FAULTS: Readonly<Record<string, SandboxFaultKind>> = {
  '91': 'answer_lost',
  '92': 'error_500',
  '93': 'rate_limited',
  '97': 'slow',
  '99': 'maintenance',
}

/** Centavos of amounts, and what happens to the events of such payments. */
const EVENT_FAULTS: Readonly<Record<string, EventFault>> = {
  '89': 'never',
  '94': 'twice',
  '95': 'out_of_order',
}

/** Answers about such payments tell half of the amount once they are paid. */
const CENTS_OTHER_AMOUNT = '96'
/** A card payment of such an amount waits to be looked at, on its page. */
const CENTS_IN_REVIEW = '98'
/** References remembered; older ones may fail once more. */
const REFERENCES_MAX = 10_000

export function createFaults(): SandboxFaults {
  let planned: { kind: SandboxFaultKind; endpoint: string | undefined; left: number }[] = []
  const failed = new Set<string>()
  return {
    failNext({ kind, endpoint, times = 1 }) {
      planned.push({ kind, endpoint, left: times })
    },
    take(endpoint) {
      const found = planned.find((fault) => (fault.endpoint ?? endpoint) === endpoint)
      if (!found) return undefined
      found.left -= 1
      planned = planned.filter(({ left }) => left > 0)
      return found.kind
    },
    takeOfCreation(amountCents, reference) {
      const kind = CREATION_FAULTS[centsPart(amountCents)]
      if (kind === undefined || failed.has(reference)) return undefined
      if (failed.size >= REFERENCES_MAX) failed.clear()
      failed.add(reference)
      return kind
    },
  }
}

export function eventFaultOf(amountCents: bigint): EventFault | undefined {
  return EVENT_FAULTS[centsPart(amountCents)]
}

export function tellsOtherAmount(amountCents: bigint): boolean {
  return centsPart(amountCents) === CENTS_OTHER_AMOUNT
}

export function goesToReview(amountCents: bigint): boolean {
  return centsPart(amountCents) === CENTS_IN_REVIEW
}

function centsPart(amountCents: bigint): string {
  return (amountCents % 100n).toString().padStart(2, '0')
}
