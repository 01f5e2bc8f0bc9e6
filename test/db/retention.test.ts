/** docs/security.md says for each table how long a row stays; where that is a time, a job deletes older rows. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql, type RawBuilder } from 'kysely'
import { createId } from '../../src/platform/lib/ids.ts'
import { listPruning } from '../../src/app/workers/list-pruning.ts'
import { seedTeam } from '../harness/seed-team.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const UNITS_MS: Readonly<Record<string, number>> = {
  hour: HOUR_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
  year: 366 * DAY_MS,
}
const NUMBERS: Readonly<Record<string, number>> = { a: 1, an: 1, six: 6 }

const page = await readFile(join(import.meta.dirname, '../../docs/security.md'), 'utf8')

/** By table: for how long a row is kept, 0 where it has an expiry of its own. */
const kept = new Map(
  page
    .slice(page.indexOf('\n## Tables'))
    .split('\n')
    .flatMap((line): [string, number][] => {
      const [, name, text = ''] = /^\| `(\w+)` \|[^|]*\|[^|]*\| (.*) \|$/.exec(line) ?? []
      const ms = keptMs(text)
      return name === undefined || ms === undefined ? [] : [[name, ms]]
    }),
)

function keptMs(text: string): number | undefined {
  if (text.startsWith('until it expires')) return 0
  // Tax law sets the least, and no job prunes these.
  if (/five years/.test(text)) return undefined
  const [, number = '', unit = ''] = /\b(an?|six|\d+) (hour|day|week|year)s?\b/.exec(text) ?? []
  if (unit === '')
    return /up to (\d+)/.test(text) ? Number(/up to (\d+)/.exec(text)?.[1]) * DAY_MS : undefined
  return (NUMBERS[number] ?? Number(number)) * (UNITS_MS[unit] as number)
}

let database: TestDatabase
let customerId: string
let keyId: string
let teamId: string
let userId: string

before(async () => {
  database = await createTestDatabase()
  const seeded = await seedCustomer(database.db, { balanceBrl: '1' })
  customerId = seeded.customerId
  keyId = seeded.key.id
  teamId = await seedTeam(database.db, customerId)
  userId = createId()
  await sql`update customers set stored_responses_days = 30 where id = ${customerId}`.execute(
    database.db,
  )
  await sql`insert into sign_in_users (id, email, name, is_verified)
    values (${userId}, 'a@example.com', 'A', true)`.execute(database.db)
})
after(() => database.drop())

