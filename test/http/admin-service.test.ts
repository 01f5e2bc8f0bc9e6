/** Operators' acts on the service: scheduled markups with notice, disabled models, incidents; and the list of failing webhooks. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { createCatalog } from '../../src/money/catalog/catalog.ts'
import { disableModel, enableModel } from '../../src/money/catalog/disabled-models.ts'
import { scheduleMarkup } from '../../src/money/catalog/markup-changes.ts'
import { storeDifferences } from '../../src/money/catalog/price-updates.ts'
import { sandboxModels } from '../../src/money/catalog/sandbox-catalog.ts'
import { dispatchEvents } from '../../src/platform/events/dispatch-events.ts'
import { queueMails } from '../../src/deliveries/email/queue-mails.ts'
import { inTransaction } from '../../src/platform/db/open.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import type { Log } from '../../src/platform/lib/log.ts'
import { notifyPriceChanges } from '../../src/app/workers/notify-price-changes.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { actsOn, startWithAdmins } from '../harness/admins.ts'
import { withPriceIds } from '../harness/with-price-ids.ts'
import { ask, askChat, sound } from '../harness/ask.ts'
import { assertRefusal } from '../harness/assert-answer.ts'
import { assertAudit } from '../harness/assert-audit.ts'

const { gateway, ana } = await startWithAdmins()
after(() => gateway.stop())
const { db } = gateway.database
const { baseUrl } = gateway.node
const DAY_MS = 86_400_000
const CONFIGURED_E4 = 12_500

const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString()
const log: Log = { debug() {}, info() {}, warn() {}, error() {} }

function setMarkup(model: string, markup_multiplier: unknown, more: object = {}) {
  const body = { markup_multiplier, reason: 'revisão', ...more }
  return ana.call(`/admin/models/${model}/markup`, body)
}

/** The markup with which a call at this moment is charged. */
async function chargedE4(model: string): Promise<number> {
  const answer = await askChat(baseUrl, gateway.secret, sound(model))
  assert.equal(answer.status, 200, answer.text)
  const { markup_e4 } = await db
    .selectFrom('usage_events')
    .select('markup_e4')
    .where('request_id', '=', answer.requestId)
    .executeTakeFirstOrThrow()
  return markup_e4
}

async function shownMarkup(model: string): Promise<number> {
  return (await ask(baseUrl, `/models/${model}`)).json.markup_multiplier
}

async function describe(model: string) {
  const { status, json, text } = await ana.call('/admin/models')
  assert.equal(status, 200, text)
  return json.models.find(({ id }: { id: string }) => id === model)
}

/** Changes by another node or the command line reach this node a moment later. */
async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 30_000; !(await isSo()); await sleep(20))
    assert.ok(Date.now() < deadline, what)
}

test('every model is shown with its routes, prices and markup', async () => {
  const model = await describe('sandbox-chat')
  assert.equal(model.markup_multiplier, 1.25)
  assert.equal(model.routes[0].upstream, 'sandbox')
  assert.ok(model.routes[0].price.tiers[0].input > 0)
  assert.deepEqual([model.is_disabled, model.scheduled], [false, []])
})

test('a lower markup takes effect at once: the next call is charged by it, and the charge recomputes', async () => {
  const model = 'sandbox-chat'
  assert.equal(await chargedE4(model), CONFIGURED_E4)
  const lowered = await setMarkup(model, 1.1)
  assert.equal(lowered.status, 201, lowered.text)
  assert.deepEqual([lowered.json.markup_multiplier_before, lowered.json.is_rise], [1.25, false])
  assert.equal(await chargedE4(model), 11_000)
  assert.equal(await shownMarkup(model), 1.1)
  assert.equal((await describe(model)).configured_markup_multiplier, 1.25)
  await assertAudit(gateway.database)
  const [act] = await actsOn(gateway, model)
  assert.deepEqual([act?.action, act?.actor_id], ['model.markup_scheduled', ana.customerId])
})

