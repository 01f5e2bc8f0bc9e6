import type { Pool } from 'pg'
import { createKeyCache, type KeyCache } from '../customers/key-cache.ts'
import { createKeyUses, type KeyUses } from '../customers/key-uses.ts'
import { createShieldCounts, type ShieldCounts } from '../customers/shield-counts.ts'
import { type Database, openDatabase, type OpenDatabase } from '../platform/db/open.ts'
import {
  noReplicas,
  openReadReplicas,
  type ReadReplicas,
} from '../platform/db/replicas/open-read-replicas.ts'
import {
  createStoredConversations,
  type StoredConversations,
} from '../gateway/calls/chat/formats/responses/stored-conversation.ts'
import { createLimitsView, type LimitsView } from '../gateway/calls/limits.ts'
import { createRunningCalls, type RunningCalls } from '../gateway/calls/running-calls.ts'
import { createRouter, type Router } from '../gateway/calls/routing/create-router.ts'
import { listAddedModels } from '../money/catalog/added-models.ts'
import { openAddedUpstreams } from '../money/catalog/added-upstreams.ts'
import { createHealthRecorder, type HealthRecorder } from '../platform/health/health-recorder.ts'
import { createShare, type Share, type ShareLimits } from '../platform/admission/share.ts'
import { createReadiness, type Readiness } from '../platform/health/readiness.ts'
import { openLease, type Lease } from '../money/ledger/lease.ts'
import { createLineWriter, type LineWriter } from '../platform/lib/line-writer.ts'
import type { Log } from '../platform/lib/log.ts'
import { watchLateness, type Lateness } from '../platform/admission/lateness.ts'
import { createPace, type Pace } from '../platform/admission/rate.ts'
import { NANO_PER_BRL } from '../platform/lib/money.ts'
import type { ReferralProgramme } from '../money/payments/referral-rewards/reward-due-referrals.ts'
import type { TrialProgramme } from '../money/payments/trial-credit/grant-trial-credit.ts'
import { createSignIn, type SignIn } from '../identity/sign-in/create-sign-in.ts'
import {
  createResponseStore,
  type ResponseStore,
} from '../customers/stored-responses/response-store.ts'
import { createRefusalCounts, type RefusalCounts } from '../money/usage/refusal-counts.ts'
import { createMargins, type Margins } from '../money/usage/margins.ts'
import type { ReceiverSettings } from '../deliveries/receiver.ts'
import type { Config } from './config/config.ts'
import type { Closing } from './create-closing.ts'
import { createMetrics, type Metrics } from './create-metrics.ts'
import { openMail, type OpenMail } from './open-mail.ts'
import { openNodeLedger, type NodeLedger } from './open-node-ledger.ts'
import { openPayments, type OpenPayments } from './open-payments.ts'
import { openPricing, type Pricing } from './open-pricing.ts'
import { openSharedCounts, type SharedCounts } from './open-shared-counts.ts'
import { openUpstreams, type OpenUpstreams } from './open-upstreams.ts'
import { ALONE, processOf, type ProcessPlace } from './process-place.ts'
import { releaseOf } from './release-of.ts'
import { openTracing, type Tracing } from '../gateway/tracing/open-tracing.ts'
import { resolveWebhookSettings } from './config/resolve-webhook-settings.ts'
import { watchNode } from './watch-node.ts'
import { claimMode, type Mode } from '../platform/db/claim-mode.ts'
import { migrate } from '../platform/db/migrate.ts'
import { keepMonthsAhead } from './workers/ensure-months.ts'
import { CATALOG_CHANNEL, type WithAdded } from '../money/catalog/reload-catalog.ts'
import { API_KEY_CHANNEL } from '../customers/api-keys.ts'
import { listen, type Listener } from '../platform/db/listen.ts'
import { FX_CHANNEL } from '../money/fx/fx-rates.ts'

/** The parts of an app that hold connections, files or memory. */
export interface Parts
  extends
    Pricing,
    Omit<OpenUpstreams, 'close'>,
    Omit<NodeLedger, 'close'>,
    Omit<OpenMail, 'close'> {
  readonly config: Config
  readonly router: Router
  readonly log: Log
  readonly metrics: Metrics
  readonly tracing: Tracing | undefined
  /** Undefined: no access log. */
  readonly accessLog: LineWriter | undefined
  readonly db: Database
  readonly replicas: ReadReplicas
  readonly lease: Lease
  readonly keyUses: KeyUses
  readonly shieldCounts: ShieldCounts
  readonly refusalCounts: RefusalCounts
  readonly keys: KeyCache
  readonly calls: RunningCalls
  readonly lateness: Lateness
  readonly bodies: Share
  readonly limits: LimitsView
  readonly slots: Share
  readonly health: HealthRecorder
  readonly payments: OpenPayments
  readonly webhooks: ReceiverSettings
  readonly signIn: SignIn
  readonly referrals: ReferralProgramme
  readonly trial: TrialProgramme
  readonly margins: Margins
  /** Of large bodies. */
  readonly pace: Pace
  readonly responses: ResponseStore
  readonly conversations: StoredConversations
  readonly place: ProcessPlace
  readonly shared: SharedCounts
  readonly readiness: Readiness
}

