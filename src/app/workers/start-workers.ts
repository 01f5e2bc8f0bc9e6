/**
 * Background jobs: timers of this node, for its own state (heartbeat, checkpoints) and for due rows (`db/due-rows.ts`),
 * which all nodes share; and scheduled jobs of pg-boss, each of which one node runs for all.
 */
import type { Catalog } from '../../money/catalog/catalog.ts'
import { evaluateAlerts } from '../../deliveries/alerts/evaluate-alerts.ts'
import { createPauseSpendingKeys } from '../../deliveries/alerts/pause-spending-keys.ts'
import { warnOfLowBalance } from '../../deliveries/alerts/warn-of-low-balance.ts'
import { findStoppedKeys } from '../../customers/pause-keys.ts'
import type { KeyUses } from '../../customers/key-uses.ts'
import type { ShieldCounts } from '../../customers/shield-counts.ts'
import type { Database } from '../../platform/db/open.ts'
import { queueDigests } from '../../deliveries/email/queue-digests.ts'
import { sendDueMails, type SendDeps } from '../../deliveries/email/send-due-mails.ts'
import { dispatchEvents, type EventHandler } from '../../platform/events/dispatch-events.ts'
import { reconcile, reconcileOwn } from '../../gateway/calls/reconcile.ts'
import type { Router } from '../../gateway/calls/routing/create-router.ts'
import type { RunningCalls } from '../../gateway/calls/running-calls.ts'
import type { HealthRecorder } from '../../platform/health/health-recorder.ts'
import { readBacklog, type Backlog } from '../../platform/health/read-backlog.ts'
import { sealUsage } from '../../money/ledger/audit/audit-seals.ts'
import { LEASE_SECONDS, type Lease } from '../../money/ledger/lease.ts'
import { deleteWaitingUsers } from '../../identity/delete-user.ts'
import type { Ledger } from '../../money/ledger/open-ledger.ts'
import type { KeptNotes } from '../../money/ledger/deliveries/keep-notes.ts'
import { verifyDeliveries } from '../../money/ledger/deliveries/verify-deliveries.ts'
import { rollUsageDays } from '../../money/ledger/roll-usage-days.ts'
import type { Log } from '../../platform/lib/log.ts'
import type { Processor } from '../../money/payments/processor.ts'
import {
  rewardDueReferrals,
  type ReferralProgramme,
} from '../../money/payments/referral-rewards/reward-due-referrals.ts'
import { takeBackRewards } from '../../money/payments/referral-rewards/take-back-rewards.ts'
import { processRefunds } from '../../money/payments/refunds/process-refunds.ts'
import { removePayers } from '../../money/payments/remove-payers.ts'
import { sweepTopUps } from '../../money/payments/sweep-top-ups.ts'
import { handleEvents } from '../../money/payments/take-event.ts'
import { topUpAutomatically } from '../../money/payments/top-up-automatically.ts'
import { eraseDeletedAccounts } from '../../identity/personal-data/erase-remains.ts'
import { countOpenDiscrepancies } from '../../money/reconciliation/discrepancies.ts'
import { compareUpstreamCosts } from '../../money/reconciliation/upstream-costs.ts'
import type { RefusalCounts } from '../../money/usage/refusal-counts.ts'
import { archiveDueMonths, type DueMonths } from '../../money/months/archive-due-months.ts'
import type { Margins } from '../../money/usage/margins.ts'
import { createCompleteTime } from '../../deliveries/usage-destinations/create-complete-time.ts'
import { createUsageExport } from '../../deliveries/usage-destinations/create-usage-export.ts'
import { createResponseStore } from '../../customers/stored-responses/response-store.ts'
import { createWebhookDelivery } from '../../deliveries/webhooks/webhook-delivery.ts'
import type { WebhookSettings } from '../../deliveries/webhooks/webhook-settings.ts'
import { keepMonthsAhead } from './ensure-months.ts'
import { mailDisabledDestination } from './mail-disabled-destination.ts'
import { mailDisabledWebhook } from './mail-disabled-webhook.ts'
import type { Job } from './job.ts'
import { inMinutes } from './in-minutes.ts'
import { listPruning } from './list-pruning.ts'
import { comparePayments } from './compare-payments.ts'
import { comparePrices, countPriceDifferences, type PriceWatch } from './compare-prices.ts'
import { every, type Timer, type TimerState } from './every.ts'
import { notifyPriceChanges } from './notify-price-changes.ts'
import { openJobs, type OpenJobs } from './open-jobs.ts'
import { createReportIncidents } from './report-incidents.ts'
import { scheduleJobs } from './schedule-jobs.ts'

export interface Workers {
  /** Processes the events of the payment processor now, before the next turn of their timer. */
  wakeProcessorEvents(): void
  /** The timers of this node. */
  listTimers(): readonly TimerState[]
  stop(): Promise<void>
}

