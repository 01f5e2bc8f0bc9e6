import type { Attempt, CountOnly } from './attempt.ts'
import type { ResolutionRow } from './resolution.ts'

/** What a lane's batch is made of. */
export type LaneWork =
  | { kind: 'attempt'; attempt: Attempt }
  | { kind: 'count'; count: CountOnly }
  | { kind: 'resolve'; row: ResolutionRow }
  | { kind: 'mark'; marks: readonly Mark[] }

/** A checkpoint of a running call: it was dispatched, and this much of its output was seen. */
export interface Mark {
  readonly id: string
  readonly outputTokensSeen: number
}