/**
 * Bytes of large bodies per second: reading one occupies the event loop for about ten milliseconds for each megabyte, so
 * one customer gets a sixth of it, and all together a half.
 */
const BODY_PACE = { perSecond: 48 * 1024 * 1024, ownPerSecond: 16 * 1024 * 1024 }

const STDOUT = 1

/** Opens every part in start-up order, and adds each part that must be closed to `closing`. */
export async function openParts(
  config: Config,
  databaseUrl: string,
  processLog: Log,
  closing: Closing,
  place: ProcessPlace = ALONE,
): Promise<Parts> {
  const metrics = createMetrics()
  const release = releaseOf(config)
  const counted = metrics.countLog(processLog)
  const { tracing, accessLog, log } = await openRecords(config, release.version, counted, closing)
  const shared = openSharedCounts(place)
  const { db, pool } = closing.add('database', await openData(databaseUrl, config.mode, log))
  const replicas = closing.add('replicas', openReplicas(config, pool, place, log))
  const lease = await openLease({ databaseUrl, log, process: processOf(place), release })
  closing.add('lease', { close: () => lease.stop() })
  const webhooks = await resolveWebhookSettings(config)
  const upstreams = closing.add('upstreams', await openUpstreams(config, log))
  const pricing = await openPricing(db, config, log, readAddedBy(db, webhooks, upstreams))
  const models = pricing.catalog.listConfigured()
  const router = createRouter(models, upstreams.breakerOf, undefined, shared.runningOf('routes'))
  const { keyUses, shieldCounts, refusalCounts } = openCounts(db, log, closing)
  const keys = createKeyCache(db, (keyId) => keyUses.note(keyId))
  const listenUrl = config.databaseListenUrl ?? databaseUrl
  closing.add('listener', listenForChanges(listenUrl, { keys, pricing, log }))
  const takesOverSpool = place.role !== 'worker'
  const observer = metrics.ledger
  const books = closing.add(
    'ledger',
    await openNodeLedger({ config, databaseUrl, lease, takesOverSpool, observer, log }),
  )
  const health = createHealthRecorder({ db, log })
  closing.add('health', { close: () => health.flush() })
  const payments = closing.add('payments', await openPayments(config, log, place))
  const mail = closing.add('mail', await openMail(db, config, webhooks))
  const calls = createRunningCalls()
  const lateness = closing.add('lateness', watchLateness())
  const bodies = createShare(bodyLimitsOf(config))
  const pace = createPace(BODY_PACE)
  const { fxRate } = pricing
  const watched = { calls, bodies, books, router, fxRate, pool, replicas, lease, release }
  watchNode(metrics, { ...watched, accessLog })
  return {
    config,
    log,
    metrics,
    tracing,
    accessLog,
    db,
    replicas,
    lease,
    ...pricing,
    ...upstreams,
    router,
    ...books,
    ...mail,
    keyUses,
    shieldCounts,
    refusalCounts,
    keys,
    calls,
    lateness,
    bodies,
    limits: createLimitsView(),
    slots: createShare({ ownMax: config.callsAtOnceMax }, shared.runningOf('calls')),
    health,
    payments,
    webhooks,
    signIn: openSignIn(config, db, webhooks, log),
    referrals: referralsOf(config),
    trial: trialOf(config),
    margins: createMargins(db),
    pace,
    ...openResponses(config, { db, webhooks, memory: bodies, pace }),
    place,
    shared,
    readiness: createReadiness(db, () => lease.isHeld(lease.epoch()), config),
  }
}

function readAddedBy(
  db: Database,
  { sealingKey, previousSealingKey }: ReceiverSettings,
  { prepareAdded }: Pick<OpenUpstreams, 'prepareAdded'>,
): () => Promise<WithAdded> {
  const keys = { current: sealingKey, previous: previousSealingKey }
  return async () =>
    prepareAdded({
      upstreams: await openAddedUpstreams(db, keys),
      models: await listAddedModels(db),
    })
}

