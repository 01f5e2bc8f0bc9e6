/** Customers as operators find them, and manual credits and debits. */
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { queueMail } from '../../src/deliveries/email/queue-mail.ts'
import { inTransaction } from '../../src/platform/db/open.ts'
import { saveProfile } from '../../src/customers/profiles.ts'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { maskEmail } from '../../src/deliveries/list-failing.ts'
import { deleteAccount } from '../../src/identity/personal-data/delete-account.ts'
import { seedPaidTopUp } from '../harness/seed-paid-top-up.ts'
import { seedTeam } from '../harness/seed-team.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { actsOn, newReference, startWithAdmins } from '../harness/admins.ts'
import { ask, askChat, sound, type Asked } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { operationsOf, readOpenApi } from '../harness/operations.ts'

const { gateway, ana, bia } = await startWithAdmins()
after(() => gateway.stop())
const { db } = gateway.database
// The sums of 24 hours begin anew.
beforeEach(() =>
  sql`update adjustments set created_at = created_at - interval '2 days', decided_at = decided_at - interval '2 days'`.execute(
    db,
  ),
)
const { baseUrl } = gateway.node

async function newCustomer(balanceBrl = '100', name = 'Teste', email?: string) {
  const seeded = await seedCustomer(db, { balanceBrl })
  await db
    .updateTable('customers')
    .set({ name, email: email ?? null })
    .where('id', '=', seeded.customerId)
    .execute()
  return seeded
}

async function balanceOf(customerId: string): Promise<number> {
  return Number((await findAccount(db, customerId))?.balanceNanoBrl) / 1e9
}

function adjust(
  customer_id: string,
  more: object = {},
  by = ana,
  headers: Record<string, string> = {},
): Promise<Asked> {
  const body = {
    customer_id,
    kind: 'credit',
    amount_brl: 10,
    reason: 'cortesia',
    reference: newReference(),
    ...more,
  }
  return ask(baseUrl, '/admin/adjustments', { secret: by.secret, body, headers })
}

/** A credit that waits for a second operator. */
async function request(customerId: string, more: object = {}): Promise<string> {
  const asked = await adjust(customerId, { amount_brl: 500.01, ...more })
  assert.deepEqual([asked.status, asked.json.status], [201, 'pending'], asked.text)
  return asked.json.id
}

test('operations of operators are forbidden to all other callers, with any input, and change nothing', async () => {
  const operations = [...operationsOf(await readOpenApi(baseUrl)).values()].filter(({ path }) =>
    path.startsWith('/admin/'),
  )
  assert.ok(operations.length >= 17, `${operations.length} operations`)
  const count = () =>
    db.selectFrom('audit_log').select(db.fn.countAll().as('count')).executeTakeFirstOrThrow()
  const before = await count()
  for (const { name, method, path } of operations) {
    for (const id of [gateway.customerId, 'sandbox-chat']) {
      const address = path.replaceAll(/\{\w+\}/g, id)
      for (const body of method === 'GET' ? [undefined] : [undefined, {}, 'no json']) {
        const answer = await ask(baseUrl, address, { method, secret: gateway.secret, body })
        assert.deepEqual([answer.status, answer.json], [403, { error: 'forbidden' }], name)
        const anonymous = await ask(baseUrl, address, { method, body })
        assert.deepEqual([anonymous.status, anonymous.text], [401, ''], name)
      }
    }
  }
  assert.deepEqual(await count(), before)
})

