/** What operators do without a command line: a lost second factor, the exchange rate, invoices, and the first look. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { createLog } from '../../src/platform/lib/log.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { deleteAccount } from '../../src/identity/personal-data/delete-account.ts'
import { eraseDeletedAccounts } from '../../src/identity/personal-data/erase-remains.ts'
import { resetSecondFactor } from '../../src/identity/sign-in/reset-second-factor.ts'
import { storeFxRate } from '../../src/money/fx/fx-rates.ts'
import { setFxRate } from '../../src/money/fx/set-fx-rate.ts'
import { openIncident } from '../../src/platform/health/incidents.ts'
import { recordFindings } from '../../src/money/reconciliation/discrepancies.ts'
import { actsOn, newReference, startWithAdmins } from '../harness/admins.ts'
import { ask, askChat, sound } from '../harness/ask.ts'
import { enableFactor, openSession } from '../harness/open-session.ts'
import { seedPaidTopUp } from '../harness/seed-paid-top-up.ts'
import { seedTeam } from '../harness/seed-team.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { seedCustomer } from '../harness/test-database.ts'

const { gateway, ana, bia } = await startWithAdmins()
after(() => gateway.stop())
const { db } = gateway.database
const { baseUrl, dataDir } = gateway.node

/** A customer with a second factor and a session. */
async function lockedOut(): Promise<string> {
  const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
  await openSession({ db, dataDir }, customerId)
  await enableFactor(db, customerId)
  return customerId
}

const reset = (by: typeof ana, customerId: string, reason = 'ligou do telefone do cadastro') =>
  by.call(`/admin/customers/${customerId}/second-factor/reset`, { reason })

async function factorOf(customerId: string) {
  const { json } = await ana.call(`/admin/customers/${customerId}`)
  return json.second_factor
}

const sessionsOf = async (customerId: string): Promise<number> => {
  const { rows } = await sql`
    select s.id from sign_in_sessions s join sign_in_users u on u.id = s.user_id
    join customers c on lower(c.email) = u.email where c.id = ${customerId}`.execute(db)
  return rows.length
}

const mailedActs = async (customerId: string): Promise<unknown[]> => {
  const { rows } = await sql<{ text: string }>`
    select data->>'act' as text from mails where customer_id = ${customerId}
    union all
    select subject from sandbox_mails where customer_id = ${customerId}`.execute(db)
  return rows.map(({ text }) => text)
}

test('a note on a customer is read by operators only, newest first, is written once and logged without its text, and ends with the account', async () => {
  const { customerId, secret } = await seedCustomer(db, { balanceBrl: '0' })
  const { secret: stranger } = await seedCustomer(db, { balanceBrl: '0' })
  const path = `/admin/customers/${customerId}/notes`
  const first = await ana.call(path, { note: ' Ligou.\nVolta amanhã. ' })
  assert.equal(first.status, 201, first.text)
  const once = { 'idempotency-key': createId() }
  const write = () =>
    ask(baseUrl, path, { secret: bia.secret, body: { note: 'a'.repeat(2_000) }, headers: once })
  const [second, again] = [await write(), await write()]
  assert.deepEqual([second.status, again.status], [201, 201], second.text)
  assert.equal(again.json.id, second.json.id)
  const { json, text } = await bia.call(path)
  assert.deepEqual(
    json.notes.map((one: Record<string, string>) => [one.id, one.note, one.written_by]),
    [
      [second.json.id, 'a'.repeat(2_000), bia.customerId],
      [first.json.id, 'Ligou.\nVolta amanhã.', ana.customerId],
    ],
    text,
  )
  for (const note of ['', ' \n', 'a\0', 'a'.repeat(2_001)])
    assert.equal((await ana.call(path, { note })).status, 400, JSON.stringify(note))
  for (const id of ['x', createId()]) {
    assert.equal((await ana.call(`/admin/customers/${id}/notes`)).status, 404)
    assert.equal((await ana.call(`/admin/customers/${id}/notes`, { note: 'Ligou.' })).status, 404)
  }
  for (const other of [secret, stranger]) {
    assert.equal((await ask(baseUrl, path, { secret: other })).status, 403)
    assert.equal((await ask(baseUrl, path, { secret: other, body: { note: 'x' } })).status, 403)
  }
  // The law gives people a copy of what is held about them, but not who wrote it.
  const copy = await ask(baseUrl, '/me/export', { secret })
  assert.deepEqual(
    copy.json.operator_notes.map((one: { note: string }) => one.note),
    ['a'.repeat(2_000), 'Ligou.\nVolta amanhã.'],
  )
  assert.ok(!copy.text.includes(`"written_by"`))
  for (const { id, written_by: by } of json.notes)
    assert.deepEqual(await actsOn(gateway, id), [
      { action: 'customer.noted', actor_id: by, details: null },
    ])
  const { kind } = await deleteAccount(db, OPERATOR, { customerId, waiveBalance: true })
  assert.equal(kind, 'deleted')
  await eraseDeletedAccounts(db)
  assert.deepEqual((await ana.call(path)).json.notes, [])
  assert.equal((await ana.call(path, { note: 'Ligou.' })).status, 404)
})

