/**
 * `npm run bench:audit -- --data DIR --events 10000000`: whether proving the ledger slows calls down. Creates a history
 * of that many events if there is no such folder, and seals all events. Then 64 callers hold and settle `--rate` calls a
 * second for one customer, in `--turns` pairs of turns: one without other work, and one beside an audit, with `--sealing`
 * also beside the sealing of new events, each at the operators' default share of a core. Between its turns the audit
 * waits. Neighbours are compared, because the machine and the age of the tables change the time of a call more than the
 * audit does. The rate is fixed, because callers at full speed would add more events than are sealed meanwhile.
 * Afterwards, the audit goes on without calls to its end; with `--part`, it is left there. Prints both turns of each pair
 * and the ratios; exits 1 when the audit finds a breach.
 */
import { chmodSync, mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Kysely, PostgresDialect, sql } from 'kysely'
import type pg from 'pg'
import { startEmbedded } from '../../src/platform/db/embedded.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { openDatabase, type Database } from '../../src/platform/db/open.ts'
import { sealUsage } from '../../src/money/ledger/audit/audit-seals.ts'
import { auditMoney } from '../../src/money/payments/audit-money.ts'
import { ensureMonths } from '../../src/app/workers/ensure-months.ts'
import { openTestLedger, runningCall, worth } from '../../test/harness/open-test-ledger.ts'
import { seedCustomer } from '../../test/harness/test-database.ts'
import { ensureHistory } from '../reads/ensure-history.ts'
import { report } from '../report.ts'
import { describeRatios, median } from '../ratios.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    events: { type: 'string', default: '10000000' },
    customers: { type: 'string', default: '200' },
    turns: { type: 'string', default: '15' },
    seconds: { type: 'string', default: '20' },
    share: { type: 'string', default: '0.1' },
    rate: { type: 'string', default: '2000' },
    /** Only creates, or continues, and seals the history. */
    'prepare-only': { type: 'boolean', default: false },
    sealing: { type: 'boolean', default: false },
    part: { type: 'boolean', default: false },
  },
})
if (!values.data) throw new Error('--data DIR: the folder that keeps the history')
const CALLERS = 64
/** Between two lines of the report. */
const SLICES_AT_ONCE = 50
const HEAVY_SHARE = 0.1

const isNew = mkdirSync(values.data, { recursive: true }) !== undefined
// PostgreSQL runs under another account if this process is root.
chmodSync(values.data, 0o755)
const embedded = await startEmbedded({ dataDir: values.data, log: (text) => report(text) })
const { databaseUrl } = embedded
const { db, close } = openDatabase(databaseUrl, { onError: () => {} })
try {
  await migrate(databaseUrl)
  await ensureMonths(db)
  const size = { events: Number(values.events), customers: Number(values.customers) }
  if (isNew || values['prepare-only'])
    await ensureHistory(databaseUrl, db, { ...size, heavyShare: HEAVY_SHARE }, report)
  await sealAll(db)
  if (!values['prepare-only']) process.exitCode = (await measure(db)) ? 0 : 1
} finally {
  await close()
  await embedded.stop()
}
// With `--part`, the audit still waits for a connection.
process.exit()

/** Seals at a whole core: no calls run meanwhile. */
async function sealAll(of: Database): Promise<void> {
  const startedMs = performance.now()
  for (let isDone = false; !isDone;) {
    let slices = 0
    // Time goes on, so something is left each time.
    isDone =
      (await sealUsage(of, { share: 1, isOver: () => (slices += 1) > SLICES_AT_ONCE })) <
      SLICES_AT_ONCE
    const { rows } = await sql<{ events: bigint }>`
      select coalesce(sum(events), 0)::int8 as events from audit_seals`.execute(of)
    report(
      `sealed ${rows[0]?.events} events`,
      `${Math.round((performance.now() - startedMs) / 1_000)} s`,
    )
  }
}

interface Turn {
  readonly callsPerSecond: number
  readonly callMs: number
}