/** Written in batches, and once more at the end. */
function openCounts(db: Database, log: Log, closing: Closing) {
  const keyUses = createKeyUses({ db, log })
  closing.add('key uses', { close: () => keyUses.flush() })
  const shieldCounts = createShieldCounts({ db, log })
  closing.add('shield counts', { close: () => shieldCounts.flush() })
  const refusalCounts = createRefusalCounts({ db, log })
  closing.add('refusal counts', { close: () => refusalCounts.flush() })
  return { keyUses, shieldCounts, refusalCounts }
}

/** A parent answers no requests. */
function openReplicas(
  { databaseReadUrl, readAgeMsMax }: Config,
  primary: Pool,
  { role }: ProcessPlace,
  log: Log,
): ReadReplicas {
  if (databaseReadUrl === undefined || role === 'parent') return noReplicas(primary)
  return openReadReplicas(databaseReadUrl, { primary, ageMsMax: readAgeMsMax, log })
}

/** The records that leave the process: the log, and those of single requests that the operator asked for. */
async function openRecords(
  config: Config,
  version: string,
  processLog: Log,
  closing: Closing,
): Promise<Pick<Parts, 'tracing' | 'accessLog' | 'log'>> {
  const tracing = config.tracing && (await openTracing(config.tracing, version))
  if (tracing) closing.add('tracing', tracing)
  const accessLog = config.accessLog === 'stdout' ? createLineWriter(STDOUT) : undefined
  if (accessLog) closing.add('access log', accessLog)
  return { tracing, accessLog, log: tracing?.withIds(processLog) ?? processLog }
}

function openSignIn(
  { mode, publicUrl, signInProviders: providers }: Config,
  db: Database,
  { sealingKey, previousSealingKey }: ReceiverSettings,
  log: Log,
): SignIn {
  return createSignIn({ db, sealingKey, previousSealingKey, publicUrl, mode, providers, log })
}

function openResponses(
  { bodyBytesMax }: Config,
  {
    db,
    webhooks: { sealingKey, previousSealingKey },
    memory,
    pace,
  }: { db: Database; webhooks: ReceiverSettings; memory: Share; pace: Pace },
): Pick<Parts, 'responses' | 'conversations'> {
  const responses = createResponseStore({ db, sealingKey, previousSealingKey })
  const conversations = createStoredConversations({ store: responses, memory, pace, bodyBytesMax })
  return { responses, conversations }
}

/** One customer may fill a quarter of the memory for bodies. */
function bodyLimitsOf({ bodiesBytesMax, bodyBytesMax }: Config): ShareLimits {
  return { allMax: bodiesBytesMax, ownMax: Math.max(bodiesBytesMax / 4, bodyBytesMax) }
}

function referralsOf(config: Config): ReferralProgramme {
  return {
    rewardNanoBrl: BigInt(config.referralRewardBrl) * NANO_PER_BRL,
    spendingMinNanoBrl: BigInt(config.referralSpendingBrl) * NANO_PER_BRL,
  }
}

function trialOf(config: Config): TrialProgramme {
  return {
    amountNanoBrl: BigInt(config.trialCreditBrl) * NANO_PER_BRL,
    dailyNanoBrl: BigInt(config.trialCreditDailyBrl) * NANO_PER_BRL,
  }
}

/**
 * Opens the database with the tables of this release, and with the partitions of the coming months. Throws a
 * `ModeError` if it belongs to the other mode.
 */
export async function openData(databaseUrl: string, mode: Mode, log: Log): Promise<OpenDatabase> {
  const ran = await migrate(databaseUrl)
  if (ran.length > 0) log.info('migrations_run', { names: ran })
  const opened = openDatabase(databaseUrl, {
    onError: (error) => log.warn('database_connection_failed', { error }),
  })
  const { db } = opened
  try {
    await claimMode(db, mode)
    await keepMonthsAhead(db, log)
  } catch (error) {
    await opened.close()
    throw error
  }
  return opened
}

/** Keeps the caches of this node current, using the database's notifications of changed rows. */
function listenForChanges(
  databaseUrl: string,
  { keys, pricing, log }: { keys: KeyCache; pricing: Pricing; log: Log },
): Listener {
  const reloadCatalog = (): void => {
    pricing.reloadCatalog().catch((error: unknown) => log.warn('catalog_reload_failed', { error }))
  }
  const reloadFxRate = (): void => {
    pricing.fxRate.reload().catch((error: unknown) => log.warn('fx_rate_reload_failed', { error }))
  }
  return listen(
    databaseUrl,
    {
      [API_KEY_CHANNEL]: (id) => keys.forget(id),
      [FX_CHANNEL]: reloadFxRate,
      [CATALOG_CHANNEL]: reloadCatalog,
    },
    () => {
      keys.clear()
      reloadFxRate()
      reloadCatalog()
    },
  )
}
