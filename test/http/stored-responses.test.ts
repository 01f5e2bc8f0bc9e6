/**
 * Responses that an account stores: read, listed, continued and deleted by the callers that may, charged as if the
 * conversation had been sent whole, and never in the way of a charge.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { reloadKeys } from '../../src/customers/preferences.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { deleteAccount } from '../../src/identity/personal-data/delete-account.ts'
import { eraseRemains } from '../../src/identity/personal-data/erase-remains.ts'
import { pruneStoredResponses } from '../../src/customers/stored-responses/response-store.ts'
import { BY_OPERATOR, ask, credentialHeaders, type Asked } from '../harness/ask.ts'
import { assertHeaders, assertRefusal } from '../harness/assert-answer.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { configured, theOutcome } from '../harness/media-calls.ts'
import { openSession } from '../harness/open-session.ts'
import {
  GOOD_TEXT,
  good,
  startScriptedUpstream,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { seedCustomer, withClient } from '../harness/test-database.ts'
import { seedTeam } from '../harness/seed-team.ts'
import {
  assertResponse,
  assertStreamIsWhole,
  responseEvents,
} from '../responses/assert-response.ts'

let gateway: TestGateway
let upstream: ScriptedUpstream

const BODY_BYTES_MAX = 1024 * 1024

before(async () => {
  upstream = await startScriptedUpstream()
  const of = (id: string, more: object = {}): object => ({
    id,
    kind: 'openai-compatible',
    base_url: upstream.baseUrl,
    retries: 0,
    breaker: { failures: 0 },
    ...more,
  })
  const model = (id: string, route: string): object => ({
    id,
    category: 'llm',
    prices: { input: 1, output: 2 },
    markup_multiplier: '1.5',
    routes: [{ upstream: route, model: id }],
    context_tokens: 1_000_000,
    max_output_tokens: 1_000,
    supports_tools: true,
  })
  const config = {
    upstreams: [of('chats'), of('natives', { speaks_responses: true })],
    models: [model('chat', 'chats'), model('native', 'natives'), model('broken', 'chats')],
  }
  gateway = await startGateway({
    ...configured(config),
    BODY_BYTES_MAX: String(BODY_BYTES_MAX),
  })
})

after(async () => {
  await gateway.stop()
  await upstream.close()
})

interface Customer {
  readonly customerId: string
  readonly secret: string
}

/** Stores its responses for a week; the key may do everything. */
async function newCustomer(days: number | null = 7): Promise<Customer> {
  const { db } = gateway.database
  const customer = await seedCustomer(db, { balanceBrl: '100' })
  const { customerId } = customer
  await sql`update customers set stored_responses_days = ${days} where id = ${customerId}`.execute(
    db,
  )
  return customer
}

async function setDays(secret: string, days: number | null): Promise<void> {
  const body = { stored_responses_days: days }
  const { status, text } = await call(secret, 'PUT', '/me/preferences', body)
  assert.equal(status, 200, text)
}

async function newKey({ customerId }: Customer, more: object = {}): Promise<string> {
  const input = { customerId, name: 'outra', requestsPerMinute: 1_000 }
  return (await createApiKey(gateway.database.db, { ...input, scope: 'calls', ...more })).secret
}

function call(secret: string | undefined, method: string, path: string, body?: unknown) {
  return ask(gateway.node.baseUrl, path, { secret, method, body })
}

function create(secret: string, more: object = {}): Promise<Asked> {
  return call(secret, 'POST', '/responses', { model: 'chat', input: 'Olá', ...more })
}

async function created(secret: string, more: object = {}): Promise<any> {
  const answer = await create(secret, more)
  assert.equal(answer.status, 200, answer.text)
  const isStream = (more as { stream?: boolean }).stream === true
  const response = isStream ? assertStreamIsWhole(responseEvents(answer.text)) : answer.json
  assertResponse(response)
  return response
}

const get = (secret: string | undefined, id: string, more = '') =>
  call(secret, 'GET', `/responses/${id}${more}`)

