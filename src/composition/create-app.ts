/**
 * The composition root: every part is made once here, in the order of the data's way, and closed in
 * the reverse order.
 */
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { createCatalog } from '../catalog/catalog.ts'
import { CATALOG_CHANNEL, createReloadCatalog } from '../catalog/reload-catalog.ts'
import { registerPrices } from '../catalog/register-prices.ts'
import { SANDBOX_UPSTREAM, type Config } from './config.ts'
import { createMetrics } from './create-metrics.ts'
import { API_KEY_CHANNEL } from '../customers/api-keys.ts'
import { createKeyCache } from '../customers/key-cache.ts'
import { createKeyUses } from '../customers/key-uses.ts'
import { listen } from '../db/listen.ts'
import { migrate } from '../db/migrate.ts'
import { openDatabase, type Database } from '../db/open.ts'
import { SANDBOX_SENDER, type MailSender } from '../email/mail-sender.ts'
import type { Mailer } from '../email/mailer.ts'
import { queueMails } from '../email/queue-mails.ts'
import { createSandboxMailer } from '../email/sandbox-mailbox.ts'
import { createUnsubscribeLinks } from '../email/unsubscribe-links.ts'
import { createFxRateView } from '../fx/create-fx-rate-view.ts'
import {
  findCurrentFxRate,
  FX_CHANNEL,
  SANDBOX_SOURCE,
  storeFxRate,
  type FxRate,
} from '../fx/fx-rates.ts'
import { createChatKind } from '../gateway/chat/chat-kind.ts'
import { chatCompletionsFormat } from '../gateway/chat/formats/chat-completions/chat-completions-format.ts'
import { embeddingKind } from '../gateway/embeddings/embedding-kind.ts'
import type { GatewayDeps } from '../gateway/gateway-deps.ts'
import { createImageKind } from '../gateway/images/image-kind.ts'
import { imageMediaType } from '../gateway/images/image-media-type.ts'
import type { KeepImage } from '../gateway/images/write-images.ts'
import { createLimitsView } from '../gateway/limits.ts'
import { createRouter } from '../gateway/routing/create-router.ts'
import { createRunningCalls } from '../gateway/running-calls.ts'
import { createServeCall } from '../gateway/serve-call.ts'
import { createTranscriptionKind } from '../gateway/transcriptions/transcription-kind.ts'
import { createHealthRecorder } from '../health/health-recorder.ts'
import { createServer } from '../http/create-server.ts'
import { PROCESSOR_EVENTS_PATH } from '../http/processor-events/processor-event-routes.ts'
import { IMAGE_FILES } from '../http/images/image-file-routes.ts'
import { storeImage } from '../images/generated-images.ts'
import { openDeliveryNotes } from '../ledger/deliveries/delivery-notes.ts'
import { openLease } from '../ledger/lease.ts'
import { openLedger } from '../ledger/open-ledger.ts'
import { randomText } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { NANO_PER_BRL } from '../lib/money.ts'
import { ensureSealingKey } from '../lib/sealing-key.ts'
import { createAsaas } from '../payments/asaas/create-asaas.ts'
import type { Processor } from '../payments/processor.ts'
import type { ReferralProgramme } from '../payments/referral-rewards/reward-due-referrals.ts'
import {
  startSandboxProcessor,
  type SandboxProcessor,
} from '../sandbox/processor/start-sandbox-processor.ts'
import type { Provider } from '../providers/contract.ts'
import { createOpenAiCompatible } from '../providers/openai-compatible/create-openai-compatible.ts'
import { startSandboxUpstream } from '../sandbox/upstream/start-sandbox-upstream.ts'
import type { ConfiguredUpstream } from './resolve-upstreams.ts'
import { createMargins } from '../usage/margins.ts'
import { queueWebhooks } from '../webhooks/queue-webhooks.ts'
import type { WebhookSettings } from '../webhooks/webhook-settings.ts'
import { keepMonthsAhead } from '../workers/ensure-months.ts'
import { createSignIn } from '../sign-in/create-sign-in.ts'
import { refreshFxRate } from '../workers/refresh-fx-rate.ts'
import { NO_WORKERS, startWorkers, type WorkerDeps } from '../workers/start-workers.ts'

/** BRL 5.20: a round number near the rate of 2026; labelled as sandbox wherever it shows. */
const SANDBOX_FX_RATE_E4 = 52_000n
const RELOAD_EVERY_MS = 60_000

export interface App {
  readonly db: Database
  readonly server: FastifyInstance
  /** Listens; returns the address, as in `http://127.0.0.1:8080`. */
  listen(): Promise<string>
  /** Takes no more calls, lets the running ones end, and closes everything. */
  close(): Promise<void>
}

