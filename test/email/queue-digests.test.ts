/** The weekly digest: once a week, on Monday in the customer's time zone, for the week that ended there. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { SANDBOX_SENDER } from '../../src/deliveries/email/mail-sender.ts'
import { queueDigests } from '../../src/deliveries/email/queue-digests.ts'
import { createSandboxMailer } from '../../src/deliveries/email/sandbox-mailbox.ts'
import { sendDueMails } from '../../src/deliveries/email/send-due-mails.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { createTestDatabase, seedCustomer } from '../harness/test-database.ts'
import { seedUsage, type SeededUse } from '../harness/seed-usage.ts'

const database = await createTestDatabase()
const { db } = database
after(() => database.drop())

const BRL = 1_000_000_000n

/** A Monday some weeks ago at midnight UTC, within the months of usage. */
const monday = new Date()
monday.setUTCHours(0, 0, 0, 0)
monday.setUTCDate(monday.getUTCDate() - ((monday.getUTCDay() + 6) % 7))

function at(days: number, hours: number, minutes = 0): Date {
  return new Date(monday.getTime() + ((days * 24 + hours) * 60 + minutes) * 60_000)
}

async function addReader(
  input: { timezone?: string; email?: string | null; wants?: boolean },
  uses: readonly Pick<SeededUse, 'at' | 'modelId' | 'billed'>[],
): Promise<string> {
  const { customerId, key } = await seedCustomer(db, { balanceBrl: '100' })
  const { timezone = 'UTC', wants = true } = input
  const email = input.email === null ? null : `leitora.${createId()}@example.com`
  await sql`update customers set email = ${email}, timezone = ${timezone}, weekly_digest_enabled = ${wants}
    where id = ${customerId}`.execute(db)
  const events = uses.map((use) => ({ ...use, promptTokens: 1, completionTokens: 1 }))
  await seedUsage(db, { customerId, apiKeyId: key.id, events })
  return customerId
}

async function digestsOf(customerId: string): Promise<Record<string, any>[]> {
  const rows = await db
    .selectFrom('mails')
    .select('data')
    .where('customer_id', '=', customerId)
    .where('template', '=', 'resumo_semanal')
    .orderBy(sql`data ->> 'from'`)
    .execute()
  return rows.map(({ data }) => data)
}

const day = (date: Date): string => date.toISOString().slice(0, 10)

test('on Monday from 8:00 it summarises the past week: the spending, the models, and the balance', async () => {
  const customerId = await addReader({}, [
    { at: at(-7, 0), modelId: 'a', billed: BRL },
    { at: at(-4, 12), modelId: 'b', billed: 5n * BRL },
    { at: at(-1, 23, 59), modelId: 'c', billed: BRL / 4n },
    { at: at(-1, 23, 59), modelId: 'd', billed: 1n },
    // Of the weeks before and after.
    { at: at(-8, 23, 59), modelId: 'a', billed: 40n * BRL },
    { at: at(0, 0), modelId: 'a', billed: 20n * BRL },
  ])
  assert.equal(await queueDigests(db, at(0, 7, 59)), 0)
  assert.equal(await queueDigests(db, at(-1, 23)), 0, 'not on Sunday')
  assert.equal(await queueDigests(db, at(1, 8)), 0, 'nor on Tuesday')
  assert.equal(await queueDigests(db, at(0, 8)), 1)
  const [digest] = await digestsOf(customerId)
  assert.deepEqual(digest, {
    from: day(at(-7, 0)),
    to: day(at(-1, 0)),
    spent_brl: '6.250000001',
    requests: 4,
    top_models: [
      { id: 'b', spent_brl: '5', requests: 1 },
      { id: 'a', spent_brl: '1', requests: 1 },
      { id: 'c', spent_brl: '0.25', requests: 1 },
    ],
    balance_brl: '33.749999999',
    runway_days: 37,
  })
  await sql`delete from mails`.execute(db)
})

test('it comes once a week, on any number of nodes, and even after it was sent', async () => {
  const customerId = await addReader({}, [
    { at: at(-3, 0), modelId: 'a', billed: BRL },
    { at: at(-10, 0), modelId: 'a', billed: 2n * BRL },
  ])
  await Promise.all([1, 2, 3].map(() => queueDigests(db, at(0, 9))))
  assert.equal((await digestsOf(customerId)).length, 1)
  await queueDigests(db, at(-7, 9))
  assert.deepEqual(
    (await digestsOf(customerId)).map(({ spent_brl }) => spent_brl),
    ['2', '1'],
  )
  const log = createLog('silent', () => {})
  await sendDueMails(db, { mailer: createSandboxMailer(db), sender: SANDBOX_SENDER, log })
  assert.deepEqual(await digestsOf(customerId), [])
  assert.equal(await queueDigests(db, at(0, 23)), 0)
  const { rows } = await sql<{ text: string; list_unsubscribe: string }>`
    select text, list_unsubscribe from sandbox_mails where customer_id = ${customerId} order by text`.execute(
    db,
  )
  assert.equal(rows.length, 2)
  for (const { text, list_unsubscribe } of rows) {
    assert.match(text, /PUT \/v1\/me\/preferences/)
    assert.match(list_unsubscribe, /^<mailto:/)
  }
})

test("Monday is that of each customer's time zone", async () => {
  const uses = [{ at: at(-1, 12), modelId: 'a', billed: BRL }]
  const tokyo = await addReader({ timezone: 'Asia/Tokyo' }, uses)
  const manaus = await addReader({ timezone: 'America/Manaus' }, uses)
  // It was Monday already in that time zone when this was used.
  const auckland = await addReader({ timezone: 'Pacific/Auckland' }, [
    { at: at(-1, 13), modelId: 'a', billed: BRL },
  ])
  await queueDigests(db, at(-1, 23))
  const counts = async () =>
    Promise.all([tokyo, manaus, auckland].map(async (id) => (await digestsOf(id)).length))
  assert.deepEqual(await counts(), [1, 0, 0])
  await queueDigests(db, at(0, 11, 59))
  assert.deepEqual(await counts(), [1, 0, 0])
  await queueDigests(db, at(0, 12))
  assert.deepEqual(await counts(), [1, 1, 0])
})

test('a customer who opted out, has no address, is deleted, or used nothing gets no digest', async () => {
  const uses = [{ at: at(-2, 0), modelId: 'a', billed: BRL }]
  const ids = [
    await addReader({ wants: false }, uses),
    await addReader({ email: null }, uses),
    await addReader({}, []),
    await addReader({}, [{ at: at(0, 1), modelId: 'a', billed: BRL }]),
    await addReader({}, [{ at: at(-7, -1), modelId: 'a', billed: BRL }]),
  ]
  const gone = await addReader({}, uses)
  await sql`update customers set deleted_at = now() where id = ${gone}`.execute(db)
  await queueDigests(db, at(0, 10))
  for (const id of [...ids, gone]) assert.deepEqual(await digestsOf(id), [])
})