/** No background jobs, so that only requests change rows: for tests that compare every row. */
export const NO_WORKERS: Workers = {
  wakeProcessorEvents() {},
  listTimers: () => [],
  async stop() {},
}

export interface WorkerDeps {
  /** A worker has timers for its own state only; its parent runs the rest for all. */
  readonly role: 'alone' | 'parent' | 'worker'
  readonly db: Database
  readonly databaseUrl: string
  readonly ledger: Ledger
  readonly calls: RunningCalls
  readonly lease: Lease
  readonly deliveriesDir: string
  readonly keptNotes: KeptNotes
  readonly router: Router
  readonly health: HealthRecorder
  readonly keyUses: KeyUses
  readonly shieldCounts: ShieldCounts
  readonly refusalCounts: RefusalCounts
  /** Undefined if nobody can top up. */
  readonly processor: Processor | undefined
  readonly mail: SendDeps
  readonly webhooks: WebhookSettings
  readonly referrals: ReferralProgramme
  /** Each handles every event of the outbox. */
  readonly eventHandlers: readonly EventHandler[]
  readonly log: Log
  /** For the metric: the number of unexplained discrepancies. */
  onOpenDiscrepancies(count: number): void
  /** For the metrics: the work and the faults that wait in the database. */
  onBacklog(backlog: Backlog): void
  /** For the metric: the number of models whose prices differ from the price data. */
  onPriceDifferences(count: number): void
  /** Undefined in sandbox mode, where the rate is fixed. */
  readonly refreshFxRate: (() => Promise<void>) | undefined
  readonly catalog: Catalog
  readonly prices: PriceWatch
  /** Reads the operators' changes, in case a notification was missed. */
  readonly reloadCatalog: () => Promise<void>
  /** Reads the exchange rate in force, for the same reason. */
  readonly reloadFxRate: () => Promise<void>
  readonly reloadEveryMs: number
  readonly margins: Margins
  /** Undefined: months leave by the command line only. */
  readonly dueMonths: DueMonths | undefined
}

const CHECKPOINT_EVERY_MS = 100
const RECONCILE_EVERY_MS = 5_000
/** How often settlements in the spool are retried. */
const SPOOL_EVERY_MS = 1_000
/** The interval at which delivery notes begin a new file. */
const DELIVERIES_EVERY_MS = 30_000
/** What was stopped still runs for at most so long. */
const STOPPED_KEYS_EVERY_MS = 10_000
const HEALTH_EVERY_MS = 10_000
const EVENTS_EVERY_MS = 1_000
const MAILS_EVERY_MS = 2_000
const PROCESSOR_EVENTS_EVERY_MS = 2_000
const SWEEP_EVERY_MS = 30_000
const ALERTS_EVERY_MS = 30_000
const REFUNDS_EVERY_MS = 5_000
const AUTOMATIC_EVERY_MS = 5_000
const PAYER_REMOVALS_EVERY_MS = 15_000
const WEBHOOKS_EVERY_MS = 1_000
/** A test of a destination waits so long. */
const USAGE_EVERY_MS = 2_000
const KEY_USES_EVERY_MS = 3_000
const SHIELD_COUNTS_EVERY_MS = 3_000
/** A customer who looks at the page sees a refusal soon after it. */
const REFUSALS_EVERY_MS = 2_000
/** Several times within the lease of an incident. */
const INCIDENTS_EVERY_MS = 10_000
const DIFFERENCES_EVERY_MS = 60_000
const BACKLOG_EVERY_MS = 15_000
/** Days that are compared again, for charges that were settled late and imports that were missed. */
const COSTS_COMPARED_DAYS = 35
/** One run caches the margins of a week: three months are cached a quarter of an hour after the start. */
const MARGINS_EVERY_MS = 60_000

export async function startWorkers(deps: WorkerDeps): Promise<Workers> {
  const own = startOwnTimers(deps)
  const shared = deps.role === 'worker' ? undefined : await startSharedWork(deps)
  const timers = [...own, ...(shared?.timers ?? [])]
  return {
    wakeProcessorEvents: () => shared?.wakeProcessorEvents(),
    listTimers: () => timers.map(({ state }) => state),
    async stop() {
      await shared?.stopJobs()
      await Promise.all(timers.map((timer) => timer.stop()))
      await shared?.stopDelivery()
    },
  }
}