test('a scheduled markup takes effect at its time and no earlier, on a node that was only notified of it', async () => {
  const model = 'sandbox-embedding'
  const embedE4 = async (): Promise<number> => {
    const body = { model, input: 'olá' }
    const { requestId, status } = await ask(baseUrl, '/embeddings', {
      secret: gateway.secret,
      body,
    })
    assert.equal(status, 200)
    const event = await db
      .selectFrom('usage_events')
      .select('markup_e4')
      .where('request_id', '=', requestId)
      .executeTakeFirstOrThrow()
    return event.markup_e4
  }
  // The change is written to the database directly: this node gets it by notification only.
  // Long enough for three requests on a slow machine.
  const startsAt = new Date(Date.now() + 4_000)
  const change = { modelId: model, configuredE4: 12_500n, reason: 'teste', noticeDays: 0 }
  await scheduleMarkup(db, SYSTEM, { ...change, markupE4: 11_111n, startsAt })
  assert.equal(await embedE4(), CONFIGURED_E4)
  assert.equal(await shownMarkup(model), 1.25)
  assert.ok(Date.now() < startsAt.getTime(), 'the machine is too slow for this test')
  await sleep(startsAt.getTime() - Date.now() + 5)
  assert.equal(await embedE4(), 11_111)
  assert.equal(await shownMarkup(model), 1.1111)
})

test('a planned rise is public before it starts: its date, its markup and its prices', async () => {
  const model = 'sandbox-cached'
  const startsAt = new Date(Date.now() + 40 * 86_400_000).toISOString()
  const shown = async () => {
    const { prices } = (await ask(baseUrl, '/model-prices')).json
    const { models } = (await ask(baseUrl, '/models')).json
    return {
      price: prices.find(({ model_id }: any) => model_id === model),
      listed: models.find(({ id }: any) => id === model),
      single: (await ask(baseUrl, `/models/${model}`)).json,
    }
  }
  const before = await shown()
  assert.deepEqual([before.price.planned, before.listed.planned], [null, null])
  assert.equal((await setMarkup(model, 2.5, { starts_at: startsAt })).status, 201)
  const { price, listed, single } = await shown()
  assert.deepEqual(listed.planned, { starts_at: startsAt, markup_multiplier: 2.5 })
  assert.deepEqual(single.planned, listed.planned)
  assert.equal(listed.markup_multiplier, 1.25)
  assert.deepEqual(price.tiers, before.price.tiers)
  assert.equal(price.planned.starts_at, startsAt)
  assert.equal(price.planned.tiers[0].input_brl, before.price.tiers[0].input_brl * 2)
})

test('a call that was quoted before a change is charged by its quote', async () => {
  const model = 'sandbox-slow'
  const before = await (await ask(baseUrl, `/models/${model}`)).json
  assert.equal(before.markup_multiplier, 1.25)
  const running = askChat(baseUrl, gateway.secret, sound(model, { max_tokens: 20 }))
  await until('it runs', async () => {
    const hold = await db
      .selectFrom('holds')
      .select('id')
      .where('model_id', '=', model)
      .executeTakeFirst()
    return hold !== undefined
  })
  assert.equal((await setMarkup(model, 1)).status, 201)
  const { requestId, status, text } = await running
  assert.equal(status, 200, text)
  const { markup_e4 } = await db
    .selectFrom('usage_events')
    .select('markup_e4')
    .where('request_id', '=', requestId)
    .executeTakeFirstOrThrow()
  assert.equal(markup_e4, CONFIGURED_E4)
  await assertAudit(gateway.database)
})

test('a rise needs its days of notice, is compared with the markup in force then, and follows all others', async () => {
  const model = 'gpt-4o'
  for (const more of [{}, { starts_at: inDays(6.99) }]) {
    const early = await setMarkup(model, 1.2501, more)
    assert.deepEqual([early.status, early.json.error], [400, 'notice_too_short'])
    assert.match(early.json.details, /^starts_at: um aumento começa em 20/)
  }
  const risen = await setMarkup(model, 1.5, { starts_at: inDays(7.01) })
  assert.deepEqual([risen.status, risen.json.is_rise], [201, true], risen.text)
  assert.equal(await shownMarkup(model), 1.25, 'not yet')
  // A change before the rise would alter the markup from which the rise starts.
  const before = await setMarkup(model, 1.1)
  assert.deepEqual([before.status, before.json.error], [409, 'later_change_scheduled'])
  const same = await setMarkup(model, 1.5, { starts_at: inDays(8) })
  assert.deepEqual([same.status, same.json.error], [409, 'markup_unchanged'])
  const behind = await setMarkup(model, 1.4, { starts_at: inDays(8) })
  assert.deepEqual([behind.status, behind.json.markup_multiplier_before], [201, 1.5])
  const cancel = (id: string) =>
    ana.call(`/admin/models/${model}/markup/${id}`, undefined, 'DELETE')
  const inFront = await cancel(risen.json.id)
  assert.deepEqual([inFront.status, inFront.json.error], [409, 'later_change_scheduled'])
  assert.deepEqual(
    (await describe(model)).scheduled.map(({ id }: { id: string }) => id),
    [risen.json.id, behind.json.id],
  )
  assert.equal((await cancel(behind.json.id)).status, 200)
  assert.equal((await cancel(risen.json.id)).status, 200)
  assert.deepEqual((await describe(model)).scheduled, [])
  const gone = await cancel(risen.json.id)
  assert.deepEqual([gone.status, gone.json.error], [404, 'markup_change_not_found'])
})

