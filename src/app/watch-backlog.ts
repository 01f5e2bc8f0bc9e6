import type { Backlog, BacklogNumbers } from '../platform/health/read-backlog.ts'
import type { LabelledValue, Metrics } from './create-metrics.ts'

/** Adds gauges of what waits in the database, which all nodes share: every node that reads it says the same. */
export function watchBacklog(metrics: Metrics, read: () => Backlog | undefined): void {
  for (const [name, help, key] of NUMBERS)
    metrics.gaugeByLabels(name, help, [], () => listOf(read()?.[key], {}))
  const ofQueues = (name: string, help: string, value: (queue: Queue) => number): void =>
    metrics.gaugeByLabels(name, help, ['queue'], () =>
      (read()?.queues ?? []).map((queue) => ({
        labels: { queue: queue.name },
        value: value(queue),
      })),
    )
  ofQueues('catraca_queue_waiting', 'Open items of a queue, due or not.', (queue) => queue.waiting)
  ofQueues('catraca_queue_due', 'Items of a queue that are due.', (queue) => queue.due)
  ofQueues(
    'catraca_queue_oldest_due_seconds',
    'How long the longest overdue item of a queue is due; 0 if none is.',
    ({ oldestDueAt }) => (oldestDueAt ? (Date.now() - oldestDueAt.getTime()) / 1000 : 0),
  )
  metrics.gaugeByLabels(
    'catraca_job_failing',
    '1: the last run of a scheduled job failed after every retry.',
    ['job'],
    () => [...(read()?.failing ?? [])].flatMap(([job, value]) => listOf(value, { job })),
  )
}

type Queue = Backlog['queues'][number]

/** Nothing before the first reading: a zero would say that all is well. */
function listOf(value: number | undefined, labels: Record<string, string>): LabelledValue[] {
  return value === undefined ? [] : [{ labels, value }]
}

const NUMBERS: readonly (readonly [name: string, help: string, key: keyof BacklogNumbers])[] = [
  ['catraca_database_holds', 'Open holds of all nodes.', 'holds'],
  [
    'catraca_database_oldest_hold_seconds',
    'The age of the oldest hold of all nodes.',
    'oldestHoldSeconds',
  ],
  [
    'catraca_orphaned_holds',
    'Holds whose node was fenced, stopped, or is silent for longer than its lease.',
    'orphanedHolds',
  ],
  [
    'catraca_oldest_orphaned_hold_seconds',
    'The age of the oldest of them; 0 if there is none.',
    'oldestOrphanedHoldSeconds',
  ],
  ['catraca_nodes_alive', 'Nodes that hold their lease.', 'nodesAlive'],
  [
    'catraca_nodes_silent',
    'Nodes that neither stopped nor were fenced, and are silent for longer than their lease.',
    'nodesSilent',
  ],
  ['catraca_accounts_in_debt', 'Accounts below zero.', 'accountsInDebt'],
  ['catraca_debt_brl', 'The debts of these accounts, in reais.', 'debtBrl'],
  [
    'catraca_delivery_discrepancies',
    'Delivered answers whose charge is missing or differs. Look into each.',
    'deliveryDiscrepancies',
  ],
  [
    'catraca_audit_breached_seals',
    'Slices of settled charges that broke an invariant when they were sealed. Run the audit.',
    'breachedSeals',
  ],
  [
    'catraca_usage_destinations_failing',
    "Customers' destinations of usage that take nothing now, or were switched off because of it.",
    'failingDestinations',
  ],
  [
    'catraca_deleted_accounts_owed',
    'Amounts of deleted accounts that an operator has to pay out. See the runbook.',
    'owedByDeletedAccounts',
  ],
]
