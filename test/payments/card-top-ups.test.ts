/**
 * Top-ups by card from the request to the credit, over HTTP as with the real processor, and their receipts.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { decimalBrl } from '../../src/platform/lib/money.ts'
import { createAsaas } from '../../src/money/payments/asaas/create-asaas.ts'
import type { Processor } from '../../src/money/payments/processor.ts'
import { sweepTopUps } from '../../src/money/payments/sweep-top-ups.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { APPROVED, cardBody, DECLINED_LATER } from '../harness/cards.ts'
import { seedPayer, type Payer } from '../harness/payer.ts'

const SILENT = createLog('silent', () => {})

let gateway: TestGateway
let processor: Processor
/** The sandbox's API key; it accepts any. */
let sandboxUrl: URL

before(async () => {
  gateway = await startGateway()
  const payer = await seedPayer(gateway.database.db)
  const { json } = await topUp(payer, { amount: 20 })
  sandboxUrl = new URL('/v3', json.page_url)
  processor = createAsaas({ baseUrl: sandboxUrl.href, apiKey: 'tests', webhookToken: undefined })
})
after(async () => {
  await processor.close()
  await assertAudit(gateway.database)
  await gateway.stop()
})

interface CardHolder extends Payer {
  readonly cardId: string
}

async function seedCardHolder(number = APPROVED): Promise<CardHolder> {
  const payer = await seedPayer(gateway.database.db)
  const body = cardBody(number)
  const added = await ask(gateway.node.baseUrl, '/payment-methods', { secret: payer.secret, body })
  assert.equal(added.status, 201, added.text)
  return { ...payer, cardId: added.json.id }
}

function topUp({ secret }: Payer, body: object): Promise<Asked> {
  return ask(gateway.node.baseUrl, '/topups', { secret, body })
}

function charge(holder: CardHolder, amount: number): Promise<Asked> {
  return topUp(holder, { amount, method: 'card', payment_method_id: holder.cardId })
}

async function find({ secret }: Payer, id: string): Promise<Asked['json']> {
  return (await ask(gateway.node.baseUrl, `/topups/${id}`, { secret })).json
}

function receipt({ secret }: Payer, id: string): Promise<Asked> {
  return ask(gateway.node.baseUrl, `/topups/${id}/receipt`, { secret })
}

async function balanceOf({ customerId }: Payer): Promise<string> {
  return decimalBrl((await findAccount(gateway.database.db, customerId))?.balanceNanoBrl ?? 0n)
}

async function eventsOf({ customerId }: Payer): Promise<{ type: string; data: any }[]> {
  return gateway.database.db
    .selectFrom('events')
    .select(['type', 'data'])
    .where('customer_id', '=', customerId)
    .where('type', 'like', 'topup.%')
    .orderBy('created_at')
    .execute()
}

/** An operation that a person performs on the payment page. */
async function act(pageUrl: string, acao: string): Promise<void> {
  const body = new URLSearchParams({ acao })
  const answer = await fetch(pageUrl, { method: 'POST', redirect: 'manual', body })
  assert.equal(answer.status, 303)
}

async function untilStatus(payer: Payer, id: string, status: string): Promise<Asked['json']> {
  for (const deadline = Date.now() + 30_000; ; await sleep(100)) {
    const found = await find(payer, id)
    if (found.status === status) return found
    assert.ok(Date.now() < deadline, JSON.stringify(found))
  }
}

async function countPayments(id: string): Promise<number> {
  const url = new URL(`/v3/payments?externalReference=${id}`, sandboxUrl)
  const answer = await fetch(url, { headers: { access_token: 'tests' } })
  return ((await answer.json()) as { totalCount: number }).totalCount
}

test('a card is charged at once: the answer says paid, and the balance is credited once', async () => {
  const holder = await seedCardHolder()
  const { status, json } = await charge(holder, 50.25)
  assert.equal(status, 201)
  assert.deepEqual(
    [json.status, json.method, json.amount_brl, json.card, json.payment_method_id],
    ['paid', 'card', 50.25, { brand: 'MASTERCARD', last_four: '8829' }, holder.cardId],
  )
  assert.deepEqual([json.pix, json.boleto, json.is_automatic], [null, null, false])
  assert.ok(json.paid_at)
  // Its events have been processed by then, and change nothing.
  await sql`update top_ups set checked_at = now() - interval '1 day' where id = ${json.id}`.execute(
    gateway.database.db,
  )
  await sweepTopUps(gateway.database.db, processor, SILENT)
  assert.equal(await balanceOf(holder), '50.25')
  assert.equal(await countPayments(json.id), 1)
  const events = await eventsOf(holder)
  assert.deepEqual(
    events.map(({ type }) => type),
    ['topup.created', 'topup.paid'],
  )
  const path = `/payment-methods/${holder.cardId}`
  await ask(gateway.node.baseUrl, path, { secret: holder.secret, method: 'DELETE' })
  assert.deepEqual((await find(holder, json.id)).card, json.card, 'what was charged stays')
})

