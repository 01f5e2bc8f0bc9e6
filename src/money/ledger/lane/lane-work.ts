import type { Attempt, CountOnly, Verdict } from '../attempt.ts'
import type { Resolved, ResolutionRow } from '../resolution.ts'

/** An entry of a lane's batch. */
export type LaneWork =
  | { kind: 'attempt'; attempt: Attempt }
  | { kind: 'count'; count: CountOnly }
  | { kind: 'resolve'; row: ResolutionRow }
  | { kind: 'checkpoint'; checkpoints: readonly Checkpoint[] }

/** A verdict for an attempt or a count; for checkpoints, the ones whose hold was found. */
export type LaneResult =
  | Verdict
  | Resolved
  | { readonly kind: 'written'; readonly checkpoints: readonly Checkpoint[] }

/** The progress of a running call: it was dispatched, and this much of its output was seen. */
export interface Checkpoint {
  readonly id: string
  readonly customerId: string
  readonly outputTokensSeen: number
}

/** Returns the customer whose account this work locks; undefined where it locks none. */
export function customerOf(work: LaneWork): string | undefined {
  if (work.kind === 'attempt') return work.attempt.customerId
  return work.kind === 'resolve' ? work.row.customer_id : undefined
}
