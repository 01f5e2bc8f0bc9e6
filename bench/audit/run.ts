/**
 * `npm run bench:audit -- --data DIR --events 10000000`: whether proving the ledger slows calls down. Creates a history
 * of that many events if there is no such folder, and seals all events. Then 64 callers hold and settle `--rate` calls a
 * second for one customer: in `--turns` turns of `--seconds` with nothing beside them, in further ones until a whole
 * audit has ended, with the sealing of new events every minute, both at the operators' default share of a core, and
 * again in `--turns` with nothing. (The job seals every hour; a minute keeps the unsealed time short.) The rate is fixed, because callers at full speed would add more events than are
 * sealed meanwhile. Prints the calls per second, the milliseconds of a call and the ratio of the medians; exits 1 when
 * the audit finds a breach.
 */
import { chmodSync, mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { startEmbedded } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { openDatabase, type Database } from '../../src/db/open.ts'
import { sealUsage } from '../../src/ledger/audit/audit-seals.ts'
import { auditMoney } from '../../src/payments/audit-money.ts'
import { ensureMonths } from '../../src/workers/ensure-months.ts'
import { openTestLedger, runningCall, worth } from '../../test/harness/open-test-ledger.ts'
import { seedCustomer } from '../../test/harness/test-database.ts'
import { ensureHistory } from '../reads/ensure-history.ts'
import { report } from '../report.ts'
import { median } from '../summarise-rounds.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    events: { type: 'string', default: '10000000' },
    customers: { type: 'string', default: '200' },
    turns: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '10' },
    share: { type: 'string', default: '0.1' },
    rate: { type: 'string', default: '2000' },
    /** Only creates, or continues, and seals the history. */
    'prepare-only': { type: 'boolean', default: false },
  },
})
if (!values.data) throw new Error('--data DIR: the folder that keeps the history')
const CALLERS = 64
const SEALED_EVERY_S = 60
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
  const turnsUntil = async (isOver: (made: number) => boolean): Promise<Turn[]> => {
    const turns: Turn[] = []
    while (!isOver(turns.length)) turns.push(await turn())
    return turns
  }
  const alone = (): Promise<Turn[]> => turnsUntil((made) => made >= Number(values.turns))
  await turn()
  const before = await alone()
  const audit = new AbortController()
  const hasEnded = (): boolean => audit.signal.aborted
  const sealing = (async () => {
    while (!hasEnded()) {
      await sealUsage(of, { share, isOver: hasEnded })
      for (let waited = 0; !hasEnded() && waited < SEALED_EVERY_S; waited++) await sleep(1_000)
    }
  })()
  const startedMs = performance.now()
  const audited = auditMoney(of, { share }).finally(() => audit.abort())
  const beside = await turnsUntil(hasEnded)
  const { ok: isSound, checks } = await audited
  await sealing
  report(
    isSound ? 'sound' : 'NOT SOUND',
    `${Math.round((performance.now() - startedMs) / 1_000)} s, ${beside.length} turns`,
  )
  for (const check of checks) if (!check.ok) report(JSON.stringify(check).slice(0, 500))
  const after = await alone()
  const without = [...before, ...after]
  const medianOf = (turns: readonly Turn[], field: keyof Turn): number =>
    median(turns.map((one) => one[field]))
  for (const [name, turns] of Object.entries({ before, beside, after }))
    process.stdout.write(
      `${name}: ${medianOf(turns, 'callsPerSecond').toFixed(0)} calls/s of ${medianOf(turns, 'callMs').toFixed(2)} ms ` +
        `(${turns.map(({ callMs }) => callMs.toFixed(2)).join(' ')})\n`,
    )
  const change = (field: keyof Turn): string =>
    `${((medianOf(beside, field) / medianOf(without, field) - 1) * 100).toFixed(1)} %`
  process.stdout.write(
    `beside the audit: calls/s ${change('callsPerSecond')}, the time of a call ${change('callMs')}\n`,
  )
  over.abort()
  await Promise.all(callers)
  await test.ledger.close()
  return isSound
}
