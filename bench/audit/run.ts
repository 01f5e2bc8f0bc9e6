/**
 * `npm run bench:audit -- --data DIR --events 10000000`: whether proving the ledger slows calls down. Creates
 * or continues a history of that many events, and seals all but its newest part. Then 64 callers hold and
 * settle for one customer, in turns of `--seconds` with nothing beside them, with the audit (a) or with
 * sealing (b), which run at the operators' default shares, `--turns` of each. Prints the calls per second and
 * the ratio of the medians; exits 1 when the audit finds a breach.
 */
import { chmodSync, mkdirSync } from 'node:fs'
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
    /** Only creates and seals the history. */
    'prepare-only': { type: 'boolean', default: false },
  },
})
if (!values.data) throw new Error('--data DIR: the folder that keeps the history')
const CALLERS = 64
/** The share of the history that stays unsealed for the turns in which sealing is measured. */
const OPEN_SHARE = 0.1
const HEAVY_SHARE = 0.1

mkdirSync(values.data, { recursive: true })
// PostgreSQL runs under another account if this process is root.
chmodSync(values.data, 0o755)
const embedded = await startEmbedded({ dataDir: values.data, log: (text) => report(text) })
const { databaseUrl } = embedded
const { db, close } = openDatabase(databaseUrl, { onError: () => {} })
try {
  await migrate(databaseUrl)
  await ensureMonths(db)
  await ensureHistory(
    databaseUrl,
    db,
    { events: Number(values.events), customers: Number(values.customers), heavyShare: HEAVY_SHARE },
    report,
  )
  await sealMost(db)
  if (!values['prepare-only']) process.exitCode = (await measure(db)) ? 0 : 1
} finally {
  await close()
  await embedded.stop()
}

/** With a whole core: no calls run during the preparation. */
async function sealMost(of: Database): Promise<void> {
  const target = Number(values.events) * (1 - OPEN_SHARE)
  const sealed = async (): Promise<number> => {
    const { rows } = await sql<{ events: bigint }>`
      select coalesce(sum(events), 0)::int8 as events from audit_seals`.execute(of)
    return Number(rows[0]?.events)
  }
  const startedMs = performance.now()
  for (let done = await sealed(); done < target;) {
    let slices = 0
    if ((await sealUsage(of, { share: 1, isOver: () => (slices += 1) > 50 })) === 0) break
    done = await sealed()
    report('sealed', String(done), `${Math.round((performance.now() - startedMs) / 1_000)} s`)
  }
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
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!over.signal.aborted) {
      const attempt = test.attempt(key, 10, { ipLimit: requestsPerMinute })
      const { kind } = await test.ledger.hold(attempt)
      if (kind !== 'held') throw new Error(`a call was refused: ${kind}`)
      await test.ledger.resolve(test.charge(attempt, 10), runningCall)
      calls += 1
    }
  })
  /** Calls per second while `beside` runs repeatedly. */
  const turn = async (
    beside?: (isTurnOver: () => boolean) => Promise<unknown>,
  ): Promise<number> => {
    const until = performance.now() + Number(values.seconds) * 1_000
    const isTurnOver = (): boolean => performance.now() >= until
    const before = calls
    const startedMs = performance.now()
    if (beside) while (!isTurnOver()) await beside(isTurnOver)
    else await new Promise((resolve) => setTimeout(resolve, until - performance.now()))
    return ((calls - before) / (performance.now() - startedMs)) * 1_000
  }
  let isSound = true
  const proofs: Record<string, (isTurnOver: () => boolean) => Promise<unknown>> = {
    async audit() {
      const startedMs = performance.now()
      const { ok, checks } = await auditMoney(of, { share })
      report(
        'audit',
        ok ? 'sound' : 'NOT SOUND',
        `${Math.round((performance.now() - startedMs) / 1_000)} s`,
      )
      for (const check of checks) if (!check.ok) report(JSON.stringify(check).slice(0, 500))
      isSound &&= ok
    },
    sealing: (isTurnOver) => sealUsage(of, { share, isOver: isTurnOver }),
  }
  await turn()
  for (const [name, beside] of Object.entries(proofs)) {
    const [without, during]: [number[], number[]] = [[], []]
    for (let count = Number(values.turns); count > 0; count--) {
      without.push(await turn())
      during.push(await turn(beside))
      report(
        name,
        `without ${Math.round(without.at(-1) ?? 0)}/s`,
        `beside ${Math.round(during.at(-1) ?? 0)}/s`,
      )
    }
    const [alone, both] = [median(without), median(during)]
    process.stdout.write(
      `${name}: ${Math.round(alone)} calls/s without, ${Math.round(both)} beside it: ${((both / alone - 1) * 100).toFixed(1)} %\n`,
    )
  }
  over.abort()
  await Promise.all(callers)
  await test.ledger.close()
  return isSound
}