/** A row that the words of the page make as old as `at`. */
const INSERTS: Readonly<Record<string, (id: string, at: Date) => RawBuilder<unknown>>> = {
  audit_log: (id, at) =>
    sql`insert into audit_log (id, created_at, actor_kind, action) values (${id}, ${at}, 'system', 'a.b')`,
  auth_events: (id, at) => sql`insert into auth_events (id, received_at) values (${id}, ${at})`,
  batches: (id, at) =>
    sql`insert into batches (id, customer_id, api_key_id, endpoint, lines, created_at, expires_at, ended_at)
      values (${id}, ${customerId}, ${keyId}, '/v1/messages', 0, ${at}, ${at}, ${at})`,
  cached_answers: (id, at) =>
    sql`insert into cached_answers (customer_id, digest, sealed, expires_at)
      values (${customerId}, sha256(convert_to(${id}, 'UTF8')), ''::bytea, ${at})`,
  card_attempts: (id, at) =>
    sql`insert into card_attempts (id, customer_id, created_at) values (${id}, ${customerId}, ${at})`,
  files: (id, at) =>
    sql`insert into files (id, customer_id, api_key_id, name, bytes, expires_at)
      values (${id}, ${customerId}, ${keyId}, 'x', 0, ${at})`,
  videos: (id, at) =>
    sql`insert into videos (id, customer_id, api_key_id, model_id, upstream_id, upstream_job, price_id, unit, seconds,
        status, completed_at)
      values (${id}, ${customerId}, ${keyId}, 'm', 'u', 'j', 1, 'video_seconds', 1,
        'completed', ${at})`,
  generated_images: (id, at) =>
    sql`insert into generated_images (id, customer_id, media_type, bytes, expires_at)
      values (${id}, ${customerId}, 'image/png', ''::bytea, ${at})`,
  idempotency_keys: (id, at) =>
    sql`insert into idempotency_keys (id, customer_id, key_digest, content_sealed, is_answered, created_at)
      values (${id}, ${customerId}, convert_to(${id}, 'UTF8'), ''::bytea, true, ${at})`,
  rate_windows: (id, at) =>
    sql`insert into rate_windows (subject, window_at, requests, tokens) values (${id}, ${at}, 1, 0)`,
  reconciliation_runs: (id, at) =>
    sql`insert into reconciliation_runs (id, processor, from_day, to_day, started_at)
      values (${id}, 'asaas', '2020-01-01', '2020-01-01', ${at})`,
  shield_counts: (_id, at) =>
    sql`insert into shield_counts (customer_id, api_key_id, day, action, kind, occurrences)
      values (${customerId}, ${keyId}, ${at}::timestamptz::date, 'mask', 'cpf', 1)`,
  model_speed_days: (id, at) =>
    sql`insert into model_speed_days (model_id, day, until_at, first_byte_counts, first_byte_customers,
        pace_counts, pace_customers)
      values (${id}, ${at}::timestamptz::date, ${at}, array_fill(0::int8, array[156]), 0, array_fill(0::int8, array[156]), 0)`,
  sign_in_attempts: (id, at) =>
    sql`insert into sign_in_attempts (key_hash, tries, ends_at)
      values (sha256(convert_to(${id}, 'UTF8')), 1, ${new Date(at.getTime() + DAY_MS)})`,
  sign_in_sessions: (id, at) =>
    sql`insert into sign_in_sessions (id, user_id, token, created_at, expires_at)
      values (${id}, ${userId}, ${id}, ${at}, ${new Date(at.getTime() + 14 * DAY_MS)})`,
  sign_in_users: (id, at) =>
    sql`insert into sign_in_users (id, email, name, created_at)
      values (${id}, ${`${id}@example.com`}, 'B', ${at})`,
  sign_in_verifications: (id, at) =>
    sql`insert into sign_in_verifications (id, identifier, value, expires_at)
      values (${id}, ${id}, 'x', ${at})`,
  stored_responses: (id, at) =>
    sql`insert into stored_responses (id, customer_id, api_key_id, is_failed, input_bytes, response_bytes,
        input_sealed, response_sealed, created_at)
      values (${id}, ${customerId}, ${keyId}, false, 1, 1, ''::bytea, ''::bytea, ${at})`,
  team_invitations: (id, at) =>
    sql`insert into team_invitations (id, team_id, email, role, token_hash, invited_by, expires_at, revoked_at)
      values (${id}, ${teamId}, 'b@example.com', 'member', convert_to(${id}, 'UTF8'), ${customerId}, now(), ${at})`,
  upstream_health_hours: (id, at) =>
    sql`insert into upstream_health_hours (hour_at, upstream_id, vendor, ok_count, failed_count, latency_counts)
      values (${at}, ${id}, 'x', 1, 0, array_fill(0::int8, array[156]))`,
  usage_refusals: (_id, at) =>
    sql`insert into usage_refusals (customer_id, hour_at, api_key_id, code, status, refusals, first_at, last_at)
      values (${customerId}, ${at}, ${keyId}, 'insufficient_balance', 402, 1, ${at}, ${at})`,
  webhook_attempts: (id, at) =>
    sql`with endpoint as (
        insert into webhook_endpoints (id, customer_id, url, secret_sealed)
        values (${createId()}, ${customerId}, 'https://hooks.example.com', 'x'::bytea) returning id
      )
      insert into webhook_attempts (id, endpoint_id, customer_id, message_id, event_type, body, status,
        created_at, finished_at)
      select ${id}, id, ${customerId}, ${id}, 'x', '{}', 'delivered', ${at}, ${at} from endpoint`,
  webhook_endpoints: (id, at) =>
    sql`insert into webhook_endpoints (id, customer_id, url, deleted_at)
      values (${id}, ${customerId}, 'https://hooks.example.com', ${at})`,
}

async function count(table: string): Promise<number> {
  const own = table === 'audit_log' ? sql`where action <> 'audit_log.pruned'` : sql``
  const { rows } = await sql<{
    count: bigint
  }>`select count(*) from ${sql.table(table)} ${own}`.execute(database.db)
  return Number(rows[0]?.count)
}

async function prune(): Promise<void> {
  for (const { run } of Object.values(listPruning(database.db))) await run()
}

test('the tables with a time have a row here, and no other', () => {
  assert.deepEqual([...kept.keys()].toSorted(), Object.keys(INSERTS).toSorted())
})

for (const [table, ms] of kept)
  test(`${table}: a row stays as long as the page says, and no longer`, async () => {
    const { db } = database
    const margin = ms === 0 ? HOUR_MS : ms / 10
    const insert = INSERTS[table] as (id: string, at: Date) => RawBuilder<unknown>
    const before = await count(table)
    await insert(createId(), new Date(Date.now() - ms + margin)).execute(db)
    await prune()
    assert.equal(await count(table), before + 1, 'the younger one is still there')
    await insert(createId(), new Date(Date.now() - ms - margin)).execute(db)
    assert.equal(await count(table), before + 2)
    await prune()
    assert.equal(await count(table), before + 1, 'the older one is gone')
  })