/** The timers of this node's own state. */
function startOwnTimers(deps: WorkerDeps): Timer[] {
  const { db, ledger, lease, calls, health, keyUses, shieldCounts, refusalCounts, log } = deps
  const reconcileAs = deps.role === 'worker' ? reconcileOwn : reconcile
  return [
    every(CHECKPOINT_EVERY_MS, 'checkpoint', log, async () => {
      const due = calls.takeDueCheckpoints()
      if (due.length > 0) calls.recordDurable(await ledger.checkpoint(due))
    }),
    every(SPOOL_EVERY_MS, 'replay_spool', log, () => ledger.replaySpool()),
    every(RECONCILE_EVERY_MS, 'reconcile', log, () =>
      reconcileAs({ db, ledger, lease, calls, log }),
    ),
    every(STOPPED_KEYS_EVERY_MS, 'end_calls_of_stopped_keys', log, async () => {
      const running = calls.keyIds()
      if (running.length > 0) calls.cutOff(await findStoppedKeys(db, running))
    }),
    every(HEALTH_EVERY_MS, 'flush_health', log, () => health.flush()),
    every(KEY_USES_EVERY_MS, 'flush_key_uses', log, () => keyUses.flush()),
    every(SHIELD_COUNTS_EVERY_MS, 'flush_shield_counts', log, () => shieldCounts.flush()),
    every(REFUSALS_EVERY_MS, 'flush_refusals', log, () => refusalCounts.flush()),
    every(
      INCIDENTS_EVERY_MS,
      'report_incidents',
      log,
      createReportIncidents({ ...deps, nodeId: () => lease.nodeId() }),
    ),
    every(jittered(deps.reloadEveryMs), 'reload_catalog', log, deps.reloadCatalog),
    every(jittered(deps.reloadEveryMs), 'reload_fx_rate', log, deps.reloadFxRate),
    every(MARGINS_EVERY_MS, 'prepare_margins', log, () => deps.margins.prepare()),
  ]
}

interface SharedWork {
  readonly timers: readonly Timer[]
  wakeProcessorEvents(): void
  stopJobs(): Promise<void>
  stopDelivery(): Promise<void>
}

/** The work on rows that all nodes share, and the scheduled jobs. */
async function startSharedWork(deps: WorkerDeps): Promise<SharedWork> {
  const { db, ledger, log } = deps
  const delivery = createWebhookDelivery({
    db,
    settings: deps.webhooks,
    onDisabled: mailDisabledWebhook,
    log,
  })
  const usageExport = createUsageExport({
    db,
    settings: deps.webhooks,
    catalog: deps.catalog,
    store: createResponseStore({ db, ...deps.webhooks }),
    completeTime: createCompleteTime(db, {}),
    onDisabled: mailDisabledDestination,
    log,
  })
  const backlog = every(BACKLOG_EVERY_MS, 'read_backlog', log, async () =>
    deps.onBacklog(await readBacklog(db, LEASE_SECONDS)),
  )
  backlog.wake()
  const timers = [
    backlog,
    every(DELIVERIES_EVERY_MS, 'verify_deliveries', log, () =>
      verifyDeliveries({
        db,
        dir: deps.deliveriesDir,
        kept: deps.keptNotes,
        log,
        isSpooled: (id) => ledger.isSpooled(id),
      }),
    ),
    every(DIFFERENCES_EVERY_MS, 'count_differences', log, async () => {
      deps.onOpenDiscrepancies(await countOpenDiscrepancies(db))
      deps.onPriceDifferences(await countPriceDifferences(db))
    }),
    every(EVENTS_EVERY_MS, 'dispatch_events', log, () =>
      dispatchEvents(db, deps.eventHandlers, log),
    ),
    every(MAILS_EVERY_MS, 'send_mails', log, () => sendDueMails(db, deps.mail)),
    every(ALERTS_EVERY_MS, 'look_at_alerts', log, () =>
      evaluateAlerts(db, { now: new Date(), log }),
    ),
    every(ALERTS_EVERY_MS, 'look_at_balances', log, () =>
      warnOfLowBalance(db, { now: new Date(), log }),
    ),
    every(WEBHOOKS_EVERY_MS, 'deliver_webhooks', log, () => delivery.deliverDueWebhooks()),
    every(USAGE_EVERY_MS, 'send_usage', log, () => usageExport.sendDue()),
  ]
  const processorEvents = startProcessorTimers(deps, timers)
  const jobs = await startJobs(deps)
  return {
    timers,
    wakeProcessorEvents: () => processorEvents?.wake(),
    stopJobs: () => jobs.stop().catch((error: unknown) => log.warn('jobs_stop_failed', { error })),
    stopDelivery: async () => void (await Promise.all([delivery.stop(), usageExport.stop()])),
  }
}

