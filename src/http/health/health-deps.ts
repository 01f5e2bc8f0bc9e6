import type { Database } from '../../platform/db/open.ts'
import type { ReadReplicas } from '../../platform/db/replicas/open-read-replicas.ts'
import type { RouteState } from '../../gateway/calls/routing/create-router.ts'
import type { HealthSummaries } from '../../platform/health/health-summaries.ts'
import type { Readiness } from '../../platform/health/readiness.ts'

/** The state that only this node knows. */
export interface ThisNode {
  /** Changes when the node is fenced. */
  id(): string
  readonly startedAt: Date
  runningCalls(): number
  /** Settlements that wait in the spool for the database. */
  spoolLength(): number
  ledgerWaiting(): number
  listRoutes(): readonly RouteState[]
  /** Empty without background jobs on this server. Rejects if the process that runs them does not answer. */
  listTimers(): Promise<readonly NodeTimer[]>
}

export interface NodeTimer {
  readonly name: string
  readonly everyMs: number
  readonly lastDoneAt: Date | null
  readonly lastFailedAt: Date | null
  readonly failuresInRow: number
}

export interface HealthDeps {
  readonly db: Database
  readonly mode: 'sandbox' | 'live'
  readonly replicas: Pick<ReadReplicas, 'list'>
  readonly healthSummaries: HealthSummaries
  readonly thisNode: ThisNode
  readonly readiness: Readiness
}
