/** The costs that upstreams report for days against our charges, and the operator's commands for them. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { explainDiscrepancy } from '../../src/money/reconciliation/discrepancies.ts'
import type { DayCost } from '../../src/money/reconciliation/parse-cost-export.ts'
import { readReport } from '../../src/money/reconciliation/report.ts'
import {
  compareUpstreamCosts,
  isBeyondTolerance,
  importUpstreamCosts,
} from '../../src/money/reconciliation/upstream-costs.ts'
import { runCli, TARGET_LINE } from '../harness/run-cli.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { createTestDatabase, seedCustomer } from '../harness/test-database.ts'

const PICO = 1_000_000_000_000n
/** The upstream of the usage that tests seed. */
const UPSTREAM = 'seed'

const database = await createTestDatabase()
const { db } = database
const dataDir = await mkdtemp(join(tmpdir(), 'catraca-costs-'))
after(async () => {
  await database.drop()
  await rm(dataDir, { recursive: true, force: true })
})

let log: string[] = []
const toLog = createLog('info', (line) => void log.push(line))
const opened = (): number =>
  log.filter((line) => line.includes('reconciliation_discrepancy_opened')).length

const NOW = new Date()

/** `YYYY-MM-DD` in UTC. */
function dayAgo(days: number): string {
  return new Date(NOW.getTime() - days * 86_400_000).toISOString().slice(0, 10)
}

const { customerId, key } = await seedCustomer(db, { balanceBrl: '100000' })
async function seedCosts(costs: readonly (readonly [at: string, usd: bigint])[]): Promise<void> {
  await seedUsage(db, {
    customerId,
    apiKeyId: key.id,
    events: costs.map(([at, usd]) => ({
      at,
      modelId: 'gpt-4o',
      promptTokens: 1,
      completionTokens: 1,
      costPicoUsd: usd * PICO,
    })),
  })
}

const cost = (day: string, costPicoUsd: bigint, model = ''): DayCost => ({
  day,
  model,
  costPicoUsd,
})
const compare = (fromDay: string) =>
  compareUpstreamCosts(db, { fromDay, upstreamId: UPSTREAM, now: NOW }, toLog)

async function discrepancyOn(day: string) {
  const { differences } = await readReport(db, 365)
  const found = differences.filter((one) => one.day === day && one.upstream === UPSTREAM)
  assert.ok(found.length <= 1)
  return found[0]
}

function store(costs: readonly DayCost[]): Promise<string[]> {
  return importUpstreamCosts(db, SYSTEM, { upstreamId: UPSTREAM, costs, format: 'test' })
}

test('a day is compared from midnight to midnight UTC, and only a discrepancy beyond the tolerance is open', async () => {
  const [equal, near, far, before] = [dayAgo(3), dayAgo(4), dayAgo(5), dayAgo(6)]
  await seedCosts([
    [`${far}T00:00:00Z`, 60n],
    [`${far}T23:59:59.999999Z`, 40n],
    [`${near}T00:00:00Z`, 100n],
    [`${equal}T12:00:00Z`, 7n],
  ])
  await store([
    cost(before, 0n),
    cost(far, 120n * PICO, 'a'),
    cost(far, 5n * PICO, 'b'),
    cost(near, 101n * PICO),
    cost(equal, 7n * PICO),
    // Not over yet.
    cost(dayAgo(0), 1_000n * PICO),
  ])
  log = []
  const compared = await compare(before)
  // Days that the export omits have no cost.
  assert.deepEqual(
    compared.map(({ day, oursPicoUsd, theirsPicoUsd }) => [
      day,
      oursPicoUsd / PICO,
      theirsPicoUsd / PICO,
    ]),
    [
      [before, 0n, 0n],
      [far, 100n, 125n],
      [near, 100n, 101n],
      [equal, 7n, 7n],
      [dayAgo(2), 0n, 0n],
      [dayAgo(1), 0n, 0n],
    ],
  )
  const found = await discrepancyOn(far)
  assert.equal(found?.kind, 'upstream_cost')
  assert.equal(found.status, 'open')
  assert.equal(found.difference_usd?.rawJSON, '-25')
  assert.equal(found.difference_percent, -20)
  for (const day of [equal, near, before]) assert.equal(await discrepancyOn(day), undefined)
  assert.equal(opened(), 1)
  await compare(before)
  assert.equal(opened(), 1, 'the same discrepancy is reported once')
})

