import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import {
  MODEL_CATEGORIES,
  type ConfiguredModel,
  type ModelCategory,
} from '../../money/catalog/model.ts'
import { OPERATOR } from '../../platform/audit-log/audited.ts'
import { listPriceChanges } from '../../money/catalog/price-changes.ts'
import { findPriceDifferences } from '../../money/catalog/price-data-differences.ts'
import { pauseService, resumeService } from '../../money/catalog/service-pause.ts'
import { withPriceChanges } from '../../money/catalog/with-price-changes.ts'
import type { Config } from '../config/config.ts'
import { PriceDataFault, readPriceData } from '../read-price-data.ts'
import { findMode } from '../../platform/db/claim-mode.ts'
import { findOldSnapshots } from '../../platform/db/find-old-snapshots.ts'
import { isStandby } from '../../platform/db/is-standby.ts'
import { type Database, openDatabase } from '../../platform/db/open.ts'
import { countSealed } from '../../platform/db/reseal.ts'
import { findCurrentFxRate } from '../../money/fx/fx-rates.ts'
import { sealUsage } from '../../money/ledger/audit/audit-seals.ts'
import { findWaitingSpoolFiles } from '../../money/ledger/audit/audit-spool.ts'
import { openArchive } from '../config/resolve-archive.ts'
import { auditMoney, findSandboxMoney } from '../../money/payments/audit-money.ts'
import { decimalE4, jsonE4 } from '../../platform/lib/money.ts'
import { countMonthsAhead } from '../workers/ensure-months.ts'
import { optionText, requiredText, UsageError, type Command } from './command.ts'
import { probeServices } from './probe-services.ts'
import { runDoctor, type DatabaseFacts } from './run-doctor.ts'
import { openReadReplicas } from '../../platform/db/replicas/open-read-replicas.ts'
import type { ReplicaState } from '../../platform/db/replicas/read-replica.ts'
import { createLog } from '../../platform/lib/log.ts'

/** A server watches for ever; a command waits so long. */
const WAIT_MS_MAX = 5_000

/** The replicas of `DATABASE_READ_URL` as a server would find them now. */
async function findReplicaStates({
  databaseUrl,
  databaseReadUrl,
  readAgeMsMax,
}: Config): Promise<readonly ReplicaState[]> {
  if (databaseUrl === undefined || databaseReadUrl === undefined) return []
  const { pool } = openDatabase(databaseUrl, { onError: () => {} })
  const log = createLog('silent', () => {})
  const replicas = openReadReplicas(databaseReadUrl, { primary: pool, ageMsMax: readAgeMsMax, log })
  const deadline = performance.now() + WAIT_MS_MAX
  while (replicas.list().some(({ trouble }) => trouble === 'starting')) {
    if (performance.now() > deadline) break
    await sleep(50)
  }
  const found = replicas.list()
  await replicas.close()
  await pool.end()
  return found
}

/** Share of one core of the database, so that calls go on meanwhile. */
const AUDIT_SHARE = 0.1
/** Sealed events that an audit reads again unless it is full: some minutes at that share. */
const EVENTS_AGAIN = 100_000