test("a note on a customer is deleted by operators only, as that customer's, and logged without its text", async () => {
  const { customerId, secret } = await seedCustomer(db, { balanceBrl: '0' })
  const { customerId: otherId } = await seedCustomer(db, { balanceBrl: '0' })
  const path = `/admin/customers/${customerId}/notes`
  const { json: kept } = await ana.call(path, { note: 'Ligou.' })
  const { json: wrong } = await ana.call(path, { note: 'CPF 529.982.247-25' })
  const method = 'DELETE'
  assert.equal((await ask(baseUrl, `${path}/${wrong.id}`, { secret, method })).status, 403)
  for (const missing of [
    `/admin/customers/${otherId}/notes/${wrong.id}`,
    `/admin/customers/x/notes/${wrong.id}`,
    `${path}/${createId()}`,
    `${path}/x`,
  ]) {
    const refused = await bia.call(missing, undefined, method)
    assert.deepEqual([refused.status, refused.json.error], [404, 'note_not_found'], missing)
  }
  const deleted = await bia.call(`${path}/${wrong.id}`, undefined, method)
  assert.deepEqual([deleted.status, deleted.json], [200, { id: wrong.id, deleted: true }])
  assert.equal((await bia.call(`${path}/${wrong.id}`, undefined, method)).status, 404)
  const { json } = await ana.call(path)
  assert.deepEqual(
    json.notes.map(({ id }: { id: string }) => id),
    [kept.id],
  )
  const acts = await actsOn(gateway, wrong.id)
  assert.deepEqual(
    acts.map(({ action, actor_id, details }) => [action, actor_id, details]),
    [
      ['customer.noted', ana.customerId, null],
      ['customer.note_deleted', bia.customerId, null],
    ],
  )
})

test('a second factor is reset by two operators, never by one, and the customer hears of both acts', async () => {
  const customerId = await lockedOut()
  assert.deepEqual(await factorOf(customerId), { is_on: true, reset: null })
  for (const turn of [1, 2]) {
    const asked = await reset(ana, customerId)
    assert.deepEqual([asked.status, asked.json.second_factor], [200, 'waiting'], `${turn}`)
  }
  assert.equal((await factorOf(customerId)).is_on, true)
  assert.partialDeepStrictEqual((await factorOf(customerId)).reset, {
    requested_by: ana.customerId,
    requested_by_name: 'Teste',
    reason: 'ligou do telefone do cadastro',
  })
  assert.equal(await sessionsOf(customerId), 1)
  const { json: overview } = await bia.call('/admin/overview')
  assert.deepEqual(
    overview.waiting.second_factors.map((one: { customer_id: string }) => one.customer_id),
    [customerId],
  )
  const done = await reset(bia, customerId)
  assert.deepEqual([done.status, done.json.second_factor], [200, 'off'])
  assert.deepEqual(await factorOf(customerId), { is_on: false, reset: null })
  assert.equal(await sessionsOf(customerId), 0)
  assert.equal((await reset(bia, customerId)).json.second_factor, 'off')
  assert.deepEqual(
    (await actsOn(gateway, customerId))
      .filter(({ action }) => action.startsWith('second'))
      .map(({ action, actor_id }) => [action, actor_id]),
    [
      ['second_factor.reset_requested', ana.customerId],
      ['second_factor.reset', bia.customerId],
    ],
  )
  assert.equal((await mailedActs(customerId)).length, 2)
})

test('a request to reset a second factor lapses after a day, and of two at once none is lost', async () => {
  const customerId = await lockedOut()
  await reset(ana, customerId)
  await sql`update sign_in_second_factors set reset_requested_at = now() - interval '25 hours'
    where reset_requested_at is not null`.execute(db)
  assert.equal((await factorOf(customerId)).reset, null)
  assert.equal((await reset(bia, customerId)).json.second_factor, 'waiting', 'a request of its own')
  assert.equal((await factorOf(customerId)).is_on, true)

  const other = await lockedOut()
  const both = await Promise.all([reset(ana, other), reset(bia, other)])
  assert.deepEqual(new Set(both.map(({ json }) => json.second_factor)), new Set(['off', 'waiting']))
})