test('an import replaces its days: repeating it changes nothing, and another one overwrites it', async () => {
  const [first, second] = [dayAgo(10), dayAgo(9)]
  await seedCosts([[`${first}T01:00:00Z`, 10n]])
  const costs = [cost(first, 9n * PICO, 'a'), cost(second, 1n, 'a')]
  for (let times = 0; times < 2; times++) {
    assert.deepEqual(await store(costs), [first, second])
    await compare(first)
    assert.equal((await discrepancyOn(first))?.theirs_usd?.rawJSON, '9')
  }
  // The same days without models.
  await store([cost(first, 10n * PICO), cost(second, 0n)])
  await compare(first)
  assert.equal((await discrepancyOn(first))?.status, 'gone')
  const rows = await db
    .selectFrom('upstream_costs')
    .select(['day', 'model', 'cost_pico_usd'])
    .where('day', 'in', [first, second])
    .orderBy('day')
    .execute()
  assert.deepEqual(rows, [
    { day: first, model: '', cost_pico_usd: 10n * PICO },
    { day: second, model: '', cost_pico_usd: 0n },
  ])
})

test('a note explains a day until its amounts change', async () => {
  const day = dayAgo(20)
  await store([cost(day, 5n * PICO)])
  await compare(day)
  const id = (await discrepancyOn(day))?.id ?? ''
  const explanation = 'pesquisa na web, que não revendemos'
  await explainDiscrepancy(db, SYSTEM, { id, explanation })
  await compare(day)
  const kept = await discrepancyOn(day)
  assert.deepEqual(
    [kept?.status, kept?.explanation, kept?.explained_by],
    ['explained', explanation, 'operator'],
  )
  await seedCosts([[`${day}T01:00:00Z`, 1n]])
  await compare(day)
  const other = await discrepancyOn(day)
  assert.deepEqual([other?.id, other?.status, other?.explanation], [id, 'open', null])
})

test('a discrepancy is open only beyond both one percent and one cent', () => {
  const cent = PICO / 100n
  assert.equal(isBeyondTolerance(0n, cent), false)
  assert.equal(isBeyondTolerance(0n, cent + 1n), true)
  assert.equal(isBeyondTolerance(cent + 1n, 0n), true)
  assert.equal(isBeyondTolerance(99n * PICO, 100n * PICO), false)
  assert.equal(isBeyondTolerance(99n * PICO - 1n, 100n * PICO), true)
  assert.equal(isBeyondTolerance(101n * PICO + 1n, 100n * PICO), true)
  assert.equal(isBeyondTolerance(-PICO, -PICO), false)
})

test('the commands import, report with exit code 1 while a discrepancy is open, and explain', async () => {
  await sql`update reconciliation_discrepancies set status = 'gone', resolved_at = now() where status = 'open'`.execute(
    db,
  )
  const env = { DATABASE_URL: database.databaseUrl, DATA_DIR: dataDir }
  const file = join(dataDir, 'costs.csv')
  const [first, last] = [dayAgo(31), dayAgo(30)]
  await writeFile(file, `day,cost_usd,model\n${first},3.25,m\n${last},0.005,m\n`)
  const importArgs = ['costs', 'import', '--upstream', 'sandbox', '--file', file, '--json']
  const [wrongUpstream, noFile, clean, imported] = await Promise.all([
    runCli(['costs', 'import', '--upstream', 'sandbocks', '--file', file], env),
    runCli(['costs', 'import', '--upstream', 'sandbox', '--file', join(dataDir, 'none')], env),
    runCli(['reconcile', '--days', '366'], env),
    runCli(importArgs, env),
  ])
  for (const { code } of [wrongUpstream, noFile, clean]) assert.equal(code, 2)
  assert.deepEqual([imported.code, imported.stderr.replace(TARGET_LINE, '')], [0, ''])
  const result = JSON.parse(imported.stdout)
  assert.deepEqual(
    [result.format, result.from, result.to, result.total_usd],
    ['generic', first, last, '3.255'],
  )
  assert.deepEqual(
    result.days.map((day: { is_open: boolean }) => day.is_open),
    [true, false],
  )
  const open = await runCli(['reconcile', '--json'], env)
  assert.equal(open.code, 1)
  const report = JSON.parse(open.stdout)
  assert.equal(report.sums.open.count, 1)
  assert.equal(report.sums.open.difference_usd, 3.25)
  assert.equal(report.payments.is_current, false)
  const id = report.differences[0].id as string
  const explained = await runCli(['reconcile', 'explain', id, '--note', 'teste de carga'], env)
  assert.deepEqual([explained.code, explained.stderr.replace(TARGET_LINE, '')], [0, ''])
  const done = await runCli(['reconcile'], env)
  assert.equal(done.code, 0)
  assert.match(done.stdout, /never read/)
  assert.match(done.stdout, /teste de carga/)
  const acts = await db
    .selectFrom('audit_log')
    .select(['action', 'actor_kind'])
    .where('actor_kind', '=', 'operator')
    .execute()
  assert.deepEqual(acts.map(({ action, actor_kind }) => `${action} ${actor_kind}`).sort(), [
    'reconciliation_difference.explained operator',
    'upstream_costs.imported operator',
  ])
})
