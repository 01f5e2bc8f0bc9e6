/**
 * Months of calls by the ledger's own statements: charges, releases, overruns, corrections, sessions and tasks that go on
 * from month to month, budgets that began within an old seal, and calls that began in one month and were settled in the
 * next. Each burst of calls is made now, and then its times are moved back; so the order of all times stays.
 */
import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { createApiKey, type ApiKey } from '../../src/customers/api-keys.ts'
import { ensureMonths } from '../../src/app/workers/ensure-months.ts'
import { sealUsage } from '../../src/money/ledger/audit/audit-seals.ts'
import { release } from '../../src/money/ledger/resolution.ts'
import { rollUsageDays } from '../../src/money/ledger/roll-usage-days.ts'
import { addMonths } from '../../src/money/months/month.ts'
import type { Attempt } from '../../src/money/ledger/attempt.ts'
import {
  NANO_BRL_PER_TOKEN,
  openTestLedger,
  worth,
  type TestLedger,
} from '../harness/open-test-ledger.ts'
import { seedTeam } from '../harness/seed-team.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'

/** So that the months are old enough: the time that `archiveMonth` is given. */
export const NOW = new Date(Date.now() + 400 * 86_400_000)

export interface History {
  readonly database: TestDatabase
  readonly ledger: TestLedger
  /** The oldest first. */
  readonly months: readonly [string, string, string]
  readonly keys: readonly ApiKey[]
  close(): Promise<void>
}

/** The three months before that of yesterday, and calls of today. */
export async function buildHistory(seed: number): Promise<History> {
  const database = await createTestDatabase()
  const { db } = database
  const monthAt = (ms: number): string => new Date(ms).toISOString().slice(0, 7)
  // On the first of a month the last one still goes on in other time zones: its budgets would count what is moved there.
  const lastMonth = addMonths(monthAt(Date.now() - 86_400_000), -1)
  const months = [-2, -1, 0].map((count) => addMonths(lastMonth, count)) as [string, string, string]
  await addPartitions(database, addMonths(lastMonth, -3), monthAt(Date.now()))
  const ledger = await openTestLedger(db, database.databaseUrl)
  await sql`update nodes set seen_at = now() + interval '1 hour'`.execute(db)
  const keys = await makeKeys(database)
  const random = randomOf(seed)
  let open: Open[] = []
  for (const month of months) {
    open = await burst(ledger, keys, random, open)
    await moveTo(database, `${month}-10T12:00:00Z`)
    open = await burst(ledger, keys, random, open)
    await moveTo(database, `${addMonths(month, 1)}-01T00:00:00Z`)
  }
  const rest = await burst(ledger, keys, random, open)
  for (const { attempt } of rest.filter(({ isCorrected }) => !isCorrected))
    await ledger.ledger.resolve(ledger.charge(attempt, 3))
  await sumHours(database)
  await rollUsageDays(db)
  await sealUsage(db, { share: 1, marginSeconds: 0, eventsMax: 40 })
  return {
    database,
    ledger,
    months,
    keys,
    async close() {
      await ledger.ledger.close()
      await database.drop()
    },
  }
}

/** As an installation that has run since the first of these months. */
async function addPartitions({ db }: TestDatabase, first: string, before: string): Promise<void> {
  await sql`drop table usage_events_past`.execute(db)
  for (let month = first; month < before; month = addMonths(month, 1))
    await sql
      .raw(`create table public.usage_events_${month.replace('-', '_')} partition of usage_events
        for values from ('${month}-01T00:00:00Z') to ('${addMonths(month, 1)}-01T00:00:00Z')`)
      .execute(db)
  await sql
    .raw(`create table public.usage_events_past partition of usage_events
      for values from (minvalue) to ('${first}-01T00:00:00Z')`)
    .execute(db)
  await ensureMonths(db)
}

async function makeKeys({ db }: TestDatabase): Promise<ApiKey[]> {
  const plain = await seedCustomer(db, { balanceBrl: worth(1_000_000) })
  const { customerId } = await seedCustomer(db, { balanceBrl: worth(1_000_000) })
  const teamId = await seedTeam(db, customerId, { limitNanoBrl: 900_000n * NANO_BRL_PER_TOKEN })
  const input = { customerId, requestsPerMinute: 1_000_000 }
  const limits = {
    budget: { limitPicoUsd: 900_000_000_000n, period: 'lifetime' as const },
    minuteLimitNanoBrl: 900_000n * NANO_BRL_PER_TOKEN,
    dayLimitNanoBrl: 900_000n * NANO_BRL_PER_TOKEN,
    taskLimitNanoBrl: 900_000n * NANO_BRL_PER_TOKEN,
  }
  const capped = await createApiKey(db, { ...input, name: 'com limites', ...limits })
  const ofTeam = await createApiKey(db, { ...input, name: 'da equipe', teamId })
  const monthly = { limitPicoUsd: 900_000_000_000n, period: 'month' as const }
  const byMonth = await createApiKey(db, { ...input, name: 'do mês', budget: monthly })
  return [plain.key, capped.key, ofTeam.key, byMonth.key]
}

