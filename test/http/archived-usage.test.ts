// deep: months that leave to an archive
/** A list of calls says where it ends because older months are in files, and only to accounts that are older. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { READINGS_MAX } from '../../src/platform/archive/event-archive.ts'
import { ask } from '../harness/ask.ts'
import { startGateway } from '../harness/gateway.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { startFakeS3 } from '../months/fake-s3.ts'

const bucket = await startFakeS3()
const gateway = await startGateway({
  ARCHIVE_S3_URL: bucket.settings.url,
  ARCHIVE_S3_REGION: bucket.settings.region,
  ARCHIVE_S3_ACCESS_KEY_ID: bucket.settings.accessKeyId,
  ARCHIVE_S3_SECRET_ACCESS_KEY: bucket.settings.secretAccessKey,
})
after(async () => {
  await gateway.stop()
  bucket.close()
})

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

test('some exports read the archive at once, and the next one is told to wait', async () => {
  const { db } = gateway.database
  await sql`
    insert into audit_seals (number, from_at, to_at, events, rows_hash, sums_hash, hash, charges_root,
      charges_head)
    values (1, '2024-03-01', '2024-04-01', 1, '', '', '', '', '')`.execute(db)
  await sql`
    insert into archived_files (month, number, name, first_seal, last_seal, events, bytes, sha256, sums_hash,
      created_from, created_to)
    values ('2024-03-01', 1, 'usage/a', 1, 1, 1, 1000000, '', '', '2024-03-05', '2024-03-05')`.execute(
    db,
  )
  bucket.objects.set('/bucket/folder/usage/a', Buffer.from('not the file that was archived'))
  const begin = async (query = '?from=2024-03-01&to=2024-03-31') => {
    const { secret } = await seedCustomer(db, { balanceBrl: '0' })
    return ask(gateway.node.baseUrl, `/usage/export.csv${query}`, { secret })
  }
  bucket.more = 'drips'
  const reading = Array.from({ length: READINGS_MAX }, () => begin())
  while (bucket.reads < READINGS_MAX) await sleep(10)
  const refused = await begin()
  assert.deepEqual([refused.status, refused.json.error], [503, 'service_unavailable'])
  assert.match(refused.text, /arquivada/)
  assert.equal(refused.headers.get('retry-after'), '10')
  assert.equal((await begin('')).status, 200, 'of days that are not archived')
  bucket.more = undefined
  for (const { status } of await Promise.all(reading)) assert.equal(status, 500)
  assert.equal((await begin()).status, 500, 'the places are free again')
  assert.equal(bucket.reads, READINGS_MAX + 1)
})
