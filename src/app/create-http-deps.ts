import { join } from 'node:path'
import type { CheckCaller } from '../gateway/calls/check-caller.ts'
import { createHealthSummaries } from '../platform/health/health-summaries.ts'
import type { ThisNode } from '../http/health/health-deps.ts'
import type { HttpDeps } from './http-deps.ts'
import { operatorTokenOf } from '../http/rest/is-operator.ts'
import type { LiveStreams } from '../http/live/live-streams.ts'
import type { ModelCalls } from '../http/model-calls/model-call-deps.ts'
import { IMAGE_DOWNLOADS_MAX } from '../http/images/image-deps.ts'
import { createKeepAlives } from '../http/model-calls/keep-alives.ts'
import { createSlots } from '../platform/lib/slots.ts'
import { createRestLimits } from '../http/rest/rest-limits.ts'
import type { OperatorRole } from '../http/rest/access.ts'
import { createSiteFacts } from '../site/pages/site-facts.ts'
import { createSitePages } from '../site/pages/site-pages.ts'
import { EXPORTS_MAX } from '../http/usage/usage-deps.ts'
import { NANO_PER_BRL } from '../platform/lib/money.ts'
import type { Workers } from './workers/start-workers.ts'
import type { Config } from './config/config.ts'
import { deriveConnectionsMax, readDescriptorLimit } from './config/derive-connections-max.ts'
import type { Parts } from './open-parts.ts'
import { openArchive } from './config/resolve-archive.ts'

interface Started {
  readonly calls: ModelCalls
  readonly checkCaller: CheckCaller
  readonly observer: HttpDeps['observer']
  readonly workers: Workers
  readonly startedAt: Date
  readonly live: LiveStreams
}

export function createHttpDeps(parts: Parts, started: Started): HttpDeps {
  const { config, db, keys, pricing, payments, mail, webhooks, log, accessLog } = parts
  const currentFxRate = () => pricing.fxRate.current()
  const healthSummaries = createHealthSummaries(db)
  const { catalog } = pricing
  return {
    terms: config,
    db,
    primary: db,
    replicas: parts.replicas,
    idempotency: { db, keys: webhooks },
    catalog,
    keys,
    calls: started.calls,
    checkCaller: started.checkCaller,
    observer: started.observer,
    live: started.live,
    bodies: parts.bodies,
    connections: {
      max: deriveConnectionsMax(config, readDescriptorLimit()),
      runningCalls: () => parts.calls.size,
    },
    pace: parts.pace,
    conversations: parts.conversations,
    uploads: {
      dir: join(config.dataDir, 'uploads'),
      fileBytesMax: config.uploadBytesMax,
      totalBytesMax: config.uploadsBytesMax,
    },
    publicUrl: config.publicUrl,
    corsOrigins: config.corsOrigins,
    keepAlives: createKeepAlives(config.streamKeepAliveMs),
    payments: {
      processor: payments.processor,
      refundReviewAboveBrl: config.refundReviewAboveBrl,
      onEvent: () => wakeProcessorEvents(parts, started),
    },
    operatorRoles: operatorRolesOf(config),
    operators: {
      approvalAboveNanoBrl: BigInt(config.adminApprovalAboveBrl) * NANO_PER_BRL,
      reloadCatalog: pricing.reloadCatalog,
    },
    thisNode: createThisNode(parts, started),
    readiness: parts.readiness,
    healthSummaries,
    siteFacts: createSiteFacts({ db, catalog, currentFxRate, healthSummaries, log }),
    sitePages: createSitePages(),
    imageSlots: createSlots(IMAGE_DOWNLOADS_MAX, parts.shared.runningOf('images')),
    archive: config.archive && openArchive(config.archive, parts.shared.runningOf('archive')),
    exportSlots: createSlots(EXPORTS_MAX, parts.shared.runningOf('exports')),
    margins: parts.margins,
    referrals: parts.referrals,
    trial: parts.trial,
    limits: parts.limits,
    restLimits: createRestLimits(
      {
        perKey: config.restRequestsPerMinutePerKey,
        perNetwork: config.restRequestsPerMinutePerIp,
      },
      parts.shared.limiter,
    ),
    currentFxRate,
    ipRequestsPerMinute: config.requestsPerMinutePerIp,
    bodyBytesMax: config.bodyBytesMax,
    trustProxy: config.trustProxy,
    metrics: metricsOf(parts),
    operatorAccess: { token: operatorTokenOf(config.metricsToken, webhooks.sealingKey) },
    webhooks,
    sender: mail.sender,
    authWebhookSecret: config.authWebhookSecret,
    unsubscribe: mail.unsubscribe,
    signIn: parts.signIn,
    mode: config.mode,
    log,
    accessLog: accessLog && ((line) => accessLog.write(line)),
  }
}

function createThisNode(parts: Parts, { workers, startedAt }: Started): ThisNode {
  const { lease, calls, books, upstreams } = parts
  return {
    id: () => lease.nodeId(),
    startedAt,
    runningCalls: () => calls.size,
    spoolLength: () => books.ledger.spoolLength,
    ledgerWaiting: () => books.ledger.waiting,
    listRoutes: () => upstreams.router.listStates(),
    listTimers: () => listTimers(parts, workers),
  }
}

/** The jobs run in the parent, if there is one. */
function wakeProcessorEvents({ place }: Parts, { workers }: Started): void {
  if (place.role === 'worker') place.parent.post('wake_processor_events')
  else workers.wakeProcessorEvents()
}

/** The sums over all processes of this server, whichever of its workers answers. */
function metricsOf({ metrics, place }: Parts): HttpDeps['metrics'] {
  if (place.role !== 'worker') return metrics
  const { parent } = place
  parent.on('own_metrics', () => metrics.text())
  return {
    contentType: metrics.contentType,
    text: () => parent.ask('metrics').then(String),
  }
}

/** With those of the parent, which runs the jobs. */
async function listTimers({ place }: Parts, workers: Workers): ReturnType<ThisNode['listTimers']> {
  const own = workers.listTimers()
  if (place.role !== 'worker') return own
  const others = (await place.parent.ask('timers')) as typeof own
  const names = new Set(own.map(({ name }) => name))
  return [...own, ...others.filter(({ name }) => !names.has(name))]
}

/** An e-mail in several lists has the most rights of them. */
function operatorRolesOf(config: Config): ReadonlyMap<string, OperatorRole> {
  const { supportEmails, financeEmails, adminEmails } = config
  const roles = [
    [supportEmails, 'support'],
    [financeEmails, 'finance'],
    [adminEmails, 'admin'],
  ] as const
  return new Map(roles.flatMap(([emails, role]) => emails.map((email) => [email, role] as const)))
}
