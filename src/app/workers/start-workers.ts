/**
 * Background jobs: timers of this node, for its own state (heartbeat, checkpoints) and for due rows (`db/due-rows.ts`),
 * which all nodes share; and scheduled jobs of pg-boss, each of which one node runs for all.
 */
import { evaluateAlerts } from '../../deliveries/alerts/evaluate-alerts.ts'
import { createPauseSpendingKeys } from '../../deliveries/alerts/pause-spending-keys.ts'
import { warnOfLowBalance } from '../../deliveries/alerts/warn-of-low-balance.ts'
import { findStoppedKeys } from '../../customers/pause-keys.ts'
import type { Database } from '../../platform/db/open.ts'
import { queueDigests } from '../../deliveries/email/queue-digests.ts'
import { queueIncidentMails } from '../../deliveries/email/queue-incident-mails.ts'
import { sendDueMails } from '../../deliveries/email/send-due-mails.ts'
import { dispatchEvents } from '../../platform/events/dispatch-events.ts'
import { reconcile, reconcileOwn } from '../../gateway/calls/reconcile.ts'
import { settleVideos } from '../../gateway/calls/videos/settle-videos.ts'
import { readBacklog, type Backlog } from '../../platform/health/read-backlog.ts'
import { sealUsage } from '../../money/ledger/audit/audit-seals.ts'
import { LEASE_SECONDS } from '../../money/ledger/lease.ts'
import { deleteWaitingUsers } from '../../identity/delete-user.ts'
import { verifyDeliveries } from '../../money/ledger/deliveries/verify-deliveries.ts'
import { sumModelSpeeds } from '../../money/usage/model-speeds.ts'
import { rollUsageDays } from '../../money/ledger/roll-usage-days.ts'
import type { Log } from '../../platform/lib/log.ts'
import {
  rewardDueReferrals,
  takeBackRewards,
} from '../../money/payments/referral-rewards/reward-due-referrals.ts'
import { processRefunds } from '../../money/payments/refunds/process-refunds.ts'
import { removePayers } from '../../money/payments/payers.ts'
import { sweepTopUps } from '../../money/payments/sweep-top-ups.ts'
import { handleEvents } from '../../money/payments/take-event.ts'
import { topUpAutomatically } from '../../money/payments/top-up-automatically.ts'
import { eraseDeletedAccounts } from '../../identity/personal-data/erase-remains.ts'
import { countOpenDiscrepancies } from '../../money/reconciliation/discrepancies.ts'
import { compareUpstreamCosts } from '../../money/reconciliation/upstream-costs.ts'
import { countPendingPrices } from '../../money/catalog/price-updates.ts'
import { archiveDueMonths, type DueMonths } from '../../money/months/archive-due-months.ts'
import { createCompleteTime } from '../../deliveries/usage-destinations/read-unsent.ts'
import { createUsageExport } from '../../deliveries/usage-destinations/send-usage.ts'
import { createResponseStore } from '../../customers/stored-responses/response-store.ts'
import { createWebhookDelivery } from '../../deliveries/webhooks/webhook-delivery.ts'
import { queueMails } from '../../deliveries/email/queue-mails.ts'
import { queueWebhooks } from '../../deliveries/webhooks/queue-messages.ts'
import type { Config } from '../config/config.ts'
import { openArchiveStore } from '../config/resolve-archive.ts'
import type { Parts } from '../open-parts.ts'
import { watchBacklog } from '../watch-backlog.ts'
import { refreshFxRate } from './refresh-fx-rate.ts'
import { keepMonthsAhead } from './ensure-months.ts'
import { type Job, openJobs, type OpenJobs, scheduleJobs } from './open-jobs.ts'
import { inMinutes, listPruning } from './list-pruning.ts'
import { comparePayments } from './compare-payments.ts'
import { every, type Timer, type TimerState } from './every.ts'
import { readUpstreamLists } from './read-upstream-lists.ts'
import { notifyModelEnds } from './notify-model-ends.ts'
import { notifyPriceChanges } from './notify-price-changes.ts'
import { priceJobs, renewOldPrices } from './renew-prices.ts'
import { createReportIncidents } from './report-incidents.ts'
import { type BatchRunner, RENEW_EVERY_MS } from './run-batches.ts'

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
const BATCHES_EVERY_MS = 1_000
const VIDEOS_EVERY_MS = 1_000
/** Several times within the lease of an incident. */
const INCIDENTS_EVERY_MS = 10_000
const DIFFERENCES_EVERY_MS = 60_000
const BACKLOG_EVERY_MS = 15_000
/** Days that are compared again, for charges that were settled late and imports that were missed. */
const COSTS_COMPARED_DAYS = 35
/** One run caches the margins of a week: three months are cached a quarter of an hour after the start. */
const MARGINS_EVERY_MS = 60_000

