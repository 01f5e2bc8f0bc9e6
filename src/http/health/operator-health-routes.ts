/** The health of the whole service: the state of all nodes in the database, and of this node in memory. */
import { readDatabaseState } from '../../platform/db/read-database-state.ts'
import type { ReplicaState } from '../../platform/db/replicas/read-replica.ts'
import { findServicePause } from '../../money/catalog/service-pause.ts'
import { listAppliedRates } from '../../money/fx/applied-rates.ts'
import {
  listJobs,
  type JobState,
  readQueues,
  type QueueState,
} from '../../platform/health/read-queues.ts'
import { listNodes, readOpenHolds, type NodeState } from '../../money/ledger/nodes.ts'
import { jsonE4 } from '../../platform/lib/money.ts'
import { countOpenDiscrepancies } from '../../money/reconciliation/discrepancies.ts'
import { findLastRuns } from '../../money/reconciliation/runs.ts'
import { serviceHealth } from './service-health-body.ts'
import type { RouteState } from '../../gateway/calls/routing/create-router.ts'
import type { HttpParts } from '../rest/parts.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { restRoute } from '../rest/rest-route.ts'

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

interface NodeTimer {
  readonly name: string
  readonly everyMs: number
  readonly lastDoneAt: Date | null
  readonly lastFailedAt: Date | null
  readonly failuresInRow: number
}

type Deps = Pick<HttpParts, 'config' | 'db' | 'replicas'> & { readonly thisNode: ThisNode }

/** Rates of the newest days; the rate in force is the first of them that has been applied. */
const RATES_READ = 10
const DAY_MS = 86_400_000

export const operatorHealthRoutes = [
  restRoute({
    method: 'GET',
    path: '/admin/health',
    tag: 'Administração',
    summary: 'Os nós, as filas, os trabalhos, o banco de dados, o câmbio e a conciliação',
    access: 'support',
    answer: serviceHealth,
    handle: (_call, deps: Deps) => readServiceHealth(deps),
  }),
]

async function readServiceHealth({
  db,
  config: { mode },
  thisNode,
  replicas,
}: Deps): Promise<AnswerOf<typeof serviceHealth>> {
  // Sequential, so that the status of a failing service takes one connection, not eight.
  const nodes = await listNodes(db)
  const pause = await findServicePause(db)
  const holds = await readOpenHolds(db)
  const queues = await readQueues(db)
  const jobs = await listJobs(db)
  const database = await readDatabaseState(db)
  const rates = await listAppliedRates(db, mode, { limit: RATES_READ })
  const { last, lastFinished } = await findLastRuns(db)
  const openDifferences = await countOpenDiscrepancies(db)
  const rate = rates.find(({ appliedFrom }) => appliedFrom !== null)
  return {
    at: new Date().toISOString(),
    nodes: nodes.map((node) => nodeBody(node, thisNode.id())),
    pause: pause ? { reason: pause.reason, since: pause.pausedAt.toISOString() } : null,
    holds: { open: holds.count, oldest_at: timeOf(holds.oldestAt) },
    queues: queues.map(queueBody),
    jobs: jobs.map(jobBody),
    database: {
      size_bytes: database.sizeBytes,
      connections: database.connections,
      connections_max: database.connectionsMax,
      read_replicas: replicas.list().map(replicaBody),
    },
    fx_rate: rate
      ? {
          rate: jsonE4(rate.rateE4),
          rate_date: rate.rateDate,
          source: rate.source,
          applied_from: timeOf(rate.appliedFrom),
          age_days: Math.floor((Date.now() - Date.parse(rate.rateDate)) / DAY_MS),
        }
      : null,
    reconciliation: {
      last_started_at: timeOf(last?.started_at),
      last_finished_at: timeOf(lastFinished?.finished_at),
      last_failure: last?.failure ?? null,
      open_differences: openDifferences,
    },
    this_node: await thisNodeBody(thisNode),
  }
}

function nodeBody(node: NodeState, thisNodeId: string) {
  return {
    id: node.id,
    is_this: node.id === thisNodeId,
    is_alive: node.isAlive,
    started_at: node.startedAt.toISOString(),
    last_heartbeat_at: node.seenAt.toISOString(),
    stopped_at: timeOf(node.stoppedAt),
    open_holds: node.openHolds,
    server_id: node.serverId,
    worker: node.worker,
    version: node.version,
    build: node.build,
  }
}

function replicaBody({ name, trouble, ageMs }: ReplicaState) {
  return {
    name,
    is_read: trouble === undefined,
    trouble: trouble ?? null,
    lag_seconds: ageMs === undefined ? null : Math.round(ageMs / 100) / 10,
  }
}

function queueBody(queue: QueueState) {
  return {
    name: queue.name,
    waiting: queue.waiting,
    due: queue.due,
    oldest_due_at: timeOf(queue.oldestDueAt),
  }
}

function jobBody(job: JobState) {
  return {
    name: job.name,
    cron: job.cron,
    waiting: job.waiting,
    active: job.active,
    failed: job.failed,
    last_completed_at: timeOf(job.lastCompletedAt),
    last_failed_at: timeOf(job.lastFailedAt),
  }
}

async function thisNodeBody(node: ThisNode) {
  return {
    id: node.id(),
    started_at: node.startedAt.toISOString(),
    running_calls: node.runningCalls(),
    spool_length: node.spoolLength(),
    ledger_waiting: node.ledgerWaiting(),
    routes: node.listRoutes().map(({ model, route, breaker, running }) => ({
      model_id: model.id,
      upstream: route.upstreamId,
      upstream_model: route.upstreamModel,
      breaker,
      running,
    })),
    timers: (await node.listTimers().catch(() => [])).map((timer) => ({
      name: timer.name,
      every_ms: timer.everyMs,
      last_done_at: timeOf(timer.lastDoneAt),
      last_failed_at: timeOf(timer.lastFailedAt),
      failures_in_row: timer.failuresInRow,
    })),
  }
}

function timeOf(at: Date | null | undefined): string | null {
  return at?.toISOString() ?? null
}