export const serviceCommands: Record<string, Command> = {
  'model list': {
    usage: '[--category llm|embedding|image|audio|video]',
    about: 'the catalog with prices and routes',
    async run({ config, options }) {
      const category = optionText(options, 'category')
      if (category !== undefined && !MODEL_CATEGORIES.includes(category as ModelCategory))
        throw new UsageError(`--category: must be one of ${MODEL_CATEGORIES.join(', ')}`)
      const models = config.models.filter(
        (model) => category === undefined || model.category === category,
      )
      return {
        data: models.map(modelBody),
        text: {
          columns: ['id', 'category', 'input USD/M', 'output USD/M', 'markup', 'routes'],
          rows: models.map((model) => {
            const body = modelBody(model)
            return [
              model.id,
              model.category,
              body.input_usd,
              body.output_usd,
              decimalE4(model.markupE4),
              body.routes.join(' ') || '(none)',
            ]
          }),
        },
      }
    },
  },
  'service pause': {
    usage: '--reason TEXT',
    about:
      'stop all model calls on every node, with a 503, until `service resume`; running calls end and are charged. The reason is for the audit log',
    async run({ db, options }) {
      const reason = requiredText(options, 'reason')
      if (reason.length > 500) throw new UsageError('--reason: must be 500 characters at most')
      const isPaused = await pauseService(db, OPERATOR, { reason })
      return {
        data: { outcome: isPaused ? 'paused' : 'already_paused' },
        text: isPaused ? 'paused: every model call gets a 503' : 'it was already paused',
      }
    },
  },
  'service resume': {
    usage: '',
    about: 'take model calls again',
    async run({ db }) {
      const isResumed = await resumeService(db, OPERATOR)
      return {
        data: { outcome: isResumed ? 'resumed' : 'not_paused' },
        text: isResumed ? 'resumed' : 'it was not paused',
      }
    },
  },
  audit: {
    usage: '[--full]',
    about:
      'prove every invariant of the ledger; sealed events are proved by their sums and a share of them from their rows again, every day another one (with --full all); exit code 1 if a check fails',
    runsInEitherMode: true,
    async run({ db, config, options }) {
      const sealed = (await isStandby(db)) ? 0 : await sealUsage(db)
      const report = await auditMoney(db, {
        isFull: options.full === true,
        eventsAgain: EVENTS_AGAIN,
        share: AUDIT_SHARE,
        archive: config.archive && openArchive(config.archive),
      })
      const waiting = await findWaitingSpoolFiles(join(config.dataDir, 'spool'))
      const lines = report.checks.map(
        (check) =>
          `${check.ok ? 'ok    ' : 'FAILED'}  ${check.name}${check.ok ? '' : `\n${check.breaches.map((row) => `          ${JSON.stringify(row, plain)}`).join('\n')}`}`,
      )
      const { charges, releases, openHolds, customers, debts } = report.counts
      lines.push(
        `${charges} charges, ${releases} releases, ${openHolds} open holds, ${customers} customers, ${debts} debts`,
      )
      const { seal } = report
      lines.push(
        seal
          ? `sealed until ${seal.until} (${sealed} slices now); seal ${seal.number} is ${seal.hash}`
          : 'nothing is sealed yet',
      )
      for (const { month, by, why } of report.archived)
        lines.push(
          by === 'files'
            ? `${month} is archived: proved by its files`
            : `${month} is archived: proved by its sums only${why === undefined ? '' : ` (${why})`}`,
        )
      if (waiting.length > 0)
        lines.push(
          `warn    charges have waited on this disk for more than 10 minutes and are not in the database yet: ${waiting.join(', ')}`,
        )
      return {
        data: {
          ok: report.ok,
          checks: report.checks,
          seal: seal && { ...seal, number: Number(seal.number) },
          archived: report.archived,
          waiting_spool_files: waiting,
          charges,
          releases,
          open_holds: openHolds,
          customers,
          debts,
        },
        text: lines.join('\n'),
        exitCode: report.ok ? 0 : 1,
      }
    },
  },
  doctor: {
    usage: '[--call-upstreams]',
    about:
      'check the configuration that a server would start with, its mail server and payment processor; --call-upstreams: also the key of each upstream, by one small call that it bills. Exit code 1 if there is a fault',
    runsInEitherMode: true,
    async run({ db, config, options }) {
      const found = runDoctor({
        config,
        database: await readDatabaseFacts(db),
        disk: await readDisk(config.dataDir),
        fxRate: await findCurrentFxRate(db, config.mode),
        monthsAhead: await countMonthsAhead(db),
        priceDifferences: await findDifferingModels(db, config),
        oldSnapshots: await findOldSnapshots(db),
        readReplicas: await findReplicaStates(config),
        storedMode: await findMode(db),
        sandboxMoney: await findSandboxMoney(db),
        sealed:
          config.secretsKey &&
          (await countSealed(db, {
            current: config.secretsKey,
            previous: config.secretsKeyPrevious,
          })),
      })
      const callsUpstreams = options['call-upstreams'] === true
      const findings = [...found, ...(await probeServices(config, { callsUpstreams }))]
      const ok = findings.every((finding) => finding.level !== 'fault')
      return {
        data: { ok, findings },
        text: findings.map((finding) => `${finding.level.padEnd(5)}  ${finding.text}`).join('\n'),
        exitCode: ok ? 0 : 1,
      }
    },
  },
}

/** Their ids, or the fault of the price data. */
async function findDifferingModels(
  db: Database,
  config: Config,
): Promise<readonly string[] | PriceDataFault> {
  const data = await readPriceData(db, config).catch((error: unknown) => {
    if (error instanceof PriceDataFault) return error
    throw error
  })
  if (data instanceof PriceDataFault) return data
  const changes = await listPriceChanges(db)
  const models = config.models.map((model) =>
    withPriceChanges<ConfiguredModel['price']>(model, changes),
  )
  const found = findPriceDifferences(models, data, new Date())
  return found.map(({ modelId }) => modelId)
}

async function readDatabaseFacts(db: Database): Promise<DatabaseFacts> {
  const { rows } = await sql<DatabaseFacts>`
    select version(), current_setting('fsync') as fsync,
      current_setting('full_page_writes') as full_page_writes,
      (select count(*)::int from pg_stat_replication) as standbys,
      current_setting('synchronous_standby_names') as synchronous_standby_names,
      current_setting('max_connections')::int4 as max_connections,
      (extract(epoch from clock_timestamp()) * 1000 - ${Date.now()}::float8)::float8 as clock_ahead_ms`.execute(
    db,
  )
  return rows[0] as DatabaseFacts
}

/** Undefined before the first start, which creates the folder. */
async function readDisk(dataDir: string) {
  try {
    const { bavail, blocks, bsize } = await statfs(dataDir)
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
  } catch {
    return undefined
  }
}

function modelBody(model: ConfiguredModel) {
  const [tier] = model.price.tiers
  // Micro-USD per million tokens is USD per million tokens with six decimals.
  const usd = (micro: bigint | undefined): string => (Number(micro ?? 0n) / 1e6).toString()
  return {
    id: model.id,
    category: model.category,
    input_usd: usd(tier?.input),
    cached_input_usd: usd(tier?.cachedInput),
    output_usd: usd(tier?.output),
    markup_multiplier: jsonE4(model.markupE4),
    routes: model.routes.map((route) => `${route.upstreamId}:${route.upstreamModel}`),
  }
}

function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