export interface AppOptions {
  /** False: nothing moves but by requests. */
  readonly hasWorkers?: boolean
  /** How often the rate of exchange and what operators changed are read, should a notification have been missed. */
  readonly reloadEveryMs?: number
}

export async function createApp(
  config: Config,
  databaseUrl: string,
  log: Log,
  { hasWorkers = true, reloadEveryMs = RELOAD_EVERY_MS }: AppOptions = {},
): Promise<App> {
  const startedAt = new Date()
  const metrics = createMetrics()
  const closers: (() => Promise<unknown>)[] = []

  const ran = await migrate(databaseUrl)
  if (ran.length > 0) log.info('migrations_run', { names: ran })
  const { db, close: closeDatabase } = openDatabase(databaseUrl, {
    onError: (error) => log.warn('database_connection_failed', { error }),
  })
  closers.push(closeDatabase)
  await keepMonthsAhead(db, log)
  const lease = await openLease({ databaseUrl, log })
  closers.push(() => lease.stop())

  const upstreams = await openUpstreams(config, closers)
  const upstreamOf = new Map(upstreams.map((upstream) => [upstream.id, upstream]))
  const router = createRouter(config.models, (id) => upstreamOf.get(id)?.breaker)
  const catalog = createCatalog(config.models)
  const reloadCatalog = createReloadCatalog(db, catalog)
  await reloadCatalog()
  const onCatalogChanged = (): void => {
    reloadCatalog().catch((error: unknown) => log.warn('catalog_reload_failed', { error }))
  }
  const priceIds = await registerPrices(db, config.models)

  const fxRate = createFxRateView(db, config.mode, await firstFxRate(config, db, log))
  const keyUses = createKeyUses({ db, log })
  closers.push(() => keyUses.flush())
  const keys = createKeyCache(db, (keyId) => keyUses.note(keyId))
  const reloadFxRate = (): void => {
    fxRate.reload().catch((error: unknown) => log.warn('fx_rate_reload_failed', { error }))
  }
  const listener = listen(
    databaseUrl,
    {
      [API_KEY_CHANNEL]: (id) => keys.forget(id),
      [FX_CHANNEL]: reloadFxRate,
      [CATALOG_CHANNEL]: onCatalogChanged,
    },
    () => {
      keys.clear()
      reloadFxRate()
      onCatalogChanged()
    },
  )
  closers.push(() => listener.close())

  const calls = createRunningCalls()
  const limits = createLimitsView()
  const ledger = await openLedger({
    databaseUrl,
    lease,
    laneCount: config.ledgerLanes,
    spoolDir: join(config.dataDir, 'spool'),
    log,
    observer: metrics.ledger,
  })
  closers.push(() => ledger.close())
  // What the last process on this disk could not settle comes before anything is estimated.
  await ledger.replaySpool()

  const deliveriesDir = join(config.dataDir, 'delivered')
  const deliveries = await openDeliveryNotes({ dir: deliveriesDir, nodeId: lease.nodeId(), log })
  closers.push(() => deliveries.close())
  const health = createHealthRecorder({ db, log })
  closers.push(() => health.flush())
  const gateway: GatewayDeps = {
    keys,
    catalog,
    priceIds,
    currentFxRate: () => fxRate.current(),
    ledger,
    lease,
    deliveries,
    providers: new Map(upstreams.map(({ id, provider }) => [id, provider])),
    router,
    retriesOf: (id) => upstreamOf.get(id)?.retries ?? 0,
    calls,
    limits,
    ipRequestsPerMinute: config.requestsPerMinutePerIp,
    callTimeoutMs: config.callTimeoutMs,
    observer: {
      ...metrics.gateway,
      upstreamAnswered(facts) {
        metrics.gateway.upstreamAnswered(facts)
        health.sample({ ...facts, ok: true })
      },
      upstreamFailed(facts) {
        metrics.gateway.upstreamFailed(facts)
        if (facts.isItsFault) health.sample({ ...facts, ok: false, firstByteMs: 0 })
      },
    },
    log,
  }
  let openDifferences = 0
  metrics.watch({
    runningCalls: () => calls.size,
    spoolLength: () => ledger.spoolLength,
    spoolSetAside: () => ledger.spoolSetAside,
    deliveryNotesLost: () => deliveries.lostCount,
    ledgerWaiting: () => ledger.waiting,
    routes: () => router.listStates(),
    openDifferences: () => openDifferences,
    fxRateAgeSeconds: () => {
      const rate = fxRate.current()
      return rate ? (Date.now() - Date.parse(rate.rateDate)) / 1000 : -1
    },
  })

  const payments = await openProcessor(config, closers)
  const mailer = config.mail ? await openSmtpMailer(config.mail.smtp) : createSandboxMailer(db)
  closers.push(async () => mailer.close())
  const sender: MailSender = {
    ...(config.mail?.sender ?? SANDBOX_SENDER),
    publicUrl: config.publicUrl,
  }

  const webhooks: WebhookSettings = {
    sealingKey: config.secretsKey ?? (await ensureSealingKey(config.dataDir)),
    previousSealingKey: config.secretsKeyPrevious,
    allowHttp: config.mode === 'sandbox',
    allowPrivate: config.webhooksAllowPrivate,
  }
  const unsubscribe = createUnsubscribeLinks({ ...webhooks, publicUrl: config.publicUrl })

  const { mode, publicUrl } = config
  const { sealingKey, previousSealingKey } = webhooks
  const signIn = createSignIn({ db, sealingKey, previousSealingKey, publicUrl, mode, log })

  const referrals: ReferralProgramme = {
    rewardNanoBrl: BigInt(config.referralRewardBrl) * NANO_PER_BRL,
    spendingMinNanoBrl: BigInt(config.referralSpendingBrl) * NANO_PER_BRL,
  }
  const margins = createMargins(db)
  const workerDeps: WorkerDeps = {
    db,
    databaseUrl,
    ledger,
    lease,
    deliveriesDir,
    calls,
    router,
    health,
    keyUses,
    processor: payments?.processor,
    mail: { mailer, sender, unsubscribe, log },
    webhooks,
    eventHandlers: [queueMails, queueWebhooks],
    referrals,
    log,
    onOpenDifferences: (count) => (openDifferences = count),
    refreshFxRate: config.mode === 'live' ? () => refreshFxRate(db, log) : undefined,
    catalog,
    reloadCatalog,
    reloadFxRate: () => fxRate.reload(),
    reloadEveryMs,
    margins,
  }
  const workers = hasWorkers ? await startWorkers(workerDeps) : NO_WORKERS
  closers.push(() => workers.stop())

  const server = await createServer({
    db,
    catalog,
    keys,
    calls: {
      completeChat: createServeCall(
        gateway,
        createChatKind(chatCompletionsFormat, {
          lease,
          callTimeoutMs: config.callTimeoutMs,
        }),
      ),
      embed: createServeCall(gateway, embeddingKind),
      generateImages: createServeCall(gateway, createImageKind(createKeepImage(db, log))),
      transcribe: createServeCall(gateway, createTranscriptionKind(config.transcriptionModel)),
    },
    uploads: {
      dir: join(config.dataDir, 'uploads'),
      fileBytesMax: config.uploadBytesMax,
      totalBytesMax: config.uploadsBytesMax,
    },
    publicUrl: config.publicUrl,
    payments: {
      processor: payments?.processor,
      minimumBrl: config.topUpMinBrl,
      refundReviewAboveBrl: config.refundReviewAboveBrl,
      onEvent: () => workers.wakeProcessorEvents(),
    },
    adminEmails: new Set(config.adminEmails),
    operators: {
      approvalAboveNanoBrl: BigInt(config.adminApprovalAboveBrl) * NANO_PER_BRL,
      markupNoticeDays: config.markupNoticeDays,
      reloadCatalog,
    },
    thisNode: {
      id: () => lease.nodeId(),
      startedAt,
      runningCalls: () => calls.size,
      spoolLength: () => ledger.spoolLength,
      ledgerWaiting: () => ledger.waiting,
      listRoutes: () => router.listStates(),
      listTimers: () => workers.listTimers(),
    },
    margins,
    referrals,
    limits,
    currentFxRate: () => fxRate.current(),
    ipRequestsPerMinute: config.requestsPerMinutePerIp,
    bodyBytesMax: config.bodyBytesMax,
    trustProxy: config.trustProxy,
    metrics,
    metricsToken: config.metricsToken,
    webhooks,
    sender,
    authWebhookSecret: config.authWebhookSecret,
    unsubscribe,
    signIn,
    mode: config.mode,
    log,
  })

  return {
    db,
    server,
    async listen() {
      const address = await server.listen({ host: config.host, port: config.port })
      // Its address is known only now, with the port that was free.
      payments?.sandbox?.server.sendWebhooksTo({
        url: `${address}${PROCESSOR_EVENTS_PATH}`,
        token: payments.sandbox.webhookToken,
      })
      return address
    },
    async close() {
      // New connections are refused at once; what runs has its time.
      const closed = server.close()
      await calls.whenNone(config.drainMs)
      server.server.closeAllConnections()
      await closed
      await calls.whenNone(config.drainMs)
      for (const closer of closers.toReversed())
        await closer().catch((error: unknown) => log.warn('close_failed', { error }))
    },
  }
}

