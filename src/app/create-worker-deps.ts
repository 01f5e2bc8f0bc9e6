import { queueMails } from '../deliveries/email/queue-mails.ts'
import { queueWebhooks } from '../deliveries/webhooks/queue-webhooks.ts'
import { refreshFxRate } from './workers/refresh-fx-rate.ts'
import type { WorkerDeps } from './workers/start-workers.ts'
import type { Backlog } from '../platform/health/read-backlog.ts'
import type { DueMonths } from '../money/months/archive-due-months.ts'
import type { Config } from './config/config.ts'
import type { Parts } from './open-parts.ts'
import { readPriceData } from './read-price-data.ts'
import { openArchiveStore } from './config/resolve-archive.ts'
import { watchBacklog } from './watch-backlog.ts'

function dueMonthsOf({ archive }: Config): DueMonths | undefined {
  return archive?.afterMonths === undefined
    ? undefined
    : { store: openArchiveStore(archive), afterMonths: archive.afterMonths }
}

export function createWorkerDeps(
  parts: Parts,
  databaseUrl: string,
  reloadEveryMs: number,
): WorkerDeps {
  let backlog: Backlog | undefined
  if (parts.place.role !== 'worker') watchBacklog(parts.metrics, () => backlog)
  const { config, db, lease, calls, health, keyUses, log } = parts
  return {
    role: parts.place.role,
    db,
    databaseUrl,
    ledger: parts.ledger,
    lease,
    deliveriesDir: parts.deliveriesDir,
    keptNotes: parts.keptNotes,
    calls,
    router: parts.router,
    health,
    keyUses,
    shieldCounts: parts.shieldCounts,
    refusalCounts: parts.refusalCounts,
    processor: parts.payments.processor,
    mail: parts,
    webhooks: parts.webhooks,
    eventHandlers: [queueMails, queueWebhooks],
    referrals: parts.referrals,
    log,
    onOpenDiscrepancies: (count) => parts.metrics.openDifferences(count),
    onBacklog: (read) => void (backlog = read),
    onPriceDifferences: (count) => parts.metrics.priceDifferences(count),
    prices: {
      readData: () => readPriceData(config),
      operatorEmails: config.adminEmails,
    },
    refreshFxRate: config.mode === 'live' ? () => refreshFxRate(db, log) : undefined,
    catalog: parts.catalog,
    reloadCatalog: parts.reloadCatalog,
    reloadFxRate: () => parts.fxRate.reload(),
    reloadEveryMs,
    margins: parts.margins,
    dueMonths: dueMonthsOf(config),
  }
}