test("only the customer's own card is charged, and only with the method card", async () => {
  const [holder, other] = [await seedCardHolder(), await seedCardHolder()]
  for (const cardId of [other.cardId, createId(), 'nenhum', '\u0000']) {
    const answer = await charge({ ...holder, cardId }, 20)
    assert.deepEqual([answer.status, answer.json], [404, { error: 'payment_method_not_found' }])
  }
  for (const body of [
    { amount: 20, method: 'card' },
    { amount: 20, method: 'pix', payment_method_id: holder.cardId },
    { amount: 20, payment_method_id: holder.cardId },
  ]) {
    const answer = await topUp(holder, body)
    assert.deepEqual([answer.status, answer.json.error], [400, 'invalid_request'])
    assert.match(answer.json.details, /^payment_method_id: /)
  }
  assert.equal(await balanceOf(other), '0')
})

test('a declined card is a 400 and a reported failed top-up; an hour allows ten of them', async () => {
  const holder = await seedCardHolder(DECLINED_LATER)
  const declined = await charge(holder, 20)
  assert.deepEqual([declined.status, declined.json.error], [400, 'card_rejected'])
  const { json } = await ask(gateway.node.baseUrl, '/topups', { secret: holder.secret })
  assert.deepEqual(
    json.topups.map(({ status, paid_at }: any) => [status, paid_at]),
    [['failed', null]],
  )
  const events = await eventsOf(holder)
  assert.deepEqual(
    events.map(({ type }) => type),
    ['topup.created', 'topup.failed'],
  )
  assert.deepEqual(
    [events[1]?.data.last_four, events[1]?.data.id],
    [DECLINED_LATER.slice(-4), json.topups[0].id],
  )
  const more = await Promise.all(Array.from({ length: 12 }, () => charge(holder, 20)))
  const codes = more.map((answer) => answer.json.error)
  assert.equal(codes.filter((code) => code === 'card_rejected').length, 9)
  assert.equal(codes.filter((code) => code === 'too_many_rejected_cards').length, 3)
  assert.equal(await balanceOf(holder), '0')
})

test('saved cards pay BRL 5,000 and ten charges in 24 hours, three in an hour, also at once and over several cards', async () => {
  const holder = await seedCardHolder()
  const refusedOf = (answers: readonly Asked[]): Asked[] =>
    answers.filter(({ json }) => json.error === 'card_limit_reached')
  const large = await Promise.all(Array.from({ length: 3 }, () => charge(holder, 2_500)))
  assert.equal(refusedOf(large).length, 1, JSON.stringify(large.map(({ json }) => json)))
  assert.equal(await balanceOf(holder), '5000')
  const over = await charge(holder, 20)
  assert.deepEqual([over.status, over.json.error], [429, 'card_limit_reached'])
  assert.match(over.headers.get('retry-after') ?? '', /^8\d{4}$/)
  assert.equal((await topUp(holder, { amount: 20 })).status, 201, 'Pix goes on')

  const often = await seedCardHolder()
  const added = await ask(gateway.node.baseUrl, '/payment-methods', {
    secret: often.secret,
    body: cardBody(APPROVED),
  })
  const other = { ...often, cardId: added.json.id }
  for (const each of [often, other, often]) assert.equal((await charge(each, 20)).status, 201)
  const fourth = await charge(other, 20)
  assert.deepEqual([fourth.status, fourth.json.error], [429, 'card_limit_reached'])
  const { db } = gateway.database
  const olderBy = (hours: number): Promise<unknown> =>
    sql`update top_ups set created_at = created_at - make_interval(hours => ${hours}::int)
      where customer_id = ${often.customerId}`.execute(db)
  for (let made = 3; made < 10; made++) {
    await olderBy(1)
    assert.equal((await charge(often, 20)).status, 201, `${made}`)
  }
  await olderBy(1)
  assert.equal((await charge(often, 20)).json.error, 'card_limit_reached')
  await olderBy(24)
  assert.equal((await charge(often, 20)).status, 201)
})

