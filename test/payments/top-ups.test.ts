/**
 * Top-ups from the request to the credit, through the adapter and a processor over HTTP, with every failure
 * on the way.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { NANO_PER_BRL } from '../../src/platform/lib/money.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { ask, askChat, sound, type Asked } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { actOnPage, seedPayer, until, type Payer } from '../harness/payer.ts'

let gateway: TestGateway

before(async () => {
  gateway = await startGateway()
})
after(async () => {
  await assertAudit(gateway.database)
  await gateway.stop()
})

function topUp(payer: Payer, body: object): Promise<Asked> {
  return ask(gateway.node.baseUrl, '/topups', { secret: payer.secret, body })
}

async function find(payer: Payer, id: string): Promise<Asked['json']> {
  return (await ask(gateway.node.baseUrl, `/topups/${id}`, { secret: payer.secret })).json
}

async function listEventTypes({ customerId }: Payer): Promise<string[]> {
  const rows = await gateway.database.db
    .selectFrom('events')
    .select('type')
    .where('customer_id', '=', customerId)
    .orderBy('created_at')
    .execute()
  return rows.map(({ type }) => type)
}

test('a Pix that is paid on its page is credited once, and a key without balance works again', async () => {
  const payer = await seedPayer(gateway.database.db)
  assert.equal((await askChat(gateway.node.baseUrl, payer.secret, sound())).status, 402)
  const created = await topUp(payer, { amount: 50.25 })
  assert.equal(created.status, 201, created.text)
  const { id, pix, page_url: pageUrl } = created.json
  assert.match(pix.payload, /^000201.*6304[0-9A-F]{4}$/)
  assert.deepEqual(
    [...Buffer.from(pix.qr_code_base64, 'base64').subarray(1, 4)],
    [...Buffer.from('PNG')],
  )
  await actOnPage(pageUrl)
  const paid = await until(
    () => find(payer, id),
    ({ status }) => status === 'paid',
  )
  assert.ok(paid.paid_at)
  const account = await findAccount(gateway.database.db, payer.customerId)
  assert.equal(account?.balanceNanoBrl, (5_025n * NANO_PER_BRL) / 100n)
  assert.equal((await askChat(gateway.node.baseUrl, payer.secret, sound())).status, 200)
  assert.deepEqual(await listEventTypes(payer), ['topup.created', 'topup.paid'])
  const mails = await until(
    () =>
      gateway.database.db
        .selectFrom('notifications')
        .select(['template', 'status'])
        .where('customer_id', '=', payer.customerId)
        .orderBy('template')
        .execute(),
    (rows) => rows.length === 2,
  )
  assert.deepEqual(mails, [
    { template: 'recarga_confirmada', status: 'sent' },
    { template: 'recarga_pendente', status: 'sent' },
  ])
})

test('a Pix and a boleto can be paid until the end of their due day, as the API and the mail say', async () => {
  const payer = await seedPayer(gateway.database.db)
  const endOf = (days: number): string =>
    new Date(`${dayInBrasilia(days)}T23:59:59-03:00`).toISOString()
  const before = { pix: endOf(1), boleto: endOf(3) }
  for (const method of ['pix', 'boleto'] as const) {
    const created = await topUp(payer, { amount: 50, method })
    assert.equal(created.status, 201, created.text)
    const rows = await gateway.database.db
      .selectFrom('events')
      .select('data')
      .where('customer_id', '=', payer.customerId)
      .where('type', '=', 'topup.created')
      .execute()
    const event = rows.map(({ data }) => data as Record<string, unknown>)
    const announced = event.find(({ id }) => id === created.json.id)?.expires_at
    // The day may change while the test runs.
    assert.ok([before[method], endOf(method === 'pix' ? 1 : 3)].includes(String(announced)))
    if (method === 'pix') assert.equal(created.json.pix.expires_at, announced)
  }
})

function dayInBrasilia(days: number): string {
  const at = new Date(Date.now() + days * 86_400_000)
  return at.toLocaleDateString('sv-SE', { timeZone: 'America/Sao_Paulo' })
}

test('a balance that debits use up is reported once, and again after it was restored', async () => {
  const payer = await seedPayer(gateway.database.db)
  const { db } = gateway.database
  const move = (sums: { credited_nano_brl: bigint; debited_nano_brl: bigint }) =>
    db.updateTable('accounts').set(sums).where('customer_id', '=', payer.customerId).execute()
  await move({ credited_nano_brl: 1n, debited_nano_brl: 0n })
  await move({ credited_nano_brl: 1n, debited_nano_brl: 1n })
  await move({ credited_nano_brl: 5n, debited_nano_brl: 1n })
  await move({ credited_nano_brl: 0n, debited_nano_brl: 0n })
  const types = await listEventTypes(payer)
  assert.deepEqual(types.slice(0, 2), ['balance.depleted', 'balance.restored'])
})

test('amounts outside the limits, or with fractions of a centavo, are refused with the specified messages', async () => {
  const payer = await seedPayer(gateway.database.db)
  for (const amount of [19.99, 5000.01, 0, -20, '50', null, undefined, 20.001, 1e300]) {
    const answer = await topUp(payer, { amount })
    assert.equal(answer.status, 400)
    assert.equal(answer.json.error, 'amount must be number between 20 and 5000')
  }
  assert.equal((await topUp(payer, { amount: 20 })).status, 201)
  assert.equal((await topUp(payer, { amount: 5000, method: 'boleto' })).status, 201)
})

test('a customer without a CPF or CNPJ cannot top up', async () => {
  const { db } = gateway.database
  const { customerId, secret } = await seedCustomer(db, { balanceBrl: '0' })
  const answer = await topUp({ customerId, secret }, { amount: 50 })
  assert.deepEqual([answer.status, answer.json.error], [400, 'cpf_required'])
})

test('a payment that the processor refuses or does not answer is reported, and nothing is credited', async () => {
  const payer = await seedPayer(gateway.database.db)
  const { db } = gateway.database
  // These centavos make the sandbox break the connection before it answers, although the payment is created.
  const lost = await topUp(payer, { amount: 50.91 })
  assert.deepEqual([lost.status, lost.json.error], [503, 'payment_processor_unavailable'])
  await db
    .updateTable('profiles')
    .set({ tax_id: '12ABC34501DE35' })
    .where('customer_id', '=', payer.customerId)
    .execute()
  const refused = await topUp(payer, { amount: 50 })
  assert.deepEqual([refused.status, refused.json.error], [400, 'payment_refused'])
  await db
    .updateTable('customers')
    .set({ email: null })
    .where('id', '=', payer.customerId)
    .execute()
  const mute = await topUp(payer, { amount: 50 })
  assert.deepEqual([mute.status, mute.json.error], [400, 'email_required'])
  assert.equal((await findAccount(db, payer.customerId))?.balanceNanoBrl, 0n)
})

test('a payment whose creation was not answered is found by our reference, and can be paid', async () => {
  const payer = await seedPayer(gateway.database.db)
  const { db } = gateway.database
  assert.equal((await topUp(payer, { amount: 60.91 })).status, 503)
  // As if the minute were over after which the sweeper searches for it.
  const long = sql<Date>`now() - interval '1 hour'`
  await db
    .updateTable('top_ups')
    .set({ checked_at: long })
    .where('customer_id', '=', payer.customerId)
    .execute()
  const list = () => ask(gateway.node.baseUrl, '/topups', { secret: payer.secret })
  const found = await until(
    async () => (await list()).json.topups[0],
    (topUp) => topUp.pix !== null,
  )
  await actOnPage(found.page_url)
  await until(
    () => find(payer, found.id),
    ({ status }) => status === 'paid',
  )
})

test('a boleto has a line and a document, and lists show the newest first', async () => {
  const payer = await seedPayer(gateway.database.db)
  const first = await topUp(payer, { amount: 100, method: 'boleto' })
  assert.match(first.json.boleto.line, /^\d{47}$/)
  assert.ok(URL.canParse(first.json.boleto.url))
  const second = await topUp(payer, { amount: 30 })
  const list = await ask(gateway.node.baseUrl, '/topups?limit=1', { secret: payer.secret })
  assert.deepEqual(
    list.json.topups.map(({ id }: { id: string }) => id),
    [second.json.id],
  )
  const next = await ask(gateway.node.baseUrl, `/topups?cursor=${list.json.next_cursor}`, {
    secret: payer.secret,
  })
  assert.deepEqual(
    next.json.topups.map(({ id }: { id: string }) => id),
    [first.json.id],
  )
})

test("another customer's top-up does not exist", async () => {
  const [owner, stranger] = [
    await seedPayer(gateway.database.db),
    await seedPayer(gateway.database.db),
  ]
  const { id } = (await topUp(owner, { amount: 20 })).json
  const answer = await ask(gateway.node.baseUrl, `/topups/${id}`, { secret: stranger.secret })
  assert.deepEqual([answer.status, answer.json.error], [404, 'topup_not_found'])
})

test('a forged event credits nothing: a wrong token is refused, and with a right one the event is only a hint', async () => {
  const payer = await seedPayer(gateway.database.db)
  const { id } = (await topUp(payer, { amount: 20 })).json
  const event = {
    id: 'evt_forged&1',
    event: 'PAYMENT_RECEIVED',
    payment: { object: 'payment', id: 'pay_unknown', externalReference: id, value: 5000 },
  }
  const tokens: Record<string, string>[] = [{}, { 'asaas-access-token': 'x'.repeat(40) }]
  for (const headers of tokens) {
    const answer = await ask(gateway.node.baseUrl, '/inbound/payments/asaas', {
      body: event,
      headers,
    })
    assert.deepEqual([answer.status, answer.json], [401, { error: 'invalid_token' }])
  }
  const stored = await gateway.database.db
    .selectFrom('processor_events')
    .select('event_id')
    .where('event_id', '=', event.id)
    .execute()
  assert.deepEqual(stored, [])
  assert.equal((await find(payer, id)).status, 'pending')
  assert.equal((await findAccount(gateway.database.db, payer.customerId))?.balanceNanoBrl, 0n)
})