test('customers are found by any part of their name and e-mail, by their CPF in any form, and by each id they can tell', async () => {
  const found = await newCustomer('12.5', 'Úrsula_100% Lima', 'Ursula.Lima@Exemplo.com.br')
  await saveProfile(db, found.customerId, { full_name: 'Ursula Açaí Reis', tax_id: '24971563792' })
  const other = await newCustomer('1', 'Úrsula-100 Lima')
  // The first request has an id that the service gives, the second one of its client.
  const named = await ask(baseUrl, '/chat/completions', {
    secret: found.secret,
    body: sound(),
    headers: { 'x-svc-request-id': 'pedido-7' },
  })
  const own = await ask(baseUrl, '/chat/completions', {
    secret: found.secret,
    body: sound(),
    headers: { 'x-svc-request-id': 'f47ac10b-58cc-4372-a567-0e02b2c3d479' },
  })
  assert.deepEqual([named.status, own.status], [200, 200])
  const event = await db
    .selectFrom('usage_events')
    .select('id')
    .where('customer_id', '=', found.customerId)
    .executeTakeFirstOrThrow()
  const topUpId = await seedPaidTopUp(db, { customerId: found.customerId, cents: 5_000 })
  const paymentId = 'pay_x7Kq42'
  await sql`update top_ups set processor_payment_id = ${paymentId} where id = ${topUpId}`.execute(
    db,
  )
  const search = async (q: string) => {
    const { status, json, text } = await ana.call(`/admin/customers?q=${encodeURIComponent(q)}`)
    assert.equal(status, 200, text)
    return json.customers.map((one: { id: string; found_by: string[] }) => [one.id, one.found_by])
  }
  const end = found.key.lastFour
  const ways: Record<string, readonly string[]> = {
    words: [
      'ÚRSULA_1',
      'ursula_1',
      'URSULA.lima@',
      '0% lim',
      'lima ursula_',
      'acai',
      '@exemplo.com.br',
    ],
    id: [found.customerId, found.customerId.slice(0, 20), ` ${found.customerId} `],
    tax_id: ['249.715.637-92', '24971563792', ' 249 715 637 92', '24971', '***.715.637-**'],
    key: [`sk-svc-…${end}`, `…${end}`, `...${end}`, found.secret, found.key.id],
    topup: [topUpId, topUpId.toUpperCase()],
    payment: [paymentId],
    call: [
      event.id,
      String(named.headers.get('x-request-id')),
      String(own.headers.get('x-svc-request-id')),
    ],
  }
  for (const [way, texts] of Object.entries(ways))
    for (const q of texts) assert.deepEqual(await search(q), [[found.customerId, [way]]], q)
  const both = [other.customerId, found.customerId].map((id) => [id, ['words']])
  assert.deepEqual(await search('lima'), both, 'newest first')
  const nothing = ['%%%', '___', '71563792', '***', 'nobody@', "'; drop", 'lima lima2', 'pay_x7Kq']
  for (const q of [...nothing, `${found.customerId}0`, '018f0000-0000-7000-8000-000000000000'])
    assert.deepEqual(await search(q), [], q)
  for (const q of ['ab', '%20%20%20', 'a%00b', 'x'.repeat(201)])
    assert.equal((await ana.call(`/admin/customers?q=${q}`)).status, 400, q)
  const listed = await ana.call(`/admin/customers?q=${found.customerId}`)
  assert.equal(listed.json.customers[0].balance_brl, await balanceOf(found.customerId))
  const first = await ana.call('/admin/customers?q=lima&limit=1')
  const next = await ana.call(`/admin/customers?q=lima&cursor=${first.json.next_cursor}`)
  assert.deepEqual(
    [...first.json.customers, ...next.json.customers].map(({ id }) => id),
    [other.customerId, found.customerId],
  )
  // The search text is not recorded.
  const acts = await db
    .selectFrom('audit_log')
    .select('details')
    .where('action', '=', 'customers.listed')
    .execute()
  assert.ok(acts.length >= 10)
  assert.doesNotMatch(JSON.stringify(acts), /rsula|249|pay_/i)
})

test('a customer is shown with balance, keys and top-ups, the CPF masked, and the access is recorded', async () => {
  const { customerId, secret } = await newCustomer('50', 'Rui', 'rui@exemplo.com.br')
  await saveProfile(db, customerId, { full_name: 'Rui Dias', tax_id: '52998224725', city: 'Natal' })
  assert.equal((await askChat(baseUrl, secret, sound())).status, 200)
  const { status, json, text } = await ana.call(`/admin/customers/${customerId}`)
  assert.equal(status, 200, text)
  assert.equal(json.profile.cpf_cnpj, '***.982.247-**')
  assert.doesNotMatch(text, /52998224725|sk-svc-|hash/)
  const account = await findAccount(db, customerId)
  assert.equal(json.balance.balance_brl, Number(account?.balanceNanoBrl) / 1e9)
  assert.equal(json.balance.credited_brl, 50)
  assert.deepEqual(json.keys, { active: 1, suspended: 0, revoked: 0, expired: 0 })
  assert.equal(json.flags.is_admin, false)
  assert.partialDeepStrictEqual(json.last_calls, [
    { status: 'charged', reason: null, model_id: 'sandbox-chat', api_key_name: 'teste' },
  ])
  const acts = await actsOn(gateway, customerId)
  assert.deepEqual(
    acts.map(({ action, actor_id }) => [action, actor_id]),
    [['customer.viewed', ana.customerId]],
  )
  for (const id of [
    'nada',
    ana.customerId.replace(/.$/, 'x'),
    '00000000-0000-7000-8000-000000000000',
  ]) {
    const missing = await ana.call(`/admin/customers/${id}`)
    assert.deepEqual([missing.status, missing.json.error], [404, 'customer_not_found'], id)
  }
})