test('of ten charges at once, three are made in an hour', async () => {
  const holder = await seedCardHolder()
  const asked = await Promise.all(Array.from({ length: 10 }, () => charge(holder, 500)))
  assert.deepEqual(
    asked.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 201, 201, ...Array.from({ length: 7 }, () => 429)],
    JSON.stringify(asked.map(({ json }) => json)),
  )
  assert.equal(await balanceOf(holder), '1500')
})

test('a card under review waits: once approved it is credited, once refused it has failed and cannot be paid', async () => {
  // These centavos make the sandbox review it first.
  const holder = await seedCardHolder()
  const [good, bad] = [await charge(holder, 20.98), await charge(holder, 30.98)]
  assert.deepEqual(
    [good, bad].map(({ status, json }) => [status, json.status]),
    [
      [201, 'pending'],
      [201, 'pending'],
    ],
  )
  assert.equal(await balanceOf(holder), '0')
  await act(good.json.page_url, 'pagar')
  await act(bad.json.page_url, 'recusar')
  await untilStatus(holder, good.json.id, 'paid')
  await untilStatus(holder, bad.json.id, 'failed')
  assert.equal(await balanceOf(holder), '20.98')
  for (const deadline = Date.now() + 30_000; await countPayments(bad.json.id); await sleep(50))
    assert.ok(Date.now() < deadline, 'it can still be paid')
  assert.ok((await eventsOf(holder)).some(({ type }) => type === 'topup.failed'))
})

test('a charge whose answer is lost is found by our reference and credited; it is not repeated', async () => {
  // These centavos make the sandbox break the connection before it answers, although the card was charged.
  const holder = await seedCardHolder()
  const lost = await charge(holder, 60.91)
  assert.deepEqual([lost.status, lost.json.error], [503, 'payment_processor_unavailable'])
  const [, id = ''] = /\/v1\/topups\/([0-9a-f-]{36})/.exec(lost.json.details) ?? []
  await sql`update top_ups set checked_at = now() - interval '1 day' where id = ${id}`.execute(
    gateway.database.db,
  )
  await Promise.all([1, 2].map(() => sweepTopUps(gateway.database.db, processor, SILENT)))
  await untilStatus(holder, id, 'paid')
  assert.deepEqual([await balanceOf(holder), await countPayments(id)], ['60.91', 1])
})

test('a charge that does not exist at the processor fails after an hour, and is reported', async () => {
  // These centavos make the sandbox fail before it does anything.
  const holder = await seedCardHolder()
  const lost = await charge(holder, 60.92)
  assert.equal(lost.status, 503)
  const { db } = gateway.database
  const { rows } = await sql<{ id: string }>`
    update top_ups set checked_at = now() - interval '1 day', created_at = now() - interval '59 minutes'
    where customer_id = ${holder.customerId} returning id`.execute(db)
  const id = rows[0]?.id as string
  await sweepTopUps(db, processor, SILENT)
  assert.equal((await find(holder, id)).status, 'pending')
  await sql`
    update top_ups set checked_at = now() - interval '1 day', created_at = now() - interval '61 minutes'
    where id = ${id}`.execute(db)
  await sweepTopUps(db, processor, SILENT)
  assert.equal((await find(holder, id)).status, 'failed')
  assert.deepEqual(
    (await eventsOf(holder)).map(({ type }) => type),
    ['topup.created', 'topup.failed'],
  )
  assert.deepEqual([await balanceOf(holder), await countPayments(id)], ['0', 0])
})

test('a receipt shows the payment and the payer with the whole CPF, as a page without scripts and as a PDF', async () => {
  const holder = await seedCardHolder()
  const { db } = gateway.database
  const { json } = await charge(holder, 1234.5)
  await sql`update customers set timezone = 'America/Manaus' where id = ${holder.customerId}`.execute(
    db,
  )
  await sql`update top_ups set paid_at = '2026-03-01T02:30:00Z' where id = ${json.id}`.execute(db)
  const { status, text, headers } = await receipt(holder, json.id)
  assert.equal(status, 200)
  assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
  assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/)
  for (const part of [
    'R$\u00a01.234,50',
    'Cartão MASTERCARD final 8829',
    '28/02/2026 22:30 (America/Manaus)',
    'Marília &lt;Souza&gt;',
    '529.982.247-25',
    json.id,
    'Empresa Fictícia do Sandbox, CNPJ 00.000.000/0000-00',
    'Endereço fictício',
    'lang="pt-BR"',
  ])
    assert.ok(text.includes(part), `${part} is not in ${text}`)
  assert.doesNotMatch(text, /<script|<img|<link|<Souza|https?:|Devolvido/)
  await sql`update top_ups set returned_nano_brl = 20500000000 where id = ${json.id}`.execute(db)
  assert.match((await receipt(holder, json.id)).text, /Devolvido<\/dt><dd>R\$\u00a020,50/)
  await sql`update top_ups set returned_nano_brl = 0 where id = ${json.id}`.execute(db)
  const pdf = await ask(gateway.node.baseUrl, `/topups/${json.id}/receipt.pdf`, {
    secret: holder.secret,
  })
  assert.equal(pdf.headers.get('content-type'), 'application/pdf')
  assert.match(pdf.text, /^%PDF-1\.4\n/)
  for (const part of [
    'Valor pago: R$\u00a01.234,50',
    'CPF/CNPJ: 529.982.247-25',
    'Recibo de recarga',
  ])
    assert.ok(pdf.text.includes(Buffer.from(part, 'latin1').toString('hex')), part)
})

