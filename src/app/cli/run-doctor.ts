import type { Config } from '../config/config.ts'
import { connectionsNeeded } from '../config/derive-connections-max.ts'
import { findMissingSettings } from '../config/read-settings.ts'
import type { SealedCounts } from '../../platform/db/reseal.ts'
import type { OldSnapshot } from '../../platform/db/find-old-snapshots.ts'
import type { ReplicaState, ReplicaTrouble } from '../../platform/db/replicas/read-replica.ts'
import { ModeError, type Mode } from '../../platform/db/claim-mode.ts'
import type { FxRate } from '../../money/fx/fx-rates.ts'
import { decimalE4 } from '../../platform/lib/money.ts'
import { MONTHS_AHEAD_MIN } from '../workers/ensure-months.ts'

export interface Finding {
  readonly level: 'ok' | 'warn' | 'fault'
  readonly text: string
}

/** PTAX pauses on weekends and holidays; Carnival is the longest pause. */
const RATE_AGE_DAYS_MAX = 6
const DAY_MS = 86_400_000

export interface DatabaseFacts {
  readonly version: string
  readonly fsync: string
  readonly full_page_writes: string
  /** Standbys that stream from it now. */
  readonly standbys: number
  readonly synchronous_standby_names: string
  /** How far its clock is ahead of this machine's. */
  readonly clock_ahead_ms: number
  readonly max_connections: number
}

/** The hold of a call and the lease of a node compare times of both clocks. */
const CLOCK_MS_MAX = 2_000
const FREE_SHARE_MIN = 0.1
const FREE_BYTES_MIN = 2 * 1024 ** 3
const GIB = 1024 ** 3
const CONNECTIONS_SHARE_MAX = 0.9

/** Returns the findings that an operator needs before taking money. */
export function runDoctor(facts: {
  config: Config
  database: DatabaseFacts
  /** Free and total bytes of the disk of the data folder; undefined if it cannot be read. */
  disk: { readonly freeBytes: number; readonly totalBytes: number } | undefined
  fxRate: FxRate | undefined
  /** Partitions of usage after the current month; negative when the current month has none. */
  monthsAhead: number
  oldSnapshots: readonly OldSnapshot[]
  /** Of `DATABASE_READ_URL`. */
  readReplicas: readonly ReplicaState[]
  /** Models whose prices in force are not those of the price data, or why these cannot be read. */
  priceDifferences: readonly string[] | Error
  /** The mode of the database; undefined before the first start of a server. */
  storedMode: Mode | undefined
  /** Customers of a live database with credits of the sandbox. */
  sandboxMoney: readonly { readonly customerId: string }[]
  /** Undefined in sandbox mode, where the key comes from the data folder. */
  sealed?: SealedCounts | undefined
}): Finding[] {
  const { config, database, fxRate } = facts
  const { models } = config
  const findings: Finding[] = [
    { level: 'ok', text: `Node.js ${process.version}, mode ${config.mode}` },
    {
      level: 'ok',
      text: `${database.version.split(' ').slice(0, 2).join(' ')} (${config.databaseUrl ? 'DATABASE_URL' : 'embedded'})`,
    },
  ]
  if (database.fsync !== 'on')
    findings.push({
      level: 'fault',
      text: 'the database runs with fsync off: a power cut loses charges',
    })
  findings.push(...databaseFindings(config, database), ...diskFindings(facts.disk))
  findings.push(workersFinding(config, database))
  findings.push(...findMissingSettings(config).map((text): Finding => ({ level: 'warn', text })))
  findings.push(rateFinding(fxRate))
  findings.push(monthsFinding(facts.monthsAhead))
  findings.push(...facts.oldSnapshots.map(snapshotFinding))
  findings.push(...facts.readReplicas.map(replicaFinding))
  if (facts.sealed) findings.push(...sealedFindings(config, facts.sealed))
  const unreachable = models.filter((model) => model.routes.length === 0)
  findings.push({
    level: 'ok',
    text: `${models.length} models, all priced; ${config.upstreams.length} upstreams with a key`,
  })
  if (unreachable.length > 0) {
    findings.push({
      level: 'warn',
      text: `${unreachable.length === 1 ? '1 model has no upstream with a key and answers' : `${unreachable.length} models have no upstream with a key and answer`} 503: ${unreachable.map((model) => model.id).join(', ')}`,
    })
  }
  findings.push(...priceFindings(facts.priceDifferences))
  findings.push(...modeFindings(config, facts))
  return findings
}