test('the page of a customer has the newest calls, failed ones too, what was refused, and the mails, and nothing of others', async () => {
  const { customerId, secret } = await newCustomer('1')
  await newCustomer('1')
  for (const model of ['sandbox-chat', 'sandbox-error-500', 'nenhum-modelo'])
    await askChat(baseUrl, secret, sound(model))
  await inTransaction(db, async (trx) => {
    for (const reference of ['1', '2'])
      await queueMail(trx, {
        customerId,
        template: 'saldo_baixo',
        data: {},
        reference,
        delaySeconds: 900,
      })
    await queueMail(trx, {
      customerId,
      template: 'convite_equipe',
      data: {},
      reference: '3',
      email: 'x@exemplo.com',
      delaySeconds: 900,
    })
  })
  await db
    .insertInto('notifications')
    .values({
      id: createId(),
      customer_id: customerId,
      template: 'boas_vindas',
      status: 'failed',
      error: '550',
      sent_at: new Date(0),
    })
    .execute()
  const shown = async () => (await ana.call(`/admin/customers/${customerId}`)).json
  // Refusals are counted some seconds late.
  while ((await shown()).refusals.length < 2) await sleep(50)
  const { last_calls, refusals, last_mails } = await shown()
  assert.deepEqual(
    last_calls.map((each: { status: string }) => each.status),
    ['failed', 'charged'],
  )
  assert.ok(last_calls[0].reason)
  assert.deepEqual(
    refusals
      .map((each: { code: string; status: number; refusals: number }) => [
        each.code,
        each.status,
        each.refusals,
      ])
      .find(([code]: [string]) => code === 'model_not_found'),
    ['model_not_found', 404, 1],
  )
  assert.deepEqual(
    last_mails.map((each: { template: string; status: string }) => [each.template, each.status]),
    [
      ['saldo_baixo', 'waiting'],
      ['saldo_baixo', 'waiting'],
      ['boas_vindas', 'failed'],
    ],
  )
})

test('a masked address cannot be used to send mail', () => {
  assert.equal(maskEmail('ana.souza@exemplo.com.br'), 'a***@e***.br')
  for (const odd of ['', '@', 'a', 'a@b', '@b.c', '😀@😀.br'])
    assert.match(maskEmail(odd), /^.{0,2}\*\*\*@.{0,2}\*\*\*(\.\w+)?$/, odd)
})

test('up to the limit an adjustment is posted at once, exactly, and reported', async () => {
  const { customerId } = await newCustomer('100')
  const credited = await adjust(customerId, { amount_brl: 499.99 })
  assert.deepEqual([credited.status, credited.json.status], [201, 'posted'], credited.text)
  assert.equal(credited.json.amount_brl, 499.99)
  assert.equal(await balanceOf(customerId), 599.99)
  assert.equal((await adjust(customerId, { kind: 'debit', amount_brl: 500 })).json.status, 'posted')
  assert.equal(await balanceOf(customerId), 99.99)
  const [act] = await actsOn(gateway, credited.json.id)
  assert.partialDeepStrictEqual(act, {
    action: 'adjustment.posted',
    actor_id: ana.customerId,
    details: { kind: 'credit', amount_brl: '499.99' },
  })
  await assertAudit(gateway.database)
})

test('a promotional credit is in the balance, and is shown as promotional', async () => {
  const { customerId } = await newCustomer('5')
  const granted = await adjust(customerId, { kind: 'promotional_credit', amount_brl: 7.5 })
  assert.equal(granted.json.status, 'posted', granted.text)
  const { json } = await ana.call(`/admin/customers/${customerId}`)
  assert.deepEqual([json.balance.balance_brl, json.balance.promotional_brl], [12.5, 7.5])
})

