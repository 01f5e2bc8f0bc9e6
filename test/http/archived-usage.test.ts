/** A list of calls says where it ends because older months are in files, and only to accounts that are older. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { ask } from '../harness/ask.ts'
import { startGateway } from '../harness/gateway.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { seedCustomer } from '../harness/test-database.ts'

const gateway = await startGateway()
after(() => gateway.stop())

const LISTS = ['/usage/events', '/usage/calls']

test('a list names the end of the archived months to an account that may have calls in them', async () => {
  const { db } = gateway.database
  const { baseUrl } = gateway.node
  const old = await seedCustomer(db, { balanceBrl: '0' })
  const young = await seedCustomer(db, { balanceBrl: '0' })
  const endOf = async (secret: string): Promise<unknown[]> =>
    Promise.all(
      LISTS.map(async (path) => (await ask(baseUrl, path, { secret })).json.archived_before),
    )

  await sql`update customers set created_at = '2024-02-10T00:00:00Z' where id = ${old.customerId}`.execute(
    db,
  )
  assert.deepEqual(await endOf(old.secret), [null, null], 'no month is archived')
  const sessions = { old: '2024-03-05T00:00:00Z', young: '2024-04-02T00:00:00Z' }
  for (const [id, at] of Object.entries(sessions))
    await sql`
      insert into usage_sessions (customer_id, session_id, requests, prompt_tokens, completion_tokens,
        cost_billed_nano_brl, model_ids, first_request_at, last_request_at)
      values (${old.customerId}, ${id}, 1, 1, 1, 1, '{m}', ${at}, '2024-04-03T00:00:00Z')`.execute(
      db,
    )
  await sql`
    insert into archived_months (month, run, leased_until, archived_at)
    values ('2024-03-01', gen_random_uuid(), now(), now())`.execute(db)
  const end = '2024-04-01T00:00:00.000Z'
  assert.deepEqual(await endOf(old.secret), [end, end])
  assert.deepEqual(await endOf(young.secret), [null, null])
  const ofSession = async (id: string): Promise<unknown> =>
    (await ask(baseUrl, `/me/sessions/${id}`, { secret: old.secret })).json.archived_before
  assert.equal(await ofSession('old'), end)
  assert.equal(await ofSession('young'), null, 'it began later')

  const bill = (session_id: string) =>
    ask(baseUrl, '/me/public-bills', { secret: old.secret, method: 'POST', body: { session_id } })
  await sql`
    insert into archived_sessions (month, customer_id, session_id, requests, prompt_tokens, completion_tokens,
      cost_billed_nano_brl, first_request_at, last_request_at)
    values ('2024-03-01', ${old.customerId}, 'old', 1, 1, 1, 1, ${sessions.old}, ${sessions.old})`.execute(
    db,
  )
  const refused = await bill('old')
  assert.equal(refused.status, 404)
  assert.match(JSON.stringify(refused.json), /arquivado/)
  assert.equal((await bill('young')).status, 201)
})

test('an archived charge whose row still waits to be removed gets no new bill', async () => {
  const { db } = gateway.database
  const { customerId, key, secret } = await seedCustomer(db, { balanceBrl: '10' })
  const [archived, kept] = await seedUsage(db, {
    customerId,
    apiKeyId: key.id,
    events: ['2024-03-31T23:59:59.999999Z', '2024-04-01T00:00:00Z'].map((at) => ({
      at,
      modelId: 'gpt-4o',
      promptTokens: 1,
      completionTokens: 1,
    })),
  })
  await sql`update usage_events set settled_at = created_at where customer_id = ${customerId}`.execute(
    db,
  )
  const bill = (event: { id: string } | undefined) =>
    ask(gateway.node.baseUrl, '/me/public-bills', { secret, body: { usage_event_id: event?.id } })
  const refused = await bill(archived)
  assert.deepEqual([refused.status, refused.json.error], [404, 'usage_event_not_found'])
  assert.match(refused.text, /arquivado/)
  assert.equal((await bill(kept)).status, 201)
})