interface OpenUpstream extends Pick<ConfiguredUpstream, 'id' | 'retries' | 'breaker'> {
  readonly provider: Provider
}

/** The configured upstreams; in sandbox mode the sandbox upstream too, over HTTP like the others. */
async function openUpstreams(
  config: Config,
  closers: (() => Promise<unknown>)[],
): Promise<OpenUpstream[]> {
  const upstreams = [...config.upstreams]
  if (config.mode === 'sandbox') {
    const sandbox = await startSandboxUpstream()
    closers.push(() => sandbox.close())
    upstreams.push(sandboxUpstream(sandbox.baseUrl))
  }
  const opened: OpenUpstream[] = []
  for (const { adapter, ...upstream } of upstreams) {
    const provider = await openProvider(adapter)
    closers.push(() => provider.close())
    opened.push({ ...upstream, provider })
  }
  return opened
}

async function openProvider(adapter: ConfiguredUpstream['adapter']): Promise<Provider> {
  if (adapter.speaks === 'chat-completions') return createOpenAiCompatible(adapter.options)
  // Loaded where it is needed only: its packages take 70 MB and a third of a second.
  const { createAiSdkProvider } = await import('../providers/ai-sdk/create-ai-sdk-provider.ts')
  return createAiSdkProvider(adapter.options)
}