test('the same reference posts once, even concurrently or by the header; for another adjustment it is a conflict', async () => {
  const { customerId } = await newCustomer('0')
  const reference = newReference()
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, turn) => adjust(customerId, { reference }, turn % 2 ? ana : bia)),
  )
  for (const { status, json } of answers)
    assert.deepEqual([status, json.id], [201, answers[0]?.json.id])
  assert.equal(await balanceOf(customerId), 10)
  assert.equal((await actsOn(gateway, answers[0]?.json.id)).length, 1)
  for (const other of [{ amount_brl: 11 }, { kind: 'debit' }, { reason: 'outra razão' }]) {
    const { status, json } = await adjust(customerId, { reference, ...other })
    assert.deepEqual([status, json.error], [409, 'reference_taken'])
  }
  const byHeader = (key: string, more: object = {}): Promise<Asked> =>
    adjust(customerId, { reference: undefined, ...more }, ana, { 'idempotency-key': key })
  assert.equal((await byHeader(reference)).json.id, answers[0]?.json.id)
  assert.equal((await adjust(customerId, { reference: undefined })).status, 400, 'neither')
  assert.equal((await byHeader(newReference(), { reference })).status, 400, 'both, and they differ')
  assert.equal((await byHeader('com espaço')).status, 400)
  assert.equal(await balanceOf(customerId), 10)
})

test('an invalid amount, reason or reference is refused, and an unknown customer is a 404', async () => {
  const { customerId } = await newCustomer('1')
  for (const wrong of [
    ...[0, -1, 0.001, 1.005, 1_000_000.01, 1e300, '10', null].map((amount_brl) => ({ amount_brl })),
    ...['', 'ab', '   ', 'a\u0000bc', 'a\nbc', 'x'.repeat(501)].map((reason) => ({ reason })),
    ...['', 'com espaço', 'x'.repeat(101), 'é'].map((reference) => ({ reference })),
    ...['deposit', '', null].map((kind) => ({ kind })),
    { customer_id: 'x' },
    { more: 1 },
  ]) {
    const { status, json, text } = await adjust(customerId, wrong)
    assert.deepEqual(
      [status, json.error],
      [400, 'invalid_request'],
      `${JSON.stringify(wrong)} ${text}`,
    )
  }
  const unknown = await adjust('00000000-0000-7000-8000-000000000000')
  assert.deepEqual([unknown.status, unknown.json.error], [404, 'customer_not_found'])
  assert.equal(await balanceOf(customerId), 1)
})

test('above the limit an adjustment waits for another admin: its requester cannot approve it', async () => {
  const { customerId } = await newCustomer('0')
  const id = await request(customerId)
  assert.equal(await balanceOf(customerId), 0)
  const own = await ana.call(`/admin/adjustments/${id}/approve`, {})
  assert.deepEqual([own.status, own.json.error], [403, 'second_admin_required'])
  const approved = await bia.call(`/admin/adjustments/${id}/approve`, {})
  assert.equal(approved.status, 200, approved.text)
  assert.deepEqual(
    [approved.json.status, approved.json.requested_by, approved.json.decided_by],
    ['posted', ana.customerId, bia.customerId],
  )
  assert.equal(await balanceOf(customerId), 500.01)
  for (const act of ['approve', 'reject']) {
    const late = await bia.call(`/admin/adjustments/${id}/${act}`, {})
    assert.deepEqual([late.status, late.json.error], [409, 'adjustment_decided'], act)
  }
  assert.deepEqual(
    (await actsOn(gateway, id)).map(({ action, actor_id }) => [action, actor_id]),
    [
      ['adjustment.requested', ana.customerId],
      ['adjustment.approved', bia.customerId],
    ],
  )
})