function assertNotThere(answer: Asked): void {
  assertRefusal(answer, 404, 'response_not_found')
}

/** The texts of the messages that the upstream got last. */
function lastTexts(model: string): string[] {
  const { body } = upstream.callsOf(model).at(-1) as { body: any }
  return (body.messages ?? body.input).map(({ content }: any) =>
    typeof content === 'string' ? content : content.map(({ text }: any) => text).join(),
  )
}

/** In the format of the upstream that speaks it. */
const natively: Behaviour = (_call, response) => {
  const content = [{ type: 'output_text', text: GOOD_TEXT, annotations: [] }]
  const message = { id: 'msg_theirs', type: 'message', role: 'assistant', status: 'completed' }
  const usage = { input_tokens: 11, output_tokens: 5, total_tokens: 16 }
  const output = [{ ...message, content }]
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ id: 'resp_theirs', status: 'completed', output, usage }))
}

async function countStored({ customerId }: Customer): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) from stored_responses where customer_id = ${customerId}`.execute(
    gateway.database.db,
  )
  return Number(rows[0]?.count)
}

test('nothing is stored until the account asks for it, and the answer says so', async () => {
  const customer = await newCustomer(null)
  const { secret } = customer
  for (const store of [undefined, true, false, null]) {
    const response = await created(secret, { store })
    assert.equal(response.store, false)
    assertNotThere(await get(secret, response.id))
  }
  assert.equal(await countStored(customer), 0)
  const { status, json } = await create(secret, { previous_response_id: 'resp_1' })
  assert.equal(status, 400)
  assert.match(json.error.message, /Previous response not found/)
  await setDays(secret, 1)
  assert.equal((await created(secret, { store: false })).store, false)
  assert.equal(await countStored(customer), 0)
  const stored = await created(secret)
  assert.equal(stored.store, true)
  assert.equal((await get(secret, stored.id)).status, 200)
})

test('a stored response is what was answered, plain and streamed, with its amount to the last digit', async () => {
  const { secret } = await newCustomer()
  const asked = await create(secret, { metadata: { a: 'b' } })
  const again = await get(secret, asked.json.id)
  assert.deepEqual(again.json, asked.json)
  assert.equal(
    /"cost_billed_brl":([\d.]+)/.exec(again.text)?.[1],
    /"cost_billed_brl":([\d.]+)/.exec(asked.text)?.[1],
  )
  assertResponse(again.json)
  assertHeaders(again, again.requestId)
  assert.equal(again.headers.get('cache-control'), 'no-store')
  assert.equal((await get(secret, asked.json.id, '?stream=false&include=x')).status, 200)
  assertRefusal(await get(secret, asked.json.id, '?stream=true'), 400, 'invalid_request')
  const text = (await create(secret, { stream: true })).text
  const events = responseEvents(text)
  const last = assertStreamIsWhole(events)
  const ids = events.flatMap(({ response }) => (response ? [(response as any).id] : []))
  assert.deepEqual(new Set(ids), new Set([last.id]), 'every event has the id')
  assert.ok(events.every(({ response }) => !response || (response as any).store === true))
  assert.deepEqual((await get(secret, String(last.id))).json, JSON.parse(JSON.stringify(last)))
})

for (const model of ['chat', 'native'])
  test(`a response is continued as if its conversation had been sent, over ${model}`, async () => {
    if (model === 'native') upstream.play('native', natively)
    const customer = await newCustomer()
    const { secret } = customer
    const first = await created(secret, { model, input: 'Um', instructions: 'Não fica.' })
    const second = await created(secret, { model, input: 'Dois', previous_response_id: first.id })
    const path = upstream.callsOf(model).at(-1)?.path
    assert.match(String(path), model === 'native' ? /\/responses$/ : /\/chat\/completions$/)
    const continued = await create(secret, {
      model,
      input: [{ role: 'user', content: 'Três' }],
      previous_response_id: second.id,
    })
    assert.deepEqual(lastTexts(model), ['Um', GOOD_TEXT, 'Dois', GOOD_TEXT, 'Três'])
    const { text, body } = upstream.callsOf(model).at(-1) as { text: string; body: any }
    assert.doesNotMatch(text, /resp_|msg_|previous_response_id/)
    if (model === 'native') assert.equal(body.store, false)
    assert.equal(continued.json.previous_response_id, second.id)
    // The hold and the estimate are those of the whole conversation.
    const whole = await create(secret, {
      model,
      input: ['Um', GOOD_TEXT, 'Dois', GOOD_TEXT, 'Três'].map((content, index) => ({
        role: index % 2 === 0 ? 'user' : 'assistant',
        content,
      })),
    })
    const [one, other] = [
      await theOutcome(gateway, continued.requestId),
      await theOutcome(gateway, whole.requestId),
    ]
    assert.equal(one.cost_billed_nano_brl, other.cost_billed_nano_brl)
    // A second branch of the same conversation.
    await created(secret, { model, input: 'Outro', previous_response_id: first.id })
    assert.deepEqual(lastTexts(model), ['Um', GOOD_TEXT, 'Outro'])
  })

test('what is stored of a native upstream has its sealed reasoning, also where nobody asked for it', async () => {
  const sealed = randomUUID()
  upstream.play('native', (called, response) => {
    const reasoning = { id: 'rs_theirs', type: 'reasoning', summary: [], encrypted_content: sealed }
    const answer = (text: string): void => void response.end(text)
    const usage = { input_tokens: 11, output_tokens: 5, total_tokens: 16 }
    const content = [{ type: 'output_text', text: GOOD_TEXT, annotations: [] }]
    const message = { id: 'm', type: 'message', role: 'assistant', status: 'completed', content }
    const isAsked = called.body.include?.includes('reasoning.encrypted_content') === true
    const output = isAsked ? [reasoning, message] : [message]
    response.writeHead(200, { 'content-type': 'application/json' })
    answer(JSON.stringify({ id: 'resp_theirs', status: 'completed', output, usage }))
  })
  const { secret } = await newCustomer()
  const more = { model: 'native', reasoning: { effort: 'low' } }
  const first = await created(secret, more)
  await created(secret, { ...more, input: 'E?', previous_response_id: first.id })
  const { body } = upstream.callsOf('native').at(-1) as { body: any }
  assert.deepEqual(
    body.input.map((item: any) => item.encrypted_content ?? item.role),
    ['user', sealed, 'assistant', 'user'],
  )
  upstream.play('native', natively)
  await created(secret, { model: 'native' })
  assert.equal((upstream.callsOf('native').at(-1) as { body: any }).body.include, undefined)
})

test('what is expanded is bounded: by the body, by the money, by the limit of tokens', async () => {
  const customer = await newCustomer()
  const { secret } = customer
  const long = 'a'.repeat(300_000)
  let id = (await created(secret, { input: long })).id
  for (let turn = 0; turn < 2; turn += 1)
    id = (await created(secret, { input: long, previous_response_id: id })).id
  const sent = upstream.callsOf('chat').length
  const refused = await create(secret, { input: long, previous_response_id: id })
  assertRefusal(refused, 413, 'invalid_request')
  // A key whose limit of tokens the conversation exceeds, though its own words are few.
  const slow = await newKey(customer, { scope: 'account', tokensPerMinute: 50_000 })
  assert.equal((await create(slow, { input: 'E?' })).status, 200)
  assertRefusal(
    await create(slow, { input: 'E?', previous_response_id: id }),
    429,
    'api_key_rate_limited',
  )
  const capped = await ask(gateway.node.baseUrl, '/responses', {
    secret,
    body: { model: 'chat', input: 'E?', max_output_tokens: 100, previous_response_id: id },
    headers: { 'x-svc-max-cost-brl': '0.01' },
  })
  assertRefusal(capped, 402, 'max_cost_exceeded')
  assert.equal(upstream.callsOf('chat').length, sent + 1)
})

test('the shield masks what was said before it was turned on', async () => {
  const customer = await newCustomer()
  const { secret } = customer
  const first = await created(secret, { input: 'Meu CPF é 529.982.247-25.' })
  assert.equal((await call(secret, 'PUT', '/me/shield', { action: 'mask' })).status, 200)
  // A call that was read under the former setting is refused, until the node has the new one.
  const more = { input: 'Qual é?', previous_response_id: first.id }
  while ((await create(secret, more)).status !== 200) await sleep(10)
  const { text } = upstream.callsOf('chat').at(-1) as { text: string }
  assert.doesNotMatch(text, /529\.982\.247-25/)
  assert.match(text, /Qual é/)
})

test('a continued conversation that is refused keeps no memory, whoever refuses it', async () => {
  const { secret, customerId } = await newCustomer()
  const { id } = await created(secret, { input: 'x'.repeat(50_000) })
  const { db } = gateway.database
  await sql`update customers set shield_action = 'mask' where id = ${customerId}`.execute(db)
  await db.transaction().execute((trx) => reloadKeys(trx, customerId))
  const search = { type: 'web_search' }
  for (const more of [
    { tools: [search], tool_choice: search },
    { tools: [search], tool_choice: 'required' },
    { model: 'none' },
    { max_output_tokens: -1 },
  ]) {
    const { status, text } = await create(secret, { previous_response_id: id, ...more })
    assert.ok(status === 400 || status === 404, text)
  }
  const { text } = await ask(new URL(gateway.node.baseUrl).origin, '/metrics', BY_OPERATOR)
  assert.equal(/^catraca_body_bytes (\d+)$/m.exec(text)?.[1], '0')
})

test('a fault in a continued conversation names the place in the input that the client sent', async () => {
  const { secret } = await newCustomer()
  const first = await created(secret, { input: 'Um' })
  const input = [
    { role: 'user', content: 'Dois' },
    { role: 'marciano', content: 'Três' },
  ]
  for (const more of [{}, { previous_response_id: first.id }]) {
    const refused = await create(secret, { input, ...more })
    assert.equal(refused.status, 400)
    assert.match(refused.json.error.message, /^input\[1\]\.role /)
  }
})

test('references to items of stored outputs are those items, wherever they stand', async () => {
  const { secret } = await newCustomer()
  const first = await created(secret, { input: 'Um' })
  const reference = { type: 'item_reference', id: first.output[0].id }
  const second = await created(secret, {
    input: [{ role: 'user', content: 'Um' }, reference, { role: 'user', content: 'Dois' }],
  })
  assert.deepEqual(lastTexts('chat'), ['Um', GOOD_TEXT, 'Dois'])
  const other = await newCustomer()
  const strange = await create(other.secret, {
    input: [{ role: 'user', content: 'Um' }, reference, { role: 'user', content: 'Dois' }],
  })
  assertRefusal(strange, 400, 'invalid_request')
  // Also within a conversation that is continued, and in the list of its items.
  await created(secret, { input: 'Três', previous_response_id: second.id })
  assert.deepEqual(lastTexts('chat'), ['Um', GOOD_TEXT, 'Dois', GOOD_TEXT, 'Três'])
  const { json } = await get(secret, second.id, '/input_items?order=asc')
  assert.equal(json.data[1].content[0].text, GOOD_TEXT)
})

test('the items before a response are listed in pages, in either order', async () => {
  const { secret } = await newCustomer()
  const first = await created(secret, { input: 'Um' })
  const input = [
    { role: 'user', content: [{ type: 'input_text', text: 'Dois' }] },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output: 'feito' },
  ]
  const { id } = await created(secret, { input, previous_response_id: first.id })
  const all = (await get(secret, id, '/input_items?order=asc&limit=100')).json
  assert.deepEqual(
    all.data.map(({ type }: any) => type),
    ['message', 'message', 'message', 'function_call', 'function_call_output'],
  )
  const ids = all.data.map((item: any) => item.id)
  assert.equal(new Set(ids).size, ids.length)
  assert.deepEqual(
    [all.object, all.first_id, all.last_id, all.has_more],
    ['list', ids[0], ids[4], false],
  )
  for (const [order, expected] of [
    ['asc', ids],
    ['desc', ids.toReversed()],
  ]) {
    const seen: string[] = []
    for (let after = '', more = true; more;) {
      const page = (await get(secret, id, `/input_items?limit=2&order=${order}${after}`)).json
      seen.push(...page.data.map((item: any) => item.id))
      after = `&after=${page.last_id}`
      more = page.has_more
    }
    assert.deepEqual(seen, expected)
  }
  assert.equal((await get(secret, id, '/input_items')).json.data[0].id, ids[4], 'the last first')
  for (const wrong of ['?limit=0', '?limit=101', '?order=up', '?after=msg_nada', '?limit=07'])
    assertRefusal(await get(secret, id, `/input_items${wrong}`), 400, 'invalid_request')
})

test('who reads a response: its own key, keys with more than calls, and the owner in a session', async () => {
  const customer = await newCustomer()
  const { secret, customerId } = customer
  const { db } = gateway.database
  const own = await newKey(customer)
  const sibling = await newKey(customer)
  const teamId = await seedTeam(db, customerId)
  const ofTeam = await newKey(customer, { teamId })
  const ofTeamToo = await newKey(customer, { teamId })
  const session = await openSession({ db, dataDir: gateway.node.dataDir }, customerId)
  const stranger = (await newCustomer()).secret
  const seenBy: [string, string[], string[]][] = [
    [own, [own, secret, session], [sibling, ofTeam, stranger]],
    [secret, [secret, session], [own, ofTeam, stranger]],
    [ofTeam, [ofTeam], [ofTeamToo, own, secret, session, stranger]],
  ]
  for (const [by, readers, others] of seenBy) {
    const { id } = await created(by)
    for (const reader of readers) {
      assert.equal((await get(reader, id)).status, 200)
      assert.equal((await get(reader, id, '/input_items')).status, 200)
      if (reader === session) continue
      await created(reader, { input: 'E?', previous_response_id: id })
    }
    for (const other of others) {
      assertNotThere(await get(other, id))
      assertNotThere(await get(other, id, '/input_items'))
      assertNotThere(await call(other, 'DELETE', `/responses/${id}`))
      if (other !== session)
        assertRefusal(
          await create(other, { previous_response_id: id }),
          400,
          'previous_response_not_found',
        )
    }
    assertRefusal(await get(undefined, id), 401, 'authentication_failed')
    assertRefusal(await get('sk-svc-errada', id), 401, 'authentication_failed')
    assert.equal((await get(by, id)).status, 200, 'nobody deleted it')
  }
})

test('a conversation with a part of another key is no conversation for a key for calls', async () => {
  const customer = await newCustomer()
  const own = await newKey(customer, { scope: 'account' })
  const first = await created(customer.secret, { input: 'Segredo' })
  const second = await created(own, { input: 'Dois', previous_response_id: first.id })
  await sql`update api_keys set scope = 'calls', version = version + 1
    where customer_id = ${customer.customerId} and scope = 'account'`.execute(gateway.database.db)
  await reloadKeys(gateway.database.db, customer.customerId)
  while ((await get(own, first.id)).status === 200) await sleep(10)
  assertRefusal(
    await create(own, { previous_response_id: second.id }),
    400,
    'previous_response_not_found',
  )
  const { json } = await get(own, second.id, '/input_items')
  assert.deepEqual(
    json.data.map(({ content }: any) => content[0].text),
    ['Dois'],
  )
})

test('ids that are not ours are not found', async () => {
  const { secret } = await newCustomer()
  const ids = [
    'resp_1',
    createId(),
    `resp_${createId()}`,
    `resp_${'0'.repeat(32)}`,
    'resp_%00',
    '%ff',
  ]
  for (const id of [...ids, "resp_'--", 'x'.repeat(90), `resp_${'A'.repeat(32)}`]) {
    const answers = [await get(secret, id), await get(secret, id, '/input_items')]
    for (const { status, text } of [...answers, await call(secret, 'DELETE', `/responses/${id}`)])
      assert.ok(status === 404 || status === 400, text)
  }
  for (const previous of [...ids, 1, {}, [], true, '', '\0', 'x'.repeat(10_000)])
    assertRefusal(
      await create(secret, { previous_response_id: previous }),
      400,
      'previous_response_not_found',
    )
})

test('a deleted response is gone, and so is what continues it; the deletion is recorded', async () => {
  const customer = await newCustomer()
  const { secret, customerId } = customer
  const first = await created(secret, { input: 'Um' })
  const second = await created(secret, { input: 'Dois', previous_response_id: first.id })
  const deleted = await call(secret, 'DELETE', `/responses/${first.id}`)
  assert.deepEqual(deleted.json, { id: first.id, object: 'response', deleted: true })
  assertNotThere(await get(secret, first.id))
  assertNotThere(await call(secret, 'DELETE', `/responses/${first.id}`))
  assert.equal((await get(secret, second.id)).status, 200)
  assertRefusal(
    await create(secret, { previous_response_id: second.id }),
    400,
    'previous_response_not_found',
  )
  const acts = await gateway.database.db
    .selectFrom('audit_log')
    .select('action')
    .where('customer_id', '=', customerId)
    .where('action', '=', 'response.deleted')
    .execute()
  assert.equal(acts.length, 1)
})

test('responses go when their time is over, at once for readers, and with the setting', async () => {
  const { db } = gateway.database
  const customer = await newCustomer(7)
  const { secret, customerId } = customer
  const old = await created(secret, { input: 'Um' })
  const young = await created(secret, { input: 'Dois', previous_response_id: old.id })
  await sql`update stored_responses set created_at = now() - interval '7 days'
    where customer_id = ${customerId} and previous_id is null`.execute(db)
  assertNotThere(await get(secret, old.id))
  assertRefusal(
    await create(secret, { previous_response_id: young.id }),
    400,
    'previous_response_not_found',
  )
  await pruneStoredResponses(db)
  assert.equal(await countStored(customer), 1)
  await setDays(secret, null)
  assertNotThere(await get(secret, young.id))
  await pruneStoredResponses(db)
  assert.equal(await countStored(customer), 0)
})

test('a deleted account leaves no response, and a paused key reads none', async () => {
  const { db } = gateway.database
  const customer = await newCustomer()
  const { secret, customerId } = customer
  const paused = await newKey(customer)
  const { id } = await created(paused)
  await sql`update api_keys set paused_reason = 'owner', paused_at = now(), version = version + 1
    where customer_id = ${customerId} and scope = 'calls'`.execute(db)
  // As the act does.
  await reloadKeys(db, customerId)
  while ((await get(paused, id)).status === 200) await sleep(10)
  for (const answer of [
    await get(paused, id),
    await create(paused, { previous_response_id: id }),
    await call(paused, 'DELETE', `/responses/${id}`),
  ])
    assertRefusal(answer, 403, 'key_paused')
  assert.equal(await countStored(customer), 1)
  await untilNoHoldIsOpen(gateway.database)
  const actor = { kind: 'customer', customerId } as const
  const outcome = await deleteAccount(db, actor, { customerId, waiveBalance: true })
  assert.equal(outcome.kind, 'deleted')
  await eraseRemains(db, customerId)
  assert.equal(await countStored(customer), 0)
  assert.equal((await get(secret, id)).status, 401)
})

test('what is stored is sealed', async () => {
  const customer = await newCustomer()
  await created(customer.secret, { input: 'zibelina na entrada' })
  const row = await gateway.database.db
    .selectFrom('stored_responses')
    .select(['input_sealed', 'response_sealed'])
    .where('customer_id', '=', customer.customerId)
    .executeTakeFirstOrThrow()
  for (const word of ['zibelina', 'role', 'output'])
    for (const sealed of Object.values(row)) assert.ok(!sealed.includes(word), word)
  // Of another row, it opens nothing.
  const other = await created(customer.secret)
  await sql`update stored_responses set response_sealed = ${row.response_sealed}
    where customer_id = ${customer.customerId}`.execute(gateway.database.db)
  assertNotThere(await get(customer.secret, other.id))
  assertRefusal(
    await create(customer.secret, { previous_response_id: other.id }),
    400,
    'previous_response_not_found',
  )
})

test('a stream that breaks is stored as failed, and is not continued', async () => {
  const breaking: Behaviour = ({ body }, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const choice = { index: 0, delta: { content: 'Meia' }, finish_reason: null }
    response.write(`data: ${JSON.stringify({ choices: [choice], model: body.model })}\n\n`, () =>
      setTimeout(() => response.destroy(), 50),
    )
  }
  upstream.play('broken', breaking)
  const { secret } = await newCustomer()
  const answer = await create(secret, { model: 'broken', stream: true })
  const last = responseEvents(answer.text).at(-1) as any
  assert.equal(last.type, 'response.failed')
  const stored = await get(secret, last.response.id)
  assert.deepEqual(stored.json, last.response)
  assertResponse(stored.json)
  const refused = await create(secret, { previous_response_id: last.response.id })
  assertRefusal(refused, 400, 'invalid_request')
  assert.match(refused.json.error.message, /terminou com falha/)
})

test('a client that leaves finds the whole response by the id of the first event', async () => {
  upstream.play('broken', async ({ body }, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const event = (delta: object, reason: string | null = null, more = {}) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }], model: body.model, ...more })}\n\n`
    response.write(event({ content: 'Meia ' }))
    await left
    const usage = { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 }
    response.end(`${event({ content: 'inteira' })}${event({}, 'stop', { usage })}data: [DONE]\n\n`)
  })
  let leave = (): void => {}
  const left = new Promise<void>((resolve) => (leave = resolve))
  const { secret } = await newCustomer()
  const leaving = new AbortController()
  const answer = await fetch(`${gateway.node.baseUrl}/responses`, {
    method: 'POST',
    headers: { ...credentialHeaders(secret), 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'broken', input: 'Olá', stream: true }),
    signal: leaving.signal,
  })
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  let text = ''
  while (!text.includes('output_text.delta'))
    text += Buffer.from((await reader.read()).value as Uint8Array).toString()
  const id = /resp_[0-9a-f]{32}/.exec(text)?.[0] as string
  leaving.abort()
  leave()
  for (let found: Asked | undefined; found?.status !== 200; await sleep(20)) {
    found = await get(secret, id)
    if (found.status !== 200) continue
    assert.equal(found.json.status, 'completed')
    assert.equal(found.json.output[0].content[0].text, 'Meia inteira')
  }
})

