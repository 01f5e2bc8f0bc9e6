/**
 * What runs beside the calls. Timers of this node: heartbeat, checkpoints, reconciliation. Jobs of all
 * nodes together, each run by one of them: the exchange rate and the months of usage, by pg-boss.
 */
import { PgBoss } from 'pg-boss'
import type { KeyUses } from '../customers/key-uses.ts'
import type { Database } from '../db/open.ts'
import { reconcile } from '../gateway/reconcile.ts'
import type { Router } from '../gateway/routing/create-router.ts'
import type { RunningCalls } from '../gateway/running-calls.ts'
import type { HealthRecorder } from '../health/health-recorder.ts'
import { pruneHealth } from '../health/prune-health.ts'
import { pruneImages } from '../images/generated-images.ts'
import { beat, HEARTBEAT_MS } from '../ledger/nodes.ts'
import type { Ledger } from '../ledger/open-ledger.ts'
import { rollUsageDays } from '../ledger/roll-usage-days.ts'
import type { Log } from '../lib/log.ts'
import { eraseDeletedAccounts } from '../personal-data/erase-remains.ts'
import { ensureMonths } from './ensure-months.ts'
import { createReportIncidents } from './report-incidents.ts'

export interface Workers {
  stop(): Promise<void>
}

export interface WorkerDeps {
  readonly db: Database
  readonly databaseUrl: string
  readonly ledger: Ledger
  readonly calls: RunningCalls
  readonly nodeId: string
  readonly router: Router
  readonly health: HealthRecorder
  readonly keyUses: KeyUses
  readonly log: Log
  /** Undefined in sandbox mode, where the rate is fixed. */
  readonly refreshFxRate: (() => Promise<void>) | undefined
}

const MARK_EVERY_MS = 100
const RECONCILE_EVERY_MS = 15_000
/** While settlements wait on the disk, the database is asked again this often. */
const SPOOL_EVERY_MS = 1_000
const HEALTH_EVERY_MS = 10_000
const KEY_USES_EVERY_MS = 3_000
/** Within the lease of an incident, several times. */
const INCIDENTS_EVERY_MS = 10_000

export async function startWorkers(deps: WorkerDeps): Promise<Workers> {
  const { db, ledger, calls, nodeId, health, keyUses, log } = deps
  const timers = [
    every(HEARTBEAT_MS, 'heartbeat', log, () => beat(db, nodeId)),
    every(MARK_EVERY_MS, 'mark', log, async () => {
      const marks = calls.takeDueMarks()
      if (marks.length > 0) await ledger.mark(marks)
    }),
    every(SPOOL_EVERY_MS, 'replay_spool', log, () => ledger.replaySpool()),
    every(
      RECONCILE_EVERY_MS,
      'reconcile',
      log,
      async () => void (await reconcile({ db, ledger, calls, nodeId, log })),
    ),
    every(HEALTH_EVERY_MS, 'flush_health', log, () => health.flush()),
    every(KEY_USES_EVERY_MS, 'flush_key_uses', log, () => keyUses.flush()),
    every(INCIDENTS_EVERY_MS, 'report_incidents', log, createReportIncidents(deps)),
  ]
  const jobs = await startJobs(deps)
  return {
    async stop() {
      await jobs
        .stop({ graceful: true, timeout: 5_000 })
        .catch((error: unknown) => log.warn('jobs_stop_failed', { error }))
      await Promise.all(timers.map((timer) => timer.stop()))
    },
  }
}

async function startJobs(deps: WorkerDeps): Promise<PgBoss> {
  const { db, log, refreshFxRate } = deps
  const boss = new PgBoss({
    connectionString: deps.databaseUrl,
    schema: 'jobs',
    max: 3,
    application_name: 'catraca-jobs',
  })
  boss.on('error', (error) => log.warn('jobs_failed', { error }))
  await boss.start()
  const handlers: Record<string, { cron: string; run: () => Promise<void> }> = {
    // Months are made long before they come: a failed run has weeks to be noticed.
    'ensure-months': { cron: '17 3 * * *', run: () => ensureMonths(db) },
    // Soon after midnight of UTC; again, should a run have failed.
    'roll-usage-days': { cron: '7 * * * *', run: async () => void (await rollUsageDays(db)) },
    'prune-health': { cron: '37 3 * * *', run: async () => void (await pruneHealth(db)) },
    // Requests begin it and mostly end it.
    'erase-deleted-accounts': {
      cron: '*/5 * * * *',
      run: async () => void (await eraseDeletedAccounts(db)),
    },
    'prune-images': { cron: '*/10 * * * *', run: () => pruneImages(db) },
    // The rate of a business day is published soon after 13:00 in Brasília (16:00 UTC).
    ...(refreshFxRate ? { 'refresh-fx-rate': { cron: '*/15 * * * *', run: refreshFxRate } } : {}),
  }
  for (const [name, { cron, run }] of Object.entries(handlers)) {
    await boss.createQueue(name, { retryLimit: 3, retryBackoff: true })
    await boss.work(name, async () => run())
    await boss.schedule(name, cron)
  }
  return boss
}

interface Timer {
  stop(): Promise<void>
}

/** Runs one after the other, never two at once; a failure is logged and the next run comes. */
function every(ms: number, name: string, log: Log, run: () => Promise<void>): Timer {
  let running: Promise<void> | undefined
  const timer = setInterval(() => {
    running ??= run()
      .catch((error: unknown) => log.warn('worker_failed', { name, error }))
      .finally(() => (running = undefined))
  }, ms)
  return {
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
