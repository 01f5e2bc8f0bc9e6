/**
 * A fault that the sandbox simulates, either by `failNext` in tests or by the centavos of an amount, so that every
 * fault can be caused through a product's own pages.
 */
export type SandboxFaultKind =
  /** The request takes effect, but the connection is cut before the answer. */
  | 'answer_lost'
  /** The connection is cut before the request takes effect. */
  | 'cut'
  /** The request takes effect, but no answer comes. */
  | 'no_answer'
  | 'error_500'
  /** An HTML maintenance page with status 503. */
  | 'maintenance'
  /** The same page with status 200. */
  | 'maintenance_200'
  | 'rate_limited'
  | 'slow'
  /** Answers report half of the amount. */
  | 'other_amount'

export interface SandboxFault {
  readonly kind: SandboxFaultKind
  /** For example `POST /v3/payments`, with `{id}` for an id; any endpoint by default. */
  readonly endpoint?: string | undefined
  /** 1 by default. */
  readonly times?: number
}

export type EventFault = 'twice' | 'out_of_order' | 'never'

export interface SandboxFaults {
  failNext(fault: SandboxFault): void
  /** Takes the planned fault of this call. */
  take(endpoint: string): SandboxFaultKind | undefined
  /** The fault by the amount, for the first creation with this reference only, so that a retry succeeds. */
  takeOfCreation(amountCents: bigint, reference: string): SandboxFaultKind | undefined
}

/** The fault of a creation, by the centavos of its amount. */
export const CREATION_FAULTS: Readonly<Record<string, SandboxFaultKind>> = {
  '91': 'answer_lost',
  '92': 'error_500',
  '93': 'rate_limited',
  '97': 'slow',
  '99': 'maintenance',
}

/** The fault of a payment's events, by the centavos of its amount. */
const EVENT_FAULTS: Readonly<Record<string, EventFault>> = {
  '89': 'never',
  '94': 'twice',
  '95': 'out_of_order',
}

/** Answers about such a payment report half of its amount once it is paid. */
const CENTS_OTHER_AMOUNT = '96'
/** A card payment with these centavos stays in review until it is decided on its page. */
const CENTS_IN_REVIEW = '98'
/** The number of remembered references; after that, a known reference may fail once more. */
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

export function reportsOtherAmount(amountCents: bigint): boolean {
  return centsPart(amountCents) === CENTS_OTHER_AMOUNT
}

export function goesToReview(amountCents: bigint): boolean {
  return centsPart(amountCents) === CENTS_IN_REVIEW
}

function centsPart(amountCents: bigint): string {
  return (amountCents % 100n).toString().padStart(2, '0')
}
