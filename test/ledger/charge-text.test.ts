/** The text of a charge is sealed by its hash, so it never changes by a byte, however it is made. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import fc from '../harness/fast-check.ts'
import { createTestDatabase, type TestDatabase } from '../harness/test-database.ts'

let database: TestDatabase

before(async () => {
  database = await createTestDatabase()
})

after(() => database.drop())

const id = fc.uuid()
const tokens = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const amount = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)
// PostgreSQL stores no NUL and no half of a surrogate pair.
const text = fc.string({ unit: 'binary' }).map((found) => found.replaceAll('\0', '').toWellFormed())
const time = fc.oneof(
  {
    weight: 20,
    arbitrary: fc
      .date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })
      .map((found) => found.toISOString()),
  },
  // Which no node writes, but which the table holds.
  fc.constantFrom('-infinity', 'infinity'),
)
const event = fc.record({
  id,
  customer_id: id,
  api_key_id: id,
  request_id: id,
  team_id: fc.option(id),
  corrects_id: fc.option(id),
  model_id: text,
  outcome: fc.constantFrom('charged', 'released'),
  usage_kind: fc.constantFrom('exact', 'estimated', 'none'),
  prompt_tokens: tokens,
  cached_tokens: tokens,
  cache_write_tokens: tokens,
  completion_tokens: tokens,
  reasoning_tokens: tokens,
  units: fc.option(fc.dictionary(text, fc.oneof(amount, tokens), { noNullPrototype: true })),
  cost_upstream_pico_usd: amount,
  cost_billed_nano_brl: amount,
  fx_rate_e4: tokens,
  markup_e4: tokens,
  created_at: time,
  settled_at: time,
})

test('the text of a charge is the JSON of its public fields, byte for byte', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 50, maxLength: 50 }), async (events) => {
      const { rows } = await sql<{ text: string; json: string }>`
        select charge_text(e) as text, json_build_object(
          'version', 1,
          'id', e.id,
          'created_at', to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
          'settled_at', to_char(e.settled_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
          'model_id', e.model_id,
          'outcome', e.outcome,
          'usage_kind', e.usage_kind,
          'prompt_tokens', e.prompt_tokens,
          'cached_tokens', e.cached_tokens,
          'cache_write_tokens', e.cache_write_tokens,
          'completion_tokens', e.completion_tokens,
          'reasoning_tokens', e.reasoning_tokens,
          'units', e.units,
          'cost_upstream_pico_usd', e.cost_upstream_pico_usd::text,
          'fx_rate_e4', e.fx_rate_e4,
          'markup_e4', e.markup_e4,
          'cost_billed_nano_brl', e.cost_billed_nano_brl::text,
          'corrects_id', e.corrects_id,
          'holder', encode(sha256(convert_to(
            concat_ws('|', e.id, e.customer_id, e.api_key_id, e.team_id, e.request_id), 'UTF8')), 'hex'))::text as json
        from jsonb_populate_recordset(null::usage_events, ${JSON.stringify(events)}::jsonb) as e`.execute(
        database.db,
      )
      assert.equal(rows.length, events.length)
      for (const { text, json } of rows) assert.equal(text, json)
    }),
    { numRuns: 20 },
  )
})