/** The timers that query the payment processor; empty if nobody can top up. */
function startProcessorTimers(
  { db, processor, webhooks, log }: WorkerDeps,
  timers: Timer[],
): Timer | undefined {
  if (!processor) return undefined
  const events = every(PROCESSOR_EVENTS_EVERY_MS, 'processor_events', log, () =>
    handleEvents(db, processor, log),
  )
  const sweep = every(SWEEP_EVERY_MS, 'sweep_top_ups', log, () => sweepTopUps(db, processor, log))
  const refunds = every(REFUNDS_EVERY_MS, 'process_refunds', log, () =>
    processRefunds(db, processor, log),
  )
  const automatic = every(AUTOMATIC_EVERY_MS, 'automatic_top_ups', log, () =>
    topUpAutomatically(db, { processor, keys: webhooks, log }),
  )
  const removals = every(PAYER_REMOVALS_EVERY_MS, 'remove_payers', log, () =>
    removePayers(db, processor, log),
  )
  timers.push(events, refunds, sweep, automatic, removals)
  return events
}

async function startJobs(deps: WorkerDeps): Promise<OpenJobs> {
  const { db, log, processor, refreshFxRate } = deps
  const jobs = await openJobs(deps.databaseUrl, log)
  const handlers: Record<string, Job> = {
    // Partitions are created long before their months begin, so there are weeks to notice a failed run.
    'ensure-months': { cron: '17 3 * * *', run: () => keepMonthsAhead(db, log) },
    // Every hour, so that the day is rolled up soon after midnight UTC and a failed run is repeated.
    'roll-usage-days': { cron: '7 * * * *', run: () => rollUsageDays(db) },
    // A backlog takes hours, at a tenth of a core: the next run continues where the last one stopped.
    'seal-usage': {
      cron: '27 * * * *',
      run: () => sealUsage(db, { isOver: inMinutes(50) }),
      queue: { retryDelay: 60, expireInSeconds: 3_600 },
    },
    // In quiet hours; a large month takes hours, and a month that was begun is ended.
    ...(deps.dueMonths ? { 'archive-months': archiveMonthsJob(deps, deps.dueMonths) } : {}),
    'queue-digests': {
      cron: '*/15 * * * *',
      run: () => queueDigests(db, new Date()),
    },
    'notify-price-changes': { cron: '* * * * *', run: () => notifyPriceChanges(db, deps.catalog) },
    // A reward becomes due by time alone. Rewards are taken back before new ones are granted, so that the order benefits nobody.
    'reward-referrals': { cron: '* * * * *', run: () => rewardReferrals(deps) },
    // One node looks for all. It sees a charge about a minute after it is settled.
    'pause-spending-keys': { cron: '* * * * *', run: createPauseSpendingKeys({ db, log }) },
    // The request to delete an account mostly ends the erasure too; this job does the rest.
    'erase-deleted-accounts': {
      cron: '*/5 * * * *',
      run: () => eraseDeletedAccounts(db),
    },
    // Users who were deleted at the identity provider while a call or a balance kept their account.
    'delete-waiting-users': { cron: '*/5 * * * *', run: () => deleteWaitingUsers(db, log) },
    // At night in Brasília; repeated if the processor does not answer.
    ...(processor
      ? {
          'compare-payments': {
            cron: '23 6 * * *',
            run: () => comparePayments({ db, processor, log }),
            queue: { retryDelay: 900, expireInSeconds: 3_600 },
          },
        }
      : {}),
    'compare-upstream-costs': { cron: '53 6 * * *', run: () => compareLateCosts(db, log) },
    // Every hour, so that the operator learns of a replaced file of price data on the same day.
    'compare-prices': {
      cron: '33 * * * *',
      run: () => comparePrices({ db, log, catalog: deps.catalog, watch: deps.prices }),
    },
    ...listPruning(db),
    // The rate of a business day is published soon after 13:00 in Brasília (16:00 UTC).
    ...(refreshFxRate ? { 'refresh-fx-rate': { cron: '*/15 * * * *', run: refreshFxRate } } : {}),
  }
  await scheduleJobs(jobs.boss, handlers)
  return jobs
}

/** Spreads the reads of nodes that started at the same time. */
function jittered(ms: number): number {
  return Math.round(ms * (0.9 + 0.2 * Math.random()))
}

async function rewardReferrals({ db, referrals, webhooks, log }: WorkerDeps): Promise<void> {
  const keys = { current: webhooks.sealingKey, previous: webhooks.previousSealingKey }
  await takeBackRewards(db, log)
  await rewardDueReferrals(db, referrals, keys, log)
}

function archiveMonthsJob({ db, log }: WorkerDeps, dueMonths: DueMonths): Job {
  return {
    cron: '11 5 * * *',
    run: () => archiveDueMonths(db, dueMonths, { log, isOver: inMinutes(60) }),
    queue: { retryDelay: 900, expireInSeconds: 43_200 },
  }
}

function compareLateCosts(db: Database, log: Log): Promise<unknown> {
  const now = new Date()
  const first = new Date(now.getTime() - COSTS_COMPARED_DAYS * 86_400_000)
  return compareUpstreamCosts(db, { fromDay: first.toISOString().slice(0, 10), now }, log)
}
