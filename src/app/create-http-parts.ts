import { join } from 'node:path'
import { createModelSpeeds } from '../money/usage/model-speeds.ts'
import { createHealthSummaries } from '../platform/health/health-summaries.ts'
import type { ThisNode } from '../http/health/operator-health-routes.ts'
import type { createModelCalls } from './create-model-calls.ts'
import type { HttpDeps } from './create-server.ts'
import { operatorTokenOf } from '../http/rest/is-operator.ts'
import type { LiveStreams } from '../http/live/live-streams.ts'
import { IMAGE_DOWNLOADS_MAX } from '../http/images/image-file-routes.ts'
import type { ResponseSockets } from '../http/model-calls/response-sockets.ts'
import { createUploads } from '../http/model-calls/upload-form.ts'
import { createKeepAlives } from '../http/model-calls/keep-alives.ts'
import { createShare } from '../platform/admission/share.ts'
import { createTurns } from '../platform/admission/turn.ts'
import { createRestLimits } from '../http/rest/rest-limits.ts'
import type { OperatorRole } from '../http/rest/access.ts'
import { createSiteFacts } from '../site/pages/site-facts.ts'
import { createSitePages } from '../site/pages/site-pages.ts'
import { EXPORTS_MAX } from '../http/usage/usage-export-routes.ts'
import { createUpstreamBook } from './create-upstream-book.ts'
import type { Workers } from './workers/start-workers.ts'
import type { Config } from './config/config.ts'
import { deriveConnectionsMax, readDescriptorLimit } from './config/derive-connections-max.ts'
import type { Parts } from './open-parts.ts'
import { openArchive } from './config/resolve-archive.ts'

/** What starts after the parts. */
interface Started extends ReturnType<typeof createModelCalls> {
  readonly workers: Workers
  readonly startedAt: Date
  readonly live: LiveStreams
  readonly responseSockets: ResponseSockets
}

/** Of the connections of the pool, which everybody else needs too. */
const STORED_AT_ONCE = 2
/** Of one customer. */
const FILES_WAITING_MAX = 20

/** Returns the parts under their own names, and what is made for HTTP alone. */
export function createHttpParts(parts: Parts, started: Started): HttpDeps {
  const { config, db, webhooks, shared, accessLog } = parts
  const healthSummaries = createHealthSummaries(db)
  const modelSpeeds = createModelSpeeds(db)
  return {
    ...parts,
    ...started,
    primary: db,
    idempotency: { db, keys: webhooks },
    connections: {
      max: deriveConnectionsMax(config, readDescriptorLimit()),
      runningCalls: () => parts.calls.size,
    },
    uploads: createUploads(
      {
        dir: join(config.dataDir, 'uploads'),
        fileBytesMax: config.uploadBytesMax,
        totalBytesMax: config.uploadsBytesMax,
      },
      parts.bodies,
    ),
    keepAlives: createKeepAlives(config.streamKeepAliveMs),
    wakeProcessorEvents: () => wakeProcessorEvents(parts, started),
    operatorRoles: operatorRolesOf(config),
    operatorAccess: { token: operatorTokenOf(config.metricsToken, webhooks.sealingKey) },
    thisNode: createThisNode(parts, started),
    upstreamBook: createUpstreamBook(parts),
    healthSummaries,
    modelSpeeds,
    siteFacts: createSiteFacts({ ...parts, healthSummaries, modelSpeeds }),
    sitePages: createSitePages(),
    imageSlots: createShare({ ownMax: IMAGE_DOWNLOADS_MAX }, shared.runningOf('images')),
    archive: config.archive && openArchive(config.archive, shared.runningOf('archive')),
    exportSlots: createShare({ ownMax: EXPORTS_MAX }, shared.runningOf('exports')),
    batchSlots: createShare({ ownMax: 1, allMax: STORED_AT_ONCE }),
    fileTurns: createTurns({ atOnceMax: STORED_AT_ONCE, waitingMax: FILES_WAITING_MAX }),
    restLimits: createRestLimits(
      {
        perKey: config.restRequestsPerMinutePerKey,
        perNetwork: config.restRequestsPerMinutePerIp,
      },
      shared.limiter,
    ),
    metrics: metricsOf(parts),
    accessLog: accessLog && ((line) => accessLog.write(line)),
  }
}

function createThisNode(parts: Parts, { workers, startedAt }: Started): ThisNode {
  const { lease, calls, ledger, router } = parts
  return {
    id: () => lease.nodeId(),
    startedAt,
    runningCalls: () => calls.size,
    spoolLength: () => ledger.spoolLength,
    ledgerWaiting: () => ledger.waiting,
    listRoutes: () => router.listStates(),
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