test('a markup in force cannot be canceled, and an invalid markup is refused', async () => {
  const model = 'gpt-4o-mini'
  const { json } = await setMarkup(model, 1.2)
  const path = `/admin/models/${model}/markup/${json.id}`
  const late = await ana.call(path, undefined, 'DELETE')
  assert.deepEqual([late.status, late.json.error], [409, 'already_in_force'])
  for (const wrong of [0.9999, 10.0001, 1.00001, '1.5', null, -1]) {
    const { status, json } = await setMarkup(model, wrong)
    assert.deepEqual([status, json.error], [400, 'invalid_request'], String(wrong))
  }
  for (const starts_at of ['amanhã', inDays(-1), inDays(400), '2026-12-31T23:59:60Z', null]) {
    const { status, json } = await setMarkup(model, 1.1, { starts_at })
    assert.deepEqual([status, json.error], [400, 'invalid_request'], String(starts_at))
  }
  for (const act of ['markup', 'disable', 'enable']) {
    const body = { markup_multiplier: 1.1, reason: 'nenhum' }
    const given = act === 'markup' ? body : act === 'disable' ? { reason: 'nenhum' } : {}
    const { status, json } = await ana.call(`/admin/models/nenhum/${act}`, given)
    assert.deepEqual([status, json.error], [404, 'model_not_found'], act)
  }
})

test('of concurrent changes one takes effect: the others find it', async () => {
  const model = 'gpt-4.1'
  const starts_at = inDays(9)
  const answers = await Promise.all(
    [1.3, 1.4, 1.5, 1.6].map((markup) => setMarkup(model, markup, { starts_at })),
  )
  assert.deepEqual(
    answers.map(({ status }) => status).sort((one, other) => one - other),
    [201, 409, 409, 409],
  )
  assert.equal((await describe(model)).scheduled.length, 1)
})

test('every customer who used the model in 90 days is notified of a rise, once, by event and by mail', async () => {
  const model = 'gpt-5-nano'
  const use = async (daysAgo: number, modelId = model): Promise<string> => {
    const { customerId, key } = await seedCustomer(db, { balanceBrl: '1' })
    await db
      .updateTable('customers')
      .set({ email: `${createId()}@exemplo.com.br` })
      .where('id', '=', customerId)
      .execute()
    const at = new Date(Date.now() - daysAgo * DAY_MS)
    const event = { at, modelId, promptTokens: 1, completionTokens: 1 }
    await seedUsage(db, { customerId, apiKeyId: key.id, events: [event] })
    return customerId
  }
  const users = [await use(0), await use(89)]
  const others = [await use(92), await use(1, 'gpt-5-mini')]
  const catalog = createCatalog(withPriceIds(sandboxModels))
  const notifiedOf = async (type = 'price.changed'): Promise<string[]> => {
    const rows = await db
      .selectFrom('events')
      .select('customer_id')
      .where('type', '=', type)
      .where('customer_id', 'in', [...users, ...others])
      .execute()
    return rows.map(({ customer_id }) => customer_id).sort()
  }
  // A lower markup, or one canceled before its notice, notifies nobody.
  assert.equal((await setMarkup(model, 1.2, { starts_at: inDays(1) })).status, 201)
  const wrong = await setMarkup(model, 1.9, { starts_at: inDays(10) })
  await ana.call(`/admin/models/${model}/markup/${wrong.json.id}`, undefined, 'DELETE')
  const { json } = await setMarkup(model, 1.5, { starts_at: inDays(10) })
  // From several nodes at once, and repeatedly.
  await Promise.all([1, 2, 3].map(() => notifyPriceChanges(db, catalog, 50_000n)))
  await until('all customers are notified', async () => {
    await notifyPriceChanges(db, catalog, 50_000n)
    const { scheduled } = await describe(model)
    return scheduled.at(-1).told_at !== null
  })
  await notifyPriceChanges(db, catalog, 50_000n)
  assert.deepEqual(await notifiedOf(), users.toSorted())
  const event = await db
    .selectFrom('events')
    .select('data')
    .where('type', '=', 'price.changed')
    .where('customer_id', '=', users[0] as string)
    .executeTakeFirstOrThrow()
  assert.deepEqual(event.data, {
    model_id: model,
    model_name: model,
    markup_multiplier_before: '1.2',
    markup_multiplier: '1.5',
    change_percent: '25',
    starts_at: json.starts_at,
  })
  await dispatchEvents(db, [queueMails], log)
  await until('mails are sent', async () => {
    const sent = await db
      .selectFrom('sandbox_mails')
      .select(['customer_id', 'subject'])
      .where('customer_id', 'in', [...users, ...others])
      .where('subject', 'like', '%preço%')
      .execute()
    assert.ok(sent.length <= users.length)
    return sent.length === users.length
  })
})