test('what one operator posts alone within 24 hours stays within the limit, however it is split and timed', async () => {
  const customers = await Promise.all(Array.from({ length: 8 }, () => newCustomer('0')))
  const answers = await Promise.all(
    customers.map(({ customerId }) => adjust(customerId, { amount_brl: 250 })),
  )
  assert.equal(answers.filter(({ json }) => json.status === 'posted').length, 2)
  assert.equal(answers.filter(({ json }) => json.status === 'pending').length, 6)
  const balances = await Promise.all(customers.map(({ customerId }) => balanceOf(customerId)))
  assert.equal(
    balances.reduce((sum, each) => sum + each, 0),
    500,
  )
  // Promotional credit is credit; a debit is not.
  const [{ customerId } = assert.fail()] = customers
  const promotional = { kind: 'promotional_credit', amount_brl: 0.01 }
  assert.equal((await adjust(customerId, promotional)).json.status, 'pending')
  const rich = await newCustomer('100')
  const debited = await adjust(rich.customerId, { kind: 'debit', amount_brl: 100 })
  assert.equal(debited.json.status, 'posted', debited.text)
  // What another operator approved counts no more than what nobody posted.
  const waiting = answers.find(({ json }) => json.status === 'pending')?.json.id
  assert.equal((await bia.call(`/admin/adjustments/${waiting}/approve`, {})).status, 200)
  await sql`update adjustments set created_at = created_at - interval '1 day'`.execute(db)
  assert.equal((await adjust(customerId, { amount_brl: 500 })).json.status, 'posted')
})

test('what one customer gets without approval within 24 hours stays within the limit, by whomever', async () => {
  const { customerId } = await newCustomer('0')
  assert.equal((await adjust(customerId, { amount_brl: 300 })).json.status, 'posted')
  assert.equal((await adjust(customerId, { amount_brl: 300 }, bia)).json.status, 'pending')
  assert.equal((await adjust(customerId, { amount_brl: 200 }, bia)).json.status, 'posted')
  assert.equal(await balanceOf(customerId), 500)
})

test('no operator acts for their own account, nor for one whose team they belong to', async () => {
  const { customerId: friendId } = await newCustomer('10')
  const teamId = await seedTeam(db, friendId)
  const member = { team_id: teamId, customer_id: ana.customerId, role: 'member' } as const
  await db.insertInto('team_members').values(member).execute()
  for (const customerId of [ana.customerId, friendId]) {
    for (const amount_brl of [0.01, 500.01])
      for (const kind of ['credit', 'debit', 'promotional_credit']) {
        const { status, json } = await adjust(customerId, { kind, amount_brl })
        assert.deepEqual([status, json.error], [403, 'own_account'])
      }
    const asked = await adjust(customerId, { amount_brl: 500.01 }, bia)
    const approved = await ana.call(`/admin/adjustments/${asked.json.id}/approve`, {})
    assert.deepEqual([approved.status, approved.json.error], [403, 'own_account'])
    for (const act of ['suspend', 'reinstate']) {
      const { status, json } = await ana.call(
        `/admin/customers/${customerId}/${act}`,
        act === 'suspend' ? { reason: 'teste' } : {},
      )
      assert.deepEqual([status, json.error], [403, 'own_account'])
    }
  }
  assert.deepEqual([await balanceOf(ana.customerId), await balanceOf(friendId)], [0, 10])
  // Nor by a way round the function.
  const own = { id: createId(), customer_id: ana.customerId, requested_by: ana.customerId }
  const row = { kind: 'credit', amount_nano_brl: 10_000_000n, reason: 'meu', reference: own.id }
  const posted = { ...row, status: 'posted', decided_by: null, decided_at: new Date() } as const
  await assert.rejects(
    db
      .insertInto('adjustments')
      .values({ ...own, ...posted, kind: 'credit' })
      .execute(),
    /adjustments_for_another/,
  )
})

test('concurrent approvals and rejections decide an adjustment once, and post it at most once', async () => {
  const { customerId } = await newCustomer('0')
  const id = await request(customerId)
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, turn) =>
      bia.call(`/admin/adjustments/${id}/${turn === 7 ? 'reject' : 'approve'}`, {}),
    ),
  )
  const done = answers.filter(({ status }) => status === 200)
  assert.equal(done.length, 1, answers.map(({ text }) => text).join('\n'))
  for (const { status, json } of answers)
    if (status !== 200) assert.deepEqual([status, json.error], [409, 'adjustment_decided'])
  assert.equal(await balanceOf(customerId), done[0]?.json.status === 'posted' ? 500.01 : 0)
  await assertAudit(gateway.database)
})