/** A worker has timers for its own state only; its parent runs the rest for all. */
export async function startWorkers(
  parts: Parts,
  databaseUrl: string,
  reloadEveryMs: number,
  /** Undefined for a parent, which calls no models. */
  batches?: BatchRunner,
): Promise<Workers> {
  const own = [...startOwnTimers(parts, reloadEveryMs), ...startBatchTimers(parts, batches)]
  const shared =
    parts.place.role === 'worker' ? undefined : await startSharedWork(parts, databaseUrl)
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
function startOwnTimers(parts: Parts, reloadEveryMs: number): Timer[] {
  const { db, ledger, lease, calls, health, keyUses, shieldCounts, refusalCounts, log } = parts
  const reconcileAs = parts.place.role === 'worker' ? reconcileOwn : reconcile
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
      createReportIncidents({ ...parts, nodeId: () => lease.nodeId() }),
    ),
    every(jittered(reloadEveryMs), 'reload_catalog', log, parts.reloadCatalog),
    every(jittered(reloadEveryMs), 'reload_fx_rate', log, () => parts.fxRate.reload()),
    every(MARGINS_EVERY_MS, 'prepare_margins', log, () => parts.margins.prepare()),
  ]
}

function startBatchTimers({ log }: Parts, batches: BatchRunner | undefined): Timer[] {
  if (!batches) return []
  return [
    every(BATCHES_EVERY_MS, 'call_batch_lines', log, () => batches.startDue()),
    every(RENEW_EVERY_MS, 'renew_batch_lines', log, () => batches.renew()),
  ]
}

interface SharedWork {
  readonly timers: readonly Timer[]
  wakeProcessorEvents(): void
  stopJobs(): Promise<void>
  stopDelivery(): Promise<void>
}

/** The work on rows that all nodes share, and the scheduled jobs. */
async function startSharedWork(parts: Parts, databaseUrl: string): Promise<SharedWork> {
  const { db, ledger, metrics, log } = parts
  const delivery = createWebhookDelivery({ db, settings: parts.webhooks, log })
  const usageExport = createUsageExport({
    db,
    settings: parts.webhooks,
    catalog: parts.catalog,
    store: createResponseStore({ db, ...parts.webhooks }),
    completeTime: createCompleteTime(db, {}),
    log,
  })
  let backlog: Backlog | undefined
  watchBacklog(metrics, () => backlog)
  const readingBacklog = every(BACKLOG_EVERY_MS, 'read_backlog', log, async () => {
    backlog = await readBacklog(db, LEASE_SECONDS)
  })
  readingBacklog.wake()
  const timers = [
    readingBacklog,
    every(DELIVERIES_EVERY_MS, 'verify_deliveries', log, () =>
      verifyDeliveries({
        db,
        dir: parts.deliveriesDir,
        kept: parts.keptNotes,
        log,
        isSpooled: (id) => ledger.isSpooled(id),
      }),
    ),
    every(DIFFERENCES_EVERY_MS, 'count_differences', log, async () => {
      metrics.openDifferences(await countOpenDiscrepancies(db))
      metrics.priceDifferences(await countPendingPrices(db))
    }),
    every(EVENTS_EVERY_MS, 'dispatch_events', log, () =>
      dispatchEvents(db, [queueMails, queueWebhooks], log),
    ),
    every(MAILS_EVERY_MS, 'queue_incident_mails', log, () => queueIncidentMails(db)),
    every(MAILS_EVERY_MS, 'send_mails', log, () => sendDueMails(db, parts)),
    every(ALERTS_EVERY_MS, 'look_at_alerts', log, () =>
      evaluateAlerts(db, { now: new Date(), log }),
    ),
    every(ALERTS_EVERY_MS, 'look_at_balances', log, () =>
      warnOfLowBalance(db, { now: new Date(), log }),
    ),
    every(WEBHOOKS_EVERY_MS, 'deliver_webhooks', log, () => delivery.startDue()),
    every(VIDEOS_EVERY_MS, 'settle_videos', log, () => settleVideos(parts)),
    every(USAGE_EVERY_MS, 'send_usage', log, () => usageExport.startDue()),
  ]
  const processorEvents = startProcessorTimers(parts, timers)
  const jobs = await startJobs(parts, databaseUrl)
  return {
    timers,
    wakeProcessorEvents: () => processorEvents?.wake(),
    stopJobs: () => jobs.stop().catch((error: unknown) => log.warn('jobs_stop_failed', { error })),
    stopDelivery: async () => void (await Promise.all([delivery.stop(), usageExport.stop()])),
  }
}