test('no operator resets a second factor of an account of their own, and an unknown customer is a 404', async () => {
  const customerId = await lockedOut()
  const teamId = await seedTeam(db, customerId)
  const member = { team_id: teamId, customer_id: ana.customerId, role: 'member' } as const
  await db.insertInto('team_members').values(member).execute()
  for (const id of [ana.customerId, customerId]) {
    const { status, json } = await reset(ana, id)
    assert.deepEqual([status, json.error], [403, 'own_account'])
  }
  assert.equal((await factorOf(customerId)).is_on, true)
  for (const id of [createId(), 'nada', `${customerId}0`])
    assert.deepEqual((await reset(ana, id)).json.error, 'customer_not_found', id)
  for (const reason of ['', 'ab', '   ', 'a\nb', 'x'.repeat(501)])
    assert.equal((await reset(ana, customerId, reason)).status, 400)
  // Whoever has the command line has the database.
  const outcome = await resetSecondFactor(db, OPERATOR, { customerId, reason: 'teste' })
  assert.equal(outcome.kind, 'off')
})

test('the exchange rate is set by hand for the next call, a slip is refused, and the rate is taken back', async () => {
  const set = (body: object) =>
    ana.call('/admin/fx-rates', { reason: 'Banco Central fora', ...body })
  const { json: before } = await ana.call('/fx-rates')
  const [current] = before.fx_rates
  const rate = Math.round(current.rate * 10_500) / 10_000
  const far = await set({ rate: 52 })
  assert.deepEqual([far.status, far.json.error], [409, 'fx_rate_unlikely'], far.text)
  for (const wrong of [
    { rate: 0 },
    { rate: 100 },
    { rate: 5.12345 },
    { rate: '5' },
    { rate, rate_date: '2999-01-01' },
    { rate, rate_date: '2026-02-31' },
    { rate, reason: 'x' },
  ])
    assert.equal((await set(wrong)).status, 400, JSON.stringify(wrong))
  const done = await set({ rate })
  assert.equal(done.status, 201, done.text)
  assert.deepEqual([done.json.fx_rate.rate, done.json.in_force], [rate, done.json.fx_rate])
  const charged = async () => {
    const { customerId, secret } = await seedCustomer(db, { balanceBrl: '10' })
    assert.equal((await askChat(baseUrl, secret, sound())).status, 200)
    const { rows } = await sql<{ rate: number }>`
      select fx_rate_e4 as rate from usage_events where customer_id = ${customerId}`.execute(db)
    return Number(rows[0]?.rate) / 10_000
  }
  while ((await charged()) !== rate);
  const withdraw = (id: string | number) =>
    ana.call(`/admin/fx-rates/${id}/withdraw`, { reason: 'engano' })
  const back = await withdraw(done.json.fx_rate.id)
  assert.deepEqual([back.status, back.json.in_force.rate], [200, current.rate], back.text)
  for (const id of [done.json.fx_rate.id, 'x', '99999999999', 0])
    assert.deepEqual((await withdraw(id)).json.error, 'fx_rate_not_found', String(id))
  while ((await charged()) !== current.rate);
  const acts = await actsOn(gateway, String(done.json.fx_rate.id))
  assert.deepEqual(
    acts.map(({ action, actor_id }) => [action, actor_id]),
    [
      ['fx_rate.set', ana.customerId],
      ['fx_rate.withdrawn', ana.customerId],
    ],
  )
})

test('many small steps do not lead a rate by hand away from the official one', async () => {
  const rate = { mode: 'live', note: 'teste', isConfirmed: false } as const
  const official = { rateE4: 50_000n, rateDate: '2026-01-02', source: 'bcb_olinda' }
  await storeFxRate(db, { ...official, bulletinAt: null })
  for (const [rateE4, kind] of [
    [59_000n, 'stored'],
    [60_100n, 'not_confirmed'],
    [70_000n, 'not_confirmed'],
    [49_000n, 'stored'],
  ] as const)
    assert.equal((await setFxRate(db, OPERATOR, { ...rate, rateE4 })).kind, kind, String(rateE4))
  const meant = await setFxRate(db, OPERATOR, { ...rate, rateE4: 70_000n, isConfirmed: true })
  assert.equal(meant.kind, 'stored', 'from the command line')
})