test('a published price waits until an administrator approves or rejects what they saw', async () => {
  const tier = { cachedInput: 900n, cacheWrite: 900n, output: 900n, reasoning: 900n }
  const price = { tiers: [{ abovePromptTokens: 0, input: 900n, ...tier }] }
  const found = { text: 'x', kind: 'dearer', isBelowCost: false, schedule: [{ price }] } as const
  const none = { ...found, kind: 'unreadable', schedule: undefined } as const
  await inTransaction(db, (trx) =>
    storeDifferences(trx, [
      { ...found, modelId: 'sandbox-chat' },
      { ...found, modelId: 'sandbox-slow' },
      { ...none, modelId: 'sandbox-embedding' },
    ]),
  )
  const { json } = await ana.call('/admin/price-updates')
  const shown = json.price_updates.map((each: object) => ({ ...each, found_at: undefined }))
  assert.deepEqual(shown, [
    { model_id: 'sandbox-chat', kind: 'dearer', difference: 'x', found_at: undefined },
    { model_id: 'sandbox-embedding', kind: 'unreadable', difference: 'x', found_at: undefined },
    { model_id: 'sandbox-slow', kind: 'dearer', difference: 'x', found_at: undefined },
  ])
  const answer = (id: string, act: string, difference = 'x') =>
    ana.call(`/admin/price-updates/${id}/${act}`, { difference })
  const refused = async (status: number, error: string, ...given: [string, string, string?]) => {
    const { status: found, json } = await answer(...given)
    assert.deepEqual([found, json.error], [status, error])
  }
  await refused(409, 'price_update_changed', 'sandbox-chat', 'approve', 'y')
  await refused(409, 'price_update_unusable', 'sandbox-embedding', 'approve')
  await refused(404, 'price_update_not_found', 'sandbox-flaky', 'reject')
  const approved = await answer('sandbox-chat', 'approve')
  assert.equal(approved.status, 200, approved.text)
  await refused(404, 'price_update_not_found', 'sandbox-chat', 'approve')
  assert.deepEqual((await answer('sandbox-slow', 'reject')).json, {
    model_id: 'sandbox-slow',
    starts_at: null,
  })
  await refused(404, 'price_update_not_found', 'sandbox-slow', 'approve')
  const acts = await actsOn(gateway, 'sandbox-slow')
  const act = acts.find(({ action }) => action === 'model.price_rejected')
  assert.equal(act?.actor_id, ana.customerId)
})