async function measure(of: Database): Promise<boolean> {
  const share = Number(values.share)
  const test = await openTestLedger(of, databaseUrl, { laneCount: 4 })
  // A quiet machine makes more than a million calls a minute.
  const requestsPerMinute = 1_000_000_000
  const { key } = await seedCustomer(of, {
    balanceBrl: worth(1_000_000_000),
    requestsPerMinute,
  })
  const over = new AbortController()
  let calls = 0
  let callsMs = 0
  const periodMs = (CALLERS / Number(values.rate)) * 1_000
  const callers = Array.from({ length: CALLERS }, async (_, caller) => {
    let dueMs = performance.now() + (caller / CALLERS) * periodMs
    while (!over.signal.aborted) {
      const startedMs = performance.now()
      const attempt = test.attempt(key, 10, { ipLimit: requestsPerMinute })
      const { kind } = await test.ledger.hold(attempt)
      if (kind !== 'held') throw new Error(`a call was refused: ${kind}`)
      await test.ledger.resolve(test.charge(attempt, 10), runningCall)
      calls += 1
      callsMs += performance.now() - startedMs
      // A late caller does not catch up: its calls would come in bursts.
      dueMs = Math.max(dueMs + periodMs, performance.now())
      await sleep(Math.max(0, dueMs - performance.now()))
    }
  })
  const turn = async (): Promise<Turn> => {
    const [callsBefore, msBefore] = [calls, callsMs]
    const startedMs = performance.now()
    await sleep(Number(values.seconds) * 1_000)
    const made = calls - callsBefore
    return {
      callsPerSecond: (made / (performance.now() - startedMs)) * 1_000,
      callMs: (callsMs - msBefore) / made,
    }
  }
  const gated = openGated(databaseUrl)
  const ended = new AbortController()
  const audited = auditMoney(gated.db, { share }).finally(() => ended.abort())
  audited.catch(() => {})
  const beside = async (): Promise<Turn> => {
    gated.open()
    const turnOver = new AbortController()
    const isOver = (): boolean => turnOver.signal.aborted
    const sealing = (async () => {
      while (values.sealing && !isOver()) {
        await sealUsage(of, { share, isOver })
        await sleep(1_000)
      }
    })()
    const measured = await turn()
    turnOver.abort()
    await Promise.all([sealing, gated.close()])
    return measured
  }
  await turn()
  const pairs: { alone: Turn; beside: Turn }[] = []
  while (pairs.length < Number(values.turns) && !ended.signal.aborted) {
    const pair = { alone: await turn(), beside: await beside() }
    pairs.push(pair)
    report(`${pair.alone.callMs.toFixed(2)} ms alone, ${pair.beside.callMs.toFixed(2)} beside`)
  }
  for (const field of ['callsPerSecond', 'callMs'] as const)
    process.stdout.write(
      `${field}: ${median(pairs.map(({ alone }) => alone[field])).toFixed(2)} alone, ` +
        `beside ${describeRatios(pairs.map((pair) => pair.beside[field] / pair.alone[field]))} of it\n`,
    )
  over.abort()
  await Promise.all(callers)
  await test.ledger.close()
  // An audit that has failed or ended has a result, also in part.
  if (values.part && !ended.signal.aborted) return true
  gated.open()
  const { ok: isSound, checks } = await audited
  report(isSound ? 'sound' : 'NOT SOUND')
  for (const check of checks) if (!check.ok) report(JSON.stringify(check).slice(0, 500))
  await gated.db.destroy()
  return isSound
}

interface GatedDatabase {
  readonly db: Database
  open(): void
  /** Resolves once no connection is in use; the next user waits for `open`. */
  close(): Promise<void>
}

/** A database that is closed at first, and whose users wait while it is. */
function openGated(databaseUrl: string): GatedDatabase {
  const { pool } = openDatabase(databaseUrl, { onError: () => {} })
  const gate = { opened: Promise.withResolvers<void>(), used: 0 }
  const connect = async (): Promise<pg.PoolClient> => {
    await gate.opened.promise
    gate.used += 1
    return pool.connect()
  }
  pool.on('release', () => (gate.used -= 1))
  return {
    db: new Kysely({
      dialect: new PostgresDialect({
        pool: { options: pool.options, connect, end: () => pool.end() },
      }),
    }),
    open: () => gate.opened.resolve(),
    async close() {
      gate.opened = Promise.withResolvers()
      while (gate.used > 0) await sleep(10)
    },
  }
}