function priceFindings(differing: readonly string[] | Error): Finding[] {
  if (differing instanceof Error)
    return [{ level: 'fault', text: `PRICE_DATA_FILE: ${differing.message}` }]
  if (differing.length === 0) return []
  const text = `the prices of ${differing.length} models differ from the price data (${differing.join(', ')}): see \`prices check\`, and mend them with \`prices set\``
  return [{ level: 'warn', text }]
}

function databaseFindings({ mode }: Config, database: DatabaseFacts): Finding[] {
  const findings: Finding[] = []
  if (database.full_page_writes !== 'on')
    findings.push({
      level: 'fault',
      text: 'the database runs with full_page_writes off: a power cut can damage its files',
    })
  if (Math.abs(database.clock_ahead_ms) > CLOCK_MS_MAX)
    findings.push({
      level: 'warn',
      text: `the clocks of this machine and of the database differ by ${(Math.abs(database.clock_ahead_ms) / 1_000).toFixed(1)} s: synchronise both (NTP)`,
    })
  if (mode === 'sandbox') return findings
  if (database.standbys === 0)
    findings.push({
      level: 'warn',
      text: 'no standby streams from the database: if its disk is lost, every charge since the last backup is lost',
    })
  else
    findings.push({
      level: 'ok',
      text: `${database.standbys} standbys${database.synchronous_standby_names === '' ? ', none of them synchronous: a fail-over may lose the last charges' : ''}`,
    })
  return findings
}

/** The embedded database is started with room for this configuration; a running one keeps its limit. */
function workersFinding(config: Config, { max_connections: max }: DatabaseFacts): Finding {
  const { workers } = config
  const needed = connectionsNeeded(config)
  const text = `${workers === 1 ? 'one process' : `${workers} workers and their parent`}: up to ${needed} connections of the ${max} of the database`
  return needed > max * CONNECTIONS_SHARE_MAX
    ? {
        level: 'warn',
        text: `${text}, which other nodes and commands use too: lower WORKERS or raise max_connections`,
      }
    : { level: 'ok', text }
}

function diskFindings(disk: Parameters<typeof runDoctor>[0]['disk']): Finding[] {
  if (!disk) return []
  const { freeBytes, totalBytes } = disk
  const text = `${(freeBytes / GIB).toFixed(1)} GiB of ${(totalBytes / GIB).toFixed(1)} GiB are free on the disk of DATA_DIR`
  const isScarce = freeBytes < FREE_BYTES_MIN || freeBytes < totalBytes * FREE_SHARE_MIN
  return [
    isScarce
      ? { level: 'warn', text: `${text}: without room, charges cannot wait for the database` }
      : { level: 'ok', text },
  ]
}