test('a disabled model answers 503 and stays in the catalog until it is enabled, even if only the database says so', async () => {
  const model = 'sandbox-chat'
  const disable = () => ana.call(`/admin/models/${model}/disable`, { reason: 'manutenção' })
  assert.equal((await disable()).status, 200)
  // A database cannot keep half a surrogate pair as JSON.
  const half = await ana.call('/admin/models/gpt-4.1-nano/disable', '{"reason":"a\\ud800b"}')
  assert.equal(half.status, 200, half.text)
  assertRefusal(await askChat(baseUrl, gateway.secret, sound(model)), 503, 'service_unavailable')
  const described = await describe(model)
  assert.deepEqual([described.is_disabled, described.disabled_reason], [true, 'manutenção'])
  assert.ok(described.routes.length > 0)
  const shown = await ask(baseUrl, `/models/${model}`)
  assert.deepEqual([shown.status, shown.json.available], [200, false])
  const out = async () =>
    (await ask(baseUrl, '/incidents/active')).json.models_out_of_service as string[]
  assert.ok((await out()).includes(model), 'everybody sees that it is out of service')
  // A repeat changes nothing, and records nothing.
  assert.equal((await disable()).status, 200)
  const acts = (await actsOn(gateway, model)).filter(({ action }) => action === 'model.disabled')
  assert.equal(acts.length, 1)
  assert.equal((await ana.call(`/admin/models/${model}/enable`, {})).json.is_disabled, false)
  assert.ok(!(await out()).includes(model))
  assert.equal((await askChat(baseUrl, gateway.secret, sound(model))).status, 200)
  const statusOf = async (): Promise<number> =>
    (await askChat(baseUrl, gateway.secret, sound(model))).status
  await disableModel(db, SYSTEM, { modelId: model, reason: 'teste' })
  await until('the node hears of it', async () => (await statusOf()) === 503)
  await enableModel(db, SYSTEM, { modelId: model })
  await until('the node hears of it', async () => (await statusOf()) === 200)
})

test('an incident is opened, changed and closed, and customers see it while it is open', async () => {
  const body = { title: 'Lentidão', message: 'Respostas lentas.\nOlhamos.', models: ['gpt-4o'] }
  const opened = await ana.call('/admin/incidents', body)
  assert.equal(opened.status, 201, opened.text)
  const { id } = opened.json
  assert.deepEqual([opened.json.severity, opened.json.providers], ['major', ['openai']])
  const path = `/admin/incidents/${id}`
  const change = (given: object) => ana.call(path, given, 'PATCH')
  const changed = await change({ title: 'Lentidão no GPT-4o', severity: 'minor' })
  assert.deepEqual(
    [changed.json.title, changed.json.message, changed.json.severity],
    ['Lentidão no GPT-4o', body.message, 'minor'],
  )
  const shown = (await ask(baseUrl, '/incidents/active')).json.incidents
  assert.deepEqual(
    shown.map((one: { id: string; title: string }) => [one.id, one.title]),
    [[id, 'Lentidão no GPT-4o']],
  )
  const closed = await change({ status: 'resolved', message: 'Normalizado.' })
  assert.deepEqual([closed.json.status, closed.json.message], ['resolved', 'Normalizado.'])
  assert.deepEqual(
    closed.json.updates.map(({ status }: { status: string }) => status),
    ['opened', 'updated', 'resolved'],
  )
  const late = await change({ message: 'De novo.' })
  assert.deepEqual([late.status, late.json.error], [409, 'incident_resolved'])
  const after = (await ask(baseUrl, '/incidents/active')).json
  assert.deepEqual(after.incidents, [])
  assert.deepEqual(
    [after.resolved[0].id, after.resolved[0].message, after.resolved[0].resolved_at],
    [id, 'Normalizado.', closed.json.resolved_at],
    'what is over is still told',
  )
  assert.deepEqual((await ana.call('/admin/incidents?status=open')).json.incidents, [])
  assert.equal((await ana.call('/admin/incidents')).json.incidents[0].id, id)
  assert.deepEqual(
    (await actsOn(gateway, id)).map(({ action }) => action),
    ['incident.opened', 'incident.updated', 'incident.resolved'],
  )
  for (const wrong of [
    { models: ['nenhum'] },
    { providers: ['sandbox-upstream'] },
    { title: ' ' },
  ]) {
    const { status, json } = await ana.call('/admin/incidents', { ...body, ...wrong })
    assert.deepEqual([status, json.error], [400, 'invalid_request'], JSON.stringify(wrong))
  }
  assert.equal((await change({})).status, 400)
  const unknown = await ana.call('/admin/incidents/x', { message: 'Nada.' }, 'PATCH')
  assert.deepEqual([unknown.status, unknown.json.error], [404, 'incident_not_found'])
})