test("an unpaid top-up and another customer's top-up have no receipt", async () => {
  const holder = await seedCardHolder()
  const open = await topUp(holder, { amount: 20 })
  const notPaid = await receipt(holder, open.json.id)
  assert.deepEqual([notPaid.status, notPaid.json], [409, { error: 'topup_not_paid' }])
  const { json } = await charge(holder, 20)
  for (const [payer, id] of [
    [await seedPayer(gateway.database.db), json.id],
    [holder, createId()],
    [holder, 'automatic'],
  ] as const) {
    const answer = await receipt(payer, id)
    assert.deepEqual([answer.status, answer.json], [404, { error: 'topup_not_found' }])
  }
})

test('an automatic top-up can be set, read and deleted, and the server tops up by itself', async () => {
  const payer = await seedPayer(gateway.database.db)
  const other = await seedPayer(gateway.database.db)
  const call = (method: string, body?: object, { secret }: Payer = payer) =>
    ask(gateway.node.baseUrl, '/topups/automatic', { secret, method, body })
  const added = await ask(gateway.node.baseUrl, '/payment-methods', {
    secret: payer.secret,
    body: cardBody(APPROVED),
  })
  const card = { payment_method_id: added.json.id }
  const sound = { threshold_brl: 10.5, amount_brl: 20, ...card }
  for (const method of ['GET', 'DELETE']) {
    const none = await call(method)
    assert.deepEqual([none.status, none.json], [404, { error: 'automatic_topup_not_found' }])
  }
  for (const [body, error] of [
    [{ ...sound, amount_brl: 19.99 }, 'amount must be number between 20 and 5000'],
    [{ ...sound, amount_brl: '20' }, 'amount must be number between 20 and 5000'],
    [{ ...sound, threshold_brl: -1 }, 'invalid_request'],
    [{ ...sound, threshold_brl: 5000.01 }, 'invalid_request'],
    [{ ...sound, threshold_brl: 0.001 }, 'invalid_request'],
    [{ ...sound, monthly_limit_brl: 19.99 }, 'invalid_request'],
    [{ ...sound, is_enabled: 'yes' }, 'invalid_request'],
    [{ ...sound, more: 1 }, 'invalid_request'],
    [{ threshold_brl: 10, amount_brl: 20 }, 'invalid_request'],
  ] as const) {
    const answer = await call('PUT', body)
    assert.deepEqual([answer.status, answer.json.error], [400, error], JSON.stringify(body))
  }
  for (const [body, whose] of [
    [sound, other],
    [{ ...sound, payment_method_id: 'nenhum' }, payer],
  ] as const) {
    const answer = await call('PUT', body, whose)
    assert.deepEqual([answer.status, answer.json], [404, { error: 'payment_method_not_found' }])
  }
  const saved = await call('PUT', { ...sound, monthly_limit_brl: 100 })
  const { updated_at, ...rest } = saved.json
  assert.deepEqual(rest, {
    is_enabled: true,
    threshold_brl: 10.5,
    amount_brl: 20,
    ...card,
    monthly_limit_brl: 100,
    failures_in_row: 0,
    disabled_reason: null,
  })
  assert.ok(Date.parse(updated_at))
  assert.deepEqual((await call('GET')).json, saved.json)
  for (const deadline = Date.now() + 30_000; ; await sleep(100)) {
    const { json } = await ask(gateway.node.baseUrl, '/topups', { secret: payer.secret })
    if (json.topups[0]?.status === 'paid') {
      assert.deepEqual([json.topups.length, json.topups[0].is_automatic], [1, true])
      break
    }
    assert.ok(Date.now() < deadline, JSON.stringify(json))
  }
  assert.deepEqual((await call('DELETE')).json, saved.json)
  assert.equal((await call('GET')).status, 404)
})