function modeFindings(
  { mode, upstreams, upstreamsLeftOut }: Config,
  {
    storedMode,
    sandboxMoney,
  }: Pick<Parameters<typeof runDoctor>[0], 'storedMode' | 'sandboxMoney'>,
): Finding[] {
  const findings: Finding[] = []
  if (storedMode !== undefined && storedMode !== mode)
    findings.push({ level: 'fault', text: new ModeError(storedMode, mode).message })
  if (sandboxMoney.length > 0)
    findings.push({
      level: 'fault',
      text: `customers of this live database have money of the sandbox, which nobody paid; delete their accounts: ${sandboxMoney.map(({ customerId }) => customerId).join(', ')}`,
    })
  if (mode === 'live') return findings
  const real = upstreams.map(({ id }) => id).join(', ')
  findings.push({
    level: 'warn',
    text: real
      ? `sandbox mode: no real money of customers, but calls to ${real} are real and billed to you`
      : 'sandbox mode: no real provider, no real money; set CATRACA_MODE=live to use them',
  })
  if (upstreamsLeftOut.length > 0)
    findings.push({
      level: 'ok',
      text: `sandbox mode does not call ${upstreamsLeftOut.join(', ')}, whose variables are set, without SANDBOX_REAL_PROVIDERS=true`,
    })
  return findings
}

function sealedFindings(
  { secretsKeyPrevious }: Config,
  { previous, unknown }: SealedCounts,
): Finding[] {
  const findings: Finding[] = []
  if (unknown > 0)
    findings.push({
      level: 'fault',
      text: `${unknown} secrets are sealed with a key that is neither SECRETS_KEY nor SECRETS_KEY_PREVIOUS`,
    })
  if (previous > 0)
    findings.push({
      level: 'warn',
      text: `${previous} secrets are sealed with SECRETS_KEY_PREVIOUS: run \`secrets rotate\``,
    })
  else if (secretsKeyPrevious)
    findings.push({
      level: 'ok',
      text: 'nothing is sealed with SECRETS_KEY_PREVIOUS; links in mails of the last weeks are signed with it',
    })
  return findings
}

function monthsFinding(monthsAhead: number): Finding {
  if (monthsAhead < 0)
    return {
      level: 'fault',
      text: 'usage_events has no partition for this month, so charges wait in the spool: start a server',
    }
  const text = `usage_events has partitions for the next ${monthsAhead} months`
  return monthsAhead < MONTHS_AHEAD_MIN
    ? { level: 'warn', text: `${text} only: see usage_months_short in the log of the servers` }
    : { level: 'ok', text }
}

/**
 * Each call replaces rows of its account. While a snapshot may still see the old versions, they stay, and every
 * call reads past them.
 */
function snapshotFinding({ holder, ageSeconds }: OldSnapshot): Finding {
  const age = ageSeconds === null ? '' : ` for ${Math.round(ageSeconds)} s`
  return {
    level: 'warn',
    text: `${holder} holds a snapshot${age}: replaced rows cannot be vacuumed meanwhile, and within minutes a busy customer's rate of calls falls to a fifth`,
  }
}

const REPLICA_TROUBLES: Readonly<Record<ReplicaTrouble, string>> = {
  starting: 'it has not replayed the present within the time of this check',
  unreachable: 'it does not answer',
  behind: 'it is further behind than DATABASE_READ_LAG_SECONDS_MAX',
  takes_writes: 'it takes writes, so it is none',
  other_system: 'it follows another database',
}

function replicaFinding({ name, trouble, ageMs = 0 }: ReplicaState): Finding {
  if (trouble) {
    const text = `the replica ${name} is not read: ${REPLICA_TROUBLES[trouble]}; the primary is read instead`
    return { level: 'warn', text }
  }
  const age = (ageMs / 1_000).toFixed(1)
  return { level: 'ok', text: `the replica ${name} is read: its data is ${age} s old at most` }
}

function rateFinding(fxRate: FxRate | undefined): Finding {
  if (!fxRate)
    return {
      level: 'fault',
      text: 'no exchange rate is stored, so no call can be priced: start a server, or run `fx set`',
    }
  const ageDays = (Date.now() - Date.parse(fxRate.rateDate)) / DAY_MS
  const text = `1 USD = ${decimalE4(fxRate.rateE4)} BRL of ${fxRate.rateDate} (${fxRate.source})`
  return ageDays > RATE_AGE_DAYS_MAX && fxRate.source !== 'sandbox'
    ? { level: 'warn', text: `${text} is old` }
    : { level: 'ok', text }
}