test('failing webhooks are shown without the secret part of their address, and can be enabled again', async () => {
  const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
  const since = new Date(Date.now() - 3_600_000)
  const endpoint = (more: object) => ({
    id: createId(),
    customer_id: customerId,
    url: 'https://hooks.example.com:8443/services/S3GREDO?token=S3GREDO',
    description: 'S3GREDO',
    event_types: null,
    secret_sealed: Buffer.from('S3GREDO'),
    disabled_at: null,
    disabled_reason: null,
    failing_since: null,
    ...more,
  })
  const fails = endpoint({ failing_since: since })
  const gone = endpoint({ disabled_at: new Date(), disabled_reason: 'gone', failing_since: since })
  const off = endpoint({ disabled_at: since, disabled_reason: 'customer', failing_since: since })
  await db
    .insertInto('webhook_endpoints')
    .values([fails, gone, off, endpoint({})])
    .execute()
  const attempt = { endpoint_id: gone.id, customer_id: customerId, event_type: 'topup.paid' }
  await db
    .insertInto('webhook_attempts')
    .values({
      ...attempt,
      id: createId(),
      message_id: createId(),
      body: '{"S3GREDO":1}',
      first_failed_at: null,
    })
    .execute()
  await db
    .updateTable('webhook_attempts')
    .set({
      status: 'failed',
      error: 'http_410',
      http_status: 410,
      latency_ms: 5,
      response_head: 'S3GREDO',
      finished_at: new Date(),
    })
    .where('endpoint_id', '=', gone.id)
    .execute()
  const { status, json, text } = await ana.call('/admin/webhooks/in-trouble')
  assert.equal(status, 200, text)
  assert.doesNotMatch(text, /S3GREDO/)
  assert.deepEqual(
    json.webhooks.map((one: any) => [one.id, one.origin, one.last_error, one.last_http_status]),
    [
      [gone.id, 'https://hooks.example.com:8443', 'http_410', 410],
      [fails.id, 'https://hooks.example.com:8443', null, null],
    ],
  )
  const enable = (id: string) => ana.call(`/admin/webhooks/${id}/enable`, {})
  for (let turn = 0; turn < 2; turn++)
    assert.deepEqual((await enable(gone.id)).json, {
      id: gone.id,
      customer_id: customerId,
      is_enabled: true,
    })
  assert.deepEqual(
    (await actsOn(gateway, gone.id)).map(({ action }) => action),
    ['webhook.enabled'],
  )
  assert.equal((await ana.call('/admin/webhooks/in-trouble')).json.webhooks.length, 1)
  const theirs = await enable(off.id)
  assert.deepEqual([theirs.status, theirs.json.error], [409, 'webhook_disabled_by_customer'])
  for (const id of ['x', createId()]) {
    const unknown = await enable(id)
    assert.deepEqual([unknown.status, unknown.json.error], [404, 'webhook_not_found'])
  }
})

test('failed mails, and mails that wait too long, are shown with their address masked', async () => {
  const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
  const email = 'zuleica.prado@correio.example'
  await db.updateTable('customers').set({ email }).where('id', '=', customerId).execute()
  const own = { customer_id: customerId, template: 'chave_criada' }
  const failed = { id: createId(), ...own, status: 'failed' as const, error: 'smtp_550 5.1.1' }
  await db
    .insertInto('notifications')
    .values([failed, { ...failed, id: createId(), status: 'sent', error: null }])
    .execute()
  const due_at = new Date(Date.now() + DAY_MS)
  const mail = { ...own, email: 'outra@longe.example', data: '{"token":"S3GREDO"}', due_at }
  const late = { id: createId(), ...mail, created_at: new Date(Date.now() - 660_000) }
  await db
    .insertInto('mails')
    .values([late, { id: createId(), ...mail }])
    .execute()
  const { status, json, text } = await ana.call('/admin/mails/in-trouble')
  assert.equal(status, 200, text)
  assert.doesNotMatch(text, /zuleica|correio|outra@|longe|S3GREDO/)
  assert.deepEqual(
    json.mails.map((one: any) => [one.id, one.status, one.address, one.error]),
    [
      [failed.id, 'failed', 'z***@c***.example', 'smtp_550 5.1.1'],
      [late.id, 'waiting', 'o***@l***.example', null],
    ],
  )
})