test('an answer is charged and delivered if it cannot be stored: the table is missing or locked', async () => {
  const customer = await newCustomer()
  const { secret } = customer
  const { db, databaseUrl } = gateway.database
  const before = await created(secret, { input: 'Um' })
  const askBoth = async (): Promise<void> => {
    for (const stream of [false, true]) {
      const answer = await create(secret, { stream })
      assert.equal(answer.status, 200)
      const { outcome } = await theOutcome(gateway, answer.requestId)
      assert.equal(outcome, 'charged')
      const id = /resp_[0-9a-f]{32}/.exec(answer.text)?.[0] as string
      unstored.push(id)
    }
  }
  const unstored: string[] = []
  await sql`alter table stored_responses rename to stored_elsewhere`.execute(db)
  try {
    await askBoth()
    assert.equal((await get(secret, before.id)).status, 500)
    assertRefusal(
      await create(secret, { previous_response_id: before.id }),
      503,
      'service_unavailable',
    )
  } finally {
    await sql`alter table stored_elsewhere rename to stored_responses`.execute(db)
  }
  await withClient(databaseUrl, async (client) => {
    await client.query('begin')
    await client.query('lock table stored_responses in access exclusive mode')
    await askBoth()
    await client.query('rollback')
  })
  for (const id of unstored.slice(0, 2)) assertNotThere(await get(secret, id))
  assert.equal((await get(secret, before.id)).status, 200)
})