/** The timers that query the payment processor; empty if nobody can top up. */
function startProcessorTimers(
  { db, payments: { processor }, webhooks, log }: Parts,
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

async function startJobs(parts: Parts, databaseUrl: string): Promise<OpenJobs> {
  const { config, db, catalog, fxRate, log } = parts
  const { processor } = parts.payments
  const dueMonths = dueMonthsOf(config)
  const jobs = await openJobs(databaseUrl, log)
  const handlers: Record<string, Job> = {
    // Partitions are created long before their months begin, so there are weeks to notice a failed run.
    'ensure-months': { cron: '17 3 * * *', run: () => keepMonthsAhead(db, log) },
    // Every hour, so that the day is rolled up soon after midnight UTC and a failed run is repeated.
    'roll-usage-days': { cron: '7 * * * *', run: () => rollUsageDays(db) },
    // After the hour, when the last of its settlements can be seen.
    'sum-model-speeds': { cron: '11 * * * *', run: () => sumModelSpeeds(db) },
    // A backlog takes hours, at a tenth of a core: the next run continues where the last one stopped.
    'seal-usage': {
      cron: '27 * * * *',
      run: () => sealUsage(db, { isOver: inMinutes(50) }),
      queue: { retryDelay: 60, expireInSeconds: 3_600 },
    },
    // In quiet hours; a large month takes hours, and a month that was begun is ended.
    ...(dueMonths ? { 'archive-months': archiveMonthsJob(parts, dueMonths) } : {}),
    'queue-digests': {
      cron: '*/15 * * * *',
      run: () => queueDigests(db, new Date()),
    },
    'notify-price-changes': {
      cron: '* * * * *',
      run: () => notifyPriceChanges(db, catalog, fxRate.current()?.rateE4),
    },
    // In the morning in Brasília, after the upstreams' lists were read. No sandbox model ends.
    ...(config.mode === 'live'
      ? { 'notify-model-ends': { cron: '11 12 * * *', run: () => notifyModelEnds(db, catalog) } }
      : {}),
    // A reward becomes due by time alone. Rewards are taken back before new ones are granted, so that the order benefits nobody.
    'reward-referrals': { cron: '* * * * *', run: () => rewardReferrals(parts) },
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
    ...priceJobs(parts),
    ...(config.discovery
      ? { 'read-upstream-lists': { cron: '41 7 * * *', run: () => readListsNow(parts) } }
      : {}),
    ...listPruning(db),
    // The rate of a business day is published soon after 13:00 in Brasília (16:00 UTC).
    // In sandbox mode the rate is fixed.
    ...(config.mode === 'live'
      ? { 'refresh-fx-rate': { cron: '*/15 * * * *', run: () => refreshFxRate(db, log) } }
      : {}),
  }
  await scheduleJobs(jobs.boss, handlers)
  // A start may bring another key, or newer price data.
  void readListsNow(parts)
  void renewOldPrices(parts)
  return jobs
}

/** Also of the upstreams that operators added. */
function readListsNow(parts: Parts): Promise<void> {
  return readUpstreamLists({ ...parts, config: parts.settingsNow() })
}

/** Spreads the reads of nodes that started at the same time. */
function jittered(ms: number): number {
  return Math.round(ms * (0.9 + 0.2 * Math.random()))
}

async function rewardReferrals({ db, referrals, webhooks, log }: Parts): Promise<void> {
  const keys = { current: webhooks.sealingKey, previous: webhooks.previousSealingKey }
  await takeBackRewards(db, log)
  await rewardDueReferrals(db, referrals, keys, log)
}

/** Undefined: months leave by the command line only. */
function dueMonthsOf({ archive }: Config): DueMonths | undefined {
  return archive?.afterMonths === undefined
    ? undefined
    : { store: openArchiveStore(archive), afterMonths: archive.afterMonths }
}

function archiveMonthsJob({ db, log }: Parts, dueMonths: DueMonths): Job {
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