/** Loaded where it is needed only: its package takes a tenth of a start. */
async function openSmtpMailer(smtp: NonNullable<Config['mail']>['smtp']): Promise<Mailer> {
  const { createSmtpMailer } = await import('../email/create-smtp-mailer.ts')
  return createSmtpMailer(smtp)
}

/** Its models fail on purpose, to be watched: nothing is tried again, and no breaker hides them. */
function sandboxUpstream(baseUrl: string): ConfiguredUpstream {
  return {
    id: SANDBOX_UPSTREAM,
    retries: 0,
    breaker: { failures: 0, openMs: 1 },
    adapter: {
      speaks: 'chat-completions',
      options: {
        baseUrl,
        apiKey: undefined,
        cancelStopsBilling: true,
        opensOnlyImages: true,
        maxTokensField: 'max_tokens',
        connectTimeoutMs: 1_000,
        // Short, so that the sandbox models that hang can be watched to an end.
        firstByteTimeoutMs: 30_000,
        idleTimeoutMs: 10_000,
        connectionsMax: 4_096,
      },
    },
  }
}

interface OpenProcessor {
  readonly processor: Processor
  readonly sandbox?: { readonly server: SandboxProcessor; readonly webhookToken: string }
}

/**
 * Where customers pay in; undefined where no account is set. In sandbox mode it is a server of our own,
 * spoken to over HTTP as the real one is.
 */
async function openProcessor(
  { mode, asaas, dataDir }: Config,
  closers: (() => Promise<unknown>)[],
): Promise<OpenProcessor | undefined> {
  if (mode === 'live') {
    if (!asaas) return undefined
    const processor = createAsaas(asaas)
    closers.push(() => processor.close())
    return { processor }
  }
  const stateFile = join(dataDir, 'sandbox-payments.json')
  const server = await startSandboxProcessor({ stateFile })
  closers.push(() => server.close())
  const webhookToken = randomText(40)
  const processor = createAsaas({ baseUrl: server.baseUrl, apiKey: 'sandbox', webhookToken })
  closers.push(() => processor.close())
  return { processor, sandbox: { server, webhookToken } }
}

/** Images wait in the database, so that every node can answer for their addresses. */
function createKeepImage(db: Database, log: Log): KeepImage {
  return async (customerId, { base64 }) => {
    const image = { mediaType: imageMediaType(base64), bytes: Buffer.from(base64, 'base64') }
    try {
      return `${IMAGE_FILES}/${await storeImage(db, customerId, image)}`
    } catch (error) {
      log.error('image_not_kept', { customerId, error })
      throw error
    }
  }
}

/** In sandbox mode the fixed rate is stored like any other, so that every charge can name it. */
async function firstFxRate(config: Config, db: Database, log: Log): Promise<FxRate | undefined> {
  const current = await findCurrentFxRate(db, config.mode)
  if (config.mode === 'sandbox') {
    const rateE4 = config.sandboxFxRateE4 ?? current?.rateE4 ?? SANDBOX_FX_RATE_E4
    if (current?.rateE4 === rateE4) return current
    const today = new Date().toISOString().slice(0, 10)
    return storeFxRate(db, { rateE4, rateDate: today, bulletinAt: null, source: SANDBOX_SOURCE })
  }
  // With a rate at hand the start does not wait for the central bank: the job asks it soon enough.
  if (current) return current
  await refreshFxRate(db, log)
  const found = await findCurrentFxRate(db, 'live')
  if (!found)
    log.error('fx_rate_unknown', { effect: 'no call can be priced until a rate is stored' })
  return found
}