const CALLS = 24

/** A call whose hold is open, or whose first outcome is still to be corrected. */
interface Open {
  readonly attempt: Attempt
  readonly isCorrected: boolean
}

/** Returns the calls that the next burst, in the next half of a month, ends. */
async function burst(
  { ledger, attempt, charge }: TestLedger,
  keys: readonly ApiKey[],
  random: (below: number) => number,
  open: readonly Open[],
): Promise<Open[]> {
  for (const { attempt: one, isCorrected } of open) {
    const { kind } = await ledger.resolve({ ...charge(one, 12 + random(20)), isFinal: true })
    assert.equal(kind, isCorrected ? 'corrected' : 'committed')
  }
  const left: Open[] = []
  for (let call = 0; call < CALLS; call++) {
    const key = keys[random(keys.length)] as ApiKey
    const sessionId = random(3) === 0 ? null : `conversa ${random(6)}`
    const one = attempt(key, 10, { sessionId, ...taskOf(key, sessionId) })
    assert.equal((await ledger.hold(one)).kind, 'held')
    const kind = random(10)
    if (kind === 0) left.push({ attempt: one, isCorrected: false })
    if (kind === 0) continue
    // Sometimes above its hold.
    const first = kind === 1 ? release(one, 'test') : charge(one, 1 + random(kind === 2 ? 30 : 9))
    assert.equal((await ledger.resolve(first)).kind, 'committed')
    if (kind === 4) left.push({ attempt: one, isCorrected: true })
    if (kind > 3) continue
    const truth = random(3) === 0 ? release(one, 'test') : charge(one, 40 + random(9))
    await ledger.resolve({ ...truth, isFinal: true })
  }
  return left
}

function taskOf(key: ApiKey, sessionId: string | null): Partial<Attempt> {
  return sessionId !== null && key.taskLimitNanoBrl !== null
    ? { taskLimitNanoBrl: key.taskLimitNanoBrl }
    : {}
}

const MOVED: readonly (readonly [table: string, columns: readonly string[]])[] = [
  ['usage_events', ['created_at', 'settled_at']],
  ['holds', ['created_at']],
  ['usage_sessions', ['first_request_at', 'last_request_at']],
  ['account_debts', ['created_at']],
  ['charge_corrections', ['created_at']],
  ['ledger_entries', ['created_at']],
  ['api_key_budgets', ['period_started_at', 'spent_since', 'counted_since']],
  ['team_budgets', ['period_started_at', 'spent_since']],
  ['key_caps', ['period_started_at', 'spent_since', 'counted_since']],
  ['task_spends', ['spent_since', 'last_held_at']],
]
/** A period of a month began weeks ago; what has moved is older on every day of a month. */
const UNMOVED_SINCE = "date_trunc('month', now(), 'America/Sao_Paulo')"

/** Moves what happened since the last call back, so that now becomes `at`. */
async function moveTo({ db }: TestDatabase, at: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    for (const [table, columns] of MOVED)
      for (const column of columns)
        await sql
          .raw(
            `update ${table} set ${column} = ${column} - (clock_timestamp() - timestamptz '${at}')
             where ${column} >= ${UNMOVED_SINCE} and isfinite(${column})`.replaceAll(
              'clock_timestamp()',
              'now()',
            ),
          )
          .execute(trx)
  })
}

/** The hours of the events, which were summed up before their times moved. */
async function sumHours({ db }: TestDatabase): Promise<void> {
  await sql`delete from usage_hours`.execute(db)
  await sql`
    insert into usage_hours (customer_id, hour_at, api_key_id, model_id, charged_requests, released_requests,
      prompt_tokens, completion_tokens, cost_upstream_pico_usd, cost_billed_nano_brl)
    select customer_id, date_trunc('hour', created_at), api_key_id, model_id, sum(event_charges(outcome, reason)),
      count(*) filter (where outcome = 'released'), sum(prompt_tokens), sum(completion_tokens),
      sum(cost_upstream_pico_usd), sum(cost_billed_nano_brl)
    from usage_events group by 1, 2, 3, 4`.execute(db)
}

/** mulberry32 */
export function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below) | 0
  }
}
