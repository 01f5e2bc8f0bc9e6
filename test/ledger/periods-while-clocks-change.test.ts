// deep: an attack
/** Periods of caps and budgets while the clocks of the customer's time zone are set back, and local times occur twice. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { FUNCTIONS_SCHEMA } from '../../src/platform/db/functions.ts'
import { ask, askChat, sound } from '../harness/ask.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'

let gateway: TestGateway
before(async () => {
  gateway = await startGateway()
})
after(() => gateway.stop())

const schema = sql.raw(FUNCTIONS_SCHEMA)
/** Zones whose clocks are set back in these hours, at midnight and at other times, by an hour and by half an hour. */
const SET_BACK = sql`(values
  ('America/New_York', '2026-11-01T05:00Z'::timestamptz), ('America/Havana', '2026-11-01T04:00Z'),
  ('Atlantic/Azores', '2026-10-25T00:00Z'), ('America/Santiago', '2026-04-05T02:00Z'),
  ('Europe/Lisbon', '2026-10-25T00:00Z'), ('Australia/Lord_Howe', '2026-04-04T14:00Z'),
  ('Africa/Cairo', '2026-10-29T20:00Z'), ('Asia/Beirut', '2026-10-24T20:00Z')) zones (zone, near)
  cross join generate_series(near - interval '30 minutes', near + interval '3 hours', interval '7 minutes 11 seconds') at`
const ALL_ZONES = sql`(select name as zone from pg_timezone_names) zones
  cross join generate_series('2026-01-01'::timestamptz, '2027-01-01', interval '10 days 7 hours 13 minutes') at`

for (const [title, moments] of [
  ['while clocks are set back', SET_BACK],
  ['in every time zone', ALL_ZONES],
] as const)
  test(`each moment is in exactly one period of a cap, and a period ends where the next begins, ${title}`, async () => {
    const { rows } = await sql`
      select zone, period, at, "start", "until" from ${moments}
      cross join unnest(array['minute', 'day', 'month']) period
      cross join lateral ${schema}.budget_period_start(period, zone, at) "start"
      cross join lateral ${schema}.cap_period_end(period, zone, at) "until"
      where "start" > at or "until" <= at
        or ${schema}.budget_period_start(period, zone, "start") <> "start"
        or ${schema}.cap_period_end(period, zone, "start") <> "until"
        or ${schema}.budget_period_start(period, zone, "until" - interval '1 microsecond') <> "start"
        or ${schema}.budget_period_start(period, zone, "until") <> "until"
        or period = 'minute' and "until" - "start" <> interval '1 minute'
      limit 20`.execute(gateway.database.db)
    assert.deepEqual(rows, [])
  })

test('charges count in the cap of their minute, and the audit passes, while clocks are set back', async () => {
  const { database, node, customerId, secret } = gateway
  // Summer time, four hours behind UTC, ends in half an hour: this hour will occur again.
  await sql`
    update customers set timezone = (
      select format('AAA5BBB4,%s,%s/%s', (day + 180) % 365, day, to_char(ends_at, 'HH24:MI:SS'))
      from (select now() at time zone 'UTC' - interval '3 hours 30 minutes' as ends_at) transition
      cross join lateral (select extract(doy from ends_at)::int4 - 1 as day) days)
    where id = ${customerId}`.execute(database.db)
  const key = await ask(node.baseUrl, '/api-keys', {
    secret,
    body: { name: 'relógio', model_ids: ['*'], minute_cap_brl: 5 },
  })
  assert.equal(key.status, 201, key.text)
  const asked = await askChat(node.baseUrl, key.json.key, sound())
  assert.equal(asked.status, 200, asked.text)
  await untilNoHoldIsOpen(database)
  await assertAudit(database)
})