test('an invoice is compared with our charges, replaces the same days, and a wrong one changes nothing', async () => {
  const { customerId, key } = await seedCustomer(db, { balanceBrl: '100' })
  const at = new Date('2026-06-03T12:00:00Z')
  await seedUsage(db, {
    customerId,
    apiKeyId: key.id,
    events: [
      { at, modelId: 'm', promptTokens: 1, completionTokens: 1, costPicoUsd: 2_000_000_000_000n },
    ],
  })
  const { rows } = await sql<{ upstream: string }>`
    update usage_events set upstream_id = 'sandbox' where customer_id = ${customerId} returning 1`.execute(
    db,
  )
  assert.equal(rows.length, 1)
  const send = (csv: string, upstream = 'sandbox') =>
    ana.call('/admin/upstream-costs', { upstream, csv })
  const same = await send('day,cost_usd\n2026-06-03,2.00\n')
  assert.deepEqual(
    [same.status, same.json],
    [
      200,
      { upstream: 'sandbox', from: '2026-06-03', to: '2026-06-03', total_usd: 2, open_days: 0 },
    ],
  )
  const dearer = await send('day,cost_usd\n2026-06-03,3.00\n2026-06-04,0.5')
  assert.partialDeepStrictEqual(dearer.json, { to: '2026-06-04', total_usd: 3.5, open_days: 2 })
  const { json: report } = await ana.call('/admin/reconciliation?days=365')
  assert.deepEqual(
    report.upstream_days
      .filter((day: { day: string }) => day.day.startsWith('2026-06-0'))
      .map((day: { day: string; theirs_usd: number }) => [day.day, day.theirs_usd])
      .toSorted(),
    [
      ['2026-06-03', 3],
      ['2026-06-04', 0.5],
    ],
  )
  const faults: [string, RegExp][] = [
    ['nada', /^csv: não é/],
    ['day,cost_usd\n', /^csv: não é/],
    ['day,cost_usd\n2026-06-03,1\nontem,2', /linha 3/],
    ['day,cost_usd\n2026-06-03,dez', /linha 2/],
    ['day,cost_usd\n2026-01-01,1\n2026-06-03,1', /31 dias/],
  ]
  for (const [csv, words] of faults) {
    const { status, json } = await send(csv)
    assert.equal(status, 400, csv)
    assert.match(json.details, words)
  }
  assert.equal((await send('day,cost_usd\n2026-06-03,1', 'outro')).json.error, 'upstream_not_found')
  const { rows: kept } = await sql<{ cost: bigint }>`
    select sum(cost_pico_usd)::int8 as cost from upstream_costs`.execute(db)
  assert.equal(kept[0]?.cost, 3_500_000_000_000n)
})

test('the overview counts what waits and what fails, and the day has its top-ups', async () => {
  const { customerId, secret } = await seedCustomer(db, { balanceBrl: '100' })
  const { json: before } = await ana.call('/admin/overview')
  const { json: dayBefore } = await ana.call('/admin/margins')
  await askChat(baseUrl, secret, sound('sandbox-error-500'))
  await openIncident(db, OPERATOR, {
    title: 'Lento',
    message: 'Está lento.',
    severity: 'minor',
    vendors: [],
    modelIds: [],
  })
  const adjustment = { customer_id: customerId, kind: 'credit', amount_brl: 600, reason: 'acordo' }
  await ana.call('/admin/adjustments', { ...adjustment, reference: newReference() })
  await recordFindings(
    db,
    { subject: 'payment:pay_1', processor: 'asaas', processorPaymentId: 'pay_1' },
    [{ kind: 'payment_without_top_up', oursNanoBrl: 0n, theirsNanoBrl: 50_000_000_000n }],
    createLog('silent', () => {}),
  )
  await db
    .insertInto('notifications')
    .values({
      id: createId(),
      customer_id: customerId,
      template: 'saldo_baixo',
      status: 'failed',
      error: '550',
    })
    .execute()
  await seedPaidTopUp(db, { customerId, cents: 12_345 })
  await seedPaidTopUp(db, { customerId, cents: 99_900, daysAgo: 60 })
  const { json: now } = await ana.call('/admin/overview')
  assert.deepEqual(
    [
      now.open_incidents - before.open_incidents,
      now.waiting.adjustments - before.waiting.adjustments,
      now.open_differences - before.open_differences,
      now.failing.mails - before.failing.mails,
      now.failing.webhooks - before.failing.webhooks,
      now.is_paused,
    ],
    [1, 1, 1, 1, 0, false],
  )
  const { json: day } = await ana.call('/admin/margins')
  assert.deepEqual(
    [day.topups.count - dayBefore.topups.count, day.topups.paid_brl],
    [1, Math.round((dayBefore.topups.paid_brl + 123.45) * 100) / 100],
  )
  // Attempts are counted some seconds late.
  const failedOf = async (): Promise<number> =>
    (await ana.call('/admin/overview')).json.upstreams
      .map((one: { failed: number }) => one.failed)
      .reduce((sum: number, failed: number) => sum + failed, 0)
  while ((await failedOf()) === 0);
})

test('half a character in a reason is stored in the audit log as the mark that replaces it', async () => {
  const rate = String.raw`{"rate":5.2,"rate_date":"2026-01-01","reason":"meio \ud800"}`
  const set = await ana.call('/admin/fx-rates', rate)
  assert.equal(set.status, 201, set.text)
  const acts = await actsOn(gateway, String(set.json.fx_rate.id))
  assert.match(JSON.stringify(acts.at(-1)?.details), /"note":"meio \uFFFD"/)
})