test('the oldest responses make room for the newest', async () => {
  const { db } = gateway.database
  const customer = await newCustomer()
  const { secret, customerId } = customer
  const first = await created(secret, { input: 'Um' })
  const second = await created(secret, { input: 'Dois' })
  // As if the first had nearly all that an account may store.
  await sql`update stored_response_sums set bytes = bytes + 268435000 where customer_id = ${customerId}`.execute(
    db,
  )
  await sql`update stored_responses set bytes_before = bytes_before + 268435000
    where customer_id = ${customerId} and place = 2`.execute(db)
  const third = await created(secret, { input: 'Três' })
  assertNotThere(await get(secret, first.id))
  assert.equal((await get(secret, second.id)).status, 200)
  // As if thousands had been stored between the second and the third.
  for (const table of ['stored_response_sums', 'stored_responses'] as const) {
    const column = table === 'stored_responses' ? 'place' : 'responses'
    await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sql.ref(column)} + 9998
      where customer_id = ${customerId} and ${sql.ref(column)} > 2`.execute(db)
  }
  await created(secret, { input: 'Quatro' })
  assertNotThere(await get(secret, second.id))
  assert.equal((await get(secret, third.id)).status, 200)
  assert.equal(await countStored(customer), 2)
})

test('a request that refers to more than a conversation may have is refused', async () => {
  const { db } = gateway.database
  const customer = await newCustomer()
  const { secret, customerId } = customer
  const first = await created(secret, { input: 'Um' })
  // A chain of a thousand more, each before the next.
  await sql`insert into stored_responses
      (id, customer_id, api_key_id, previous_id, is_failed, input_bytes, response_bytes, input_sealed, response_sealed)
    select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, customer_id, api_key_id,
      case when n = 1 then id else ('00000000-0000-7000-8000-' || lpad((n - 1)::text, 12, '0'))::uuid end,
      false, input_bytes, response_bytes, input_sealed, response_sealed
    from stored_responses, generate_series(1, 1000) n where customer_id = ${customerId}`.execute(db)
  const last = 'resp_00000000000070008000000000001000'
  const answer = await create(secret, { previous_response_id: last })
  assertRefusal(answer, 400, 'invalid_request')
  assert.match(answer.json.error.message, /mais de 1000 respostas/)
  assertRefusal(await get(secret, last, '/input_items'), 400, 'invalid_request')
  const input = Array.from({ length: 1_001 }, () => ({
    type: 'item_reference',
    id: `msg_${randomUUID().replaceAll('-', '')}0`,
  }))
  const many = await create(secret, { input: [...input, { role: 'user', content: 'E?' }] })
  assertRefusal(many, 400, 'invalid_request')
  assert.equal((await get(secret, first.id)).status, 200)
})

test('concurrent turns, deletions and reads leave every answer charged once', async () => {
  upstream.play('chat', good)
  const customer = await newCustomer()
  const { secret } = customer
  const { id } = await created(secret, { input: 'Um' })
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, turn) =>
      turn === 15
        ? call(secret, 'DELETE', `/responses/${id}`)
        : create(secret, { input: `${turn}`, previous_response_id: id, stream: turn % 2 === 0 }),
    ),
  )
  const statuses = new Set(answers.map(({ status }) => status))
  assert.ok(
    [...statuses].every((status) => status === 200 || status === 400),
    [...statuses].join(),
  )
  for (const { status, requestId } of answers.filter((_, turn) => turn !== 15))
    if (status === 200) assert.equal((await theOutcome(gateway, requestId)).outcome, 'charged')
})

test('the books are in balance', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})