test('a rejected adjustment is never posted; its requester may withdraw it', async () => {
  const { customerId } = await newCustomer('0')
  const id = await request(customerId)
  const { json } = await ana.call(`/admin/adjustments/${id}/reject`, {})
  assert.deepEqual([json.status, json.decided_by], ['rejected', ana.customerId])
  assert.equal((await bia.call(`/admin/adjustments/${id}/approve`, {})).status, 409)
  assert.equal(await balanceOf(customerId), 0)
  for (const unknown of ['x', '00000000-0000-7000-8000-000000000000'])
    for (const act of ['approve', 'reject']) {
      const missing = await bia.call(`/admin/adjustments/${unknown}/${act}`, {})
      assert.deepEqual([missing.status, missing.json.error], [404, 'adjustment_not_found'])
    }
})

test('a debit never takes held money; a refused debit is not stored, and a waiting one keeps waiting', async () => {
  const { customerId } = await newCustomer('600')
  const reference = newReference()
  const id = await request(customerId, { kind: 'debit', amount_brl: 550 })
  await db
    .updateTable('accounts')
    .set({ held_nano_brl: 400_000_000_000n })
    .where('customer_id', '=', customerId)
    .execute()
  const refused = await adjust(customerId, { kind: 'debit', amount_brl: 200.01, reference })
  assert.deepEqual([refused.status, refused.json.error], [409, 'short_balance'])
  const waits = await bia.call(`/admin/adjustments/${id}/approve`, {})
  assert.deepEqual([waits.status, waits.json.error], [409, 'short_balance'])
  assert.equal(await balanceOf(customerId), 600)
  await db
    .updateTable('accounts')
    .set({ held_nano_brl: 0n })
    .where('customer_id', '=', customerId)
    .execute()
  assert.equal((await bia.call(`/admin/adjustments/${id}/approve`, {})).json.status, 'posted')
  // A refused debit is not stored, so its reference can be used again.
  const again = await adjust(customerId, { kind: 'debit', amount_brl: 50, reference })
  assert.equal(again.json.status, 'posted', again.text)
  assert.equal(await balanceOf(customerId), 0)
})

test('adjustments are listed by status and customer, with the names of the people involved', async () => {
  const { customerId } = await newCustomer('0', 'Lia Prado')
  await db.updateTable('customers').set({ name: 'Ana' }).where('id', '=', ana.customerId).execute()
  const id = await request(customerId)
  const idsOf = async (query: string): Promise<string[]> => {
    const { json } = await ana.call(`/admin/adjustments${query}`)
    return json.adjustments.map((one: { id: string }) => one.id)
  }
  assert.equal((await idsOf(''))[0], id)
  assert.equal((await idsOf('?status=pending'))[0], id)
  assert.ok(!(await idsOf('?status=posted')).includes(id))
  assert.equal((await ana.call('/admin/adjustments?status=x')).status, 400)
  const { json } = await bia.call(`/admin/adjustments?customer_id=${customerId}`)
  assert.equal(json.approval_above_brl, 500)
  assert.deepEqual(
    json.adjustments.map((one: any) => [one.id, one.customer_name, one.requested_by_name]),
    [[id, 'Lia Prado', 'Ana']],
  )
  assert.equal(json.adjustments[0].decided_by_name, null)
  assert.deepEqual(await idsOf(`?customer_id=${bia.customerId}`), [])
})

test('after the deletion of a customer nothing is posted, and waiting adjustments can be rejected', async () => {
  const { customerId } = await newCustomer('0')
  const id = await request(customerId)
  const deleted = await deleteAccount(db, OPERATOR, { customerId, waiveBalance: true })
  assert.equal(deleted.kind, 'deleted')
  const created = await adjust(customerId)
  assert.deepEqual([created.status, created.json.error], [404, 'customer_not_found'])
  const approved = await bia.call(`/admin/adjustments/${id}/approve`, {})
  assert.deepEqual([approved.status, approved.json.error], [409, 'customer_deleted'])
  assert.equal((await bia.call(`/admin/adjustments/${id}/reject`, {})).status, 200)
  const shown = await ana.call(`/admin/customers/${customerId}`)
  assert.ok(shown.json.deleted_at)
  assert.equal(await balanceOf(customerId), 0)
})
