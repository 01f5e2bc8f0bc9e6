// deep: generated personal data
/**
 * The LGPD shield over real sockets: an upstream records what it receives. No personal data reaches it, all of it comes
 * back to the client, and only the settings of the account and the key decide.
 */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { createApiKey } from '../../src/customers/api-keys.ts'
import type { ShieldSetting } from '../../src/customers/shield-setting.ts'
import { ask, askChat, billedIn, eventsOf, type Asked } from '../harness/ask.ts'
import { assertRefusal } from '../harness/assert-answer.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { effort, seedOr } from '../harness/effort.ts'
import fc from '../harness/fast-check.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { askForm, configured, wav, type Part } from '../harness/media-calls.ts'
import { openSession } from '../harness/open-session.ts'
import { cut, eventOf, startScriptedUpstream, status } from '../harness/scripted-upstream.ts'
import type { Behaviour, ScriptedUpstream } from '../harness/scripted-upstream.ts'
import { leaksOf, prompt } from '../harness/personal-texts.ts'
import { seedCustomer } from '../harness/test-database.ts'

const CPF = '529.982.247-25'
const EMAIL = 'joão@exemplo.com'
const TEXT = `O CPF ${CPF} é de ${EMAIL}.`
const MASKED = 'O CPF CPF1QZ é de EMAIL1QZ.'
const MASK: ShieldSetting = { action: 'mask', uuids: 'near_pix' }
const OFF: ShieldSetting = { action: 'off', uuids: 'near_pix' }
const BLOCK: ShieldSetting = { action: 'block', uuids: 'near_pix' }
const USAGE = { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 }

let upstream: ScriptedUpstream
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  const model = (id: string, more: object): object => ({
    id,
    context_tokens: 128_000,
    max_output_tokens: 4_096,
    markup_multiplier: '1.5',
    routes: [{ upstream: 'recorder', model: id }],
    ...more,
  })
  const chat = { category: 'llm', prices: { input: 1, output: 2 } }
  gateway = await startGateway(
    configured({
      upstreams: [{ id: 'recorder', kind: 'openai-compatible', base_url: upstream.baseUrl }],
      models: [
        model('echo', chat),
        model('fails', chat),
        model('second', chat),
        model('vectors', {
          category: 'embedding',
          prices: { input: 1 },
          embedding: { dimensions: 2, can_shorten: true },
        }),
        model('pictures', {
          category: 'image',
          prices: { images: { default: '0.04' } },
          image: { sizes: ['1024x1024'] },
        }),
        model('ears', { category: 'audio', prices: { audio_hour: '0.36' } }),
      ],
    }),
  )
})

after(async () => {
  await gateway.stop()
  await upstream.close()
})

async function customerWith(
  account: ShieldSetting,
  ofKey?: ShieldSetting,
  balanceBrl = '100',
): Promise<{ customerId: string; secret: string; keyId: string }> {
  const { db } = gateway.database
  const { customerId } = await seedCustomer(db, { balanceBrl })
  await db
    .updateTable('customers')
    .set({ shield_action: account.action, shield_uuids: account.uuids })
    .where('id', '=', customerId)
    .execute()
  const { key, secret } = await createApiKey(db, {
    customerId,
    name: 'com proteção',
    scope: 'manage',
    requestsPerMinute: 100_000,
    shield: ofKey,
  })
  return { customerId, secret, keyId: key.id }
}

/** Answers with the last message. A stream has events of so many characters, and arrives in parts of so many bytes. */
function echo(sizes: readonly number[] = [3], parts: readonly number[] = [65_536]): Behaviour {
  return ({ body }, response) => {
    const { content } = body.messages.at(-1)
    if (body.stream !== true) return answer(response, { role: 'assistant', content })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const events = piecesOf(content as string, sizes).map((piece) => chunk({ content: piece }))
    const end = `${eventOf({ choices: [], usage: USAGE })}data: [DONE]\n\n`
    const text = events.join('') + chunk({}, 'stop') + end
    for (const part of piecesOf(Buffer.from(text), parts)) response.write(part)
    response.end()
  }
}

function piecesOf<Whole extends string | Buffer>(whole: Whole, sizes: readonly number[]): Whole[] {
  const pieces: Whole[] = []
  for (let place = 0, turn = 0; place < whole.length; turn += 1) {
    const end = place + (sizes[turn % sizes.length] as number)
    pieces.push(
      (typeof whole === 'string' ? whole.slice(place, end) : whole.subarray(place, end)) as Whole,
    )
    place = end
  }
  return pieces
}

function answer(response: ServerResponse, message: object): void {
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ choices, usage: USAGE }))
}

function chunk(delta: object, finish: string | null = null): string {
  return eventOf({ choices: [{ index: 0, delta, finish_reason: finish }] })
}

function chat(content: unknown, more: object = {}): object {
  return { model: 'echo', messages: [{ role: 'user', content }], ...more }
}

function lastSeen(model = 'echo'): any {
  return upstream.callsOf(model).at(-1)?.body
}

/** The texts of all deltas, joined. */
function joined(text: string, field = 'content'): string {
  return eventsOf(text)
    .filter((event) => event !== '[DONE]')
    .map((event) => JSON.parse(event).choices[0]?.delta?.[field] ?? '')
    .join('')
}

async function report(secret: string): Promise<any> {
  const { baseUrl } = gateway.node
  for (;;) {
    const { json } = await ask(baseUrl, '/me/shield/report?days=2', { secret })
    if (json.by_kind.length > 0) return json
    await sleep(100)
  }
}

function put(secret: string, path: string, body: object, method = 'PUT'): Promise<Asked> {
  return ask(gateway.node.baseUrl, path, { secret, method, body })
}

test('plain and streamed: the upstream sees placeholders, and the client its own values', async () => {
  const { secret } = await customerWith(MASK)
  upstream.play('echo', echo())
  const plain = await askChat(gateway.node.baseUrl, secret, chat(TEXT))
  assert.equal(plain.json.choices[0].message.content, TEXT)
  assert.equal(lastSeen().messages[0].content, MASKED)
  const streamed = await askChat(gateway.node.baseUrl, secret, chat(TEXT, { stream: true }))
  assert.equal(joined(streamed.text), TEXT)
  assert.equal(lastSeen().messages[0].content, MASKED)
})

test('texts with documents in all spellings reach no upstream, and come back at any cut in an otherwise equal answer', async () => {
  const { secret } = await customerWith(MASK)
  const { secret: unshielded } = await customerWith(OFF)
  const { baseUrl } = gateway.node
  const sizesTo = (max: number) =>
    fc.array(fc.integer({ min: 1, max }), { minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(
      prompt,
      sizesTo(9),
      sizesTo(300),
      fc.boolean(),
      async ({ documents, text }, sizes, parts, stream) => {
        upstream.play('echo', echo(sizes, parts))
        const answer = await askChat(baseUrl, secret, chat(text, { stream }))
        assert.equal(answer.status, 200, answer.text)
        const sent = lastSeen().messages[0].content
        assert.deepEqual(leaksOf(sent, documents), [], sent)
        const content = stream ? joined(answer.text) : answer.json.choices[0].message.content
        assert.equal(content, text)
        const expected = await askChat(baseUrl, unshielded, chat(text, { stream }))
        assert.equal(lastSeen().messages[0].content, text)
        assert.deepEqual(besidesContent(answer, stream), besidesContent(expected, stream))
      },
    ),
    { numRuns: effort({ ordinary: 60, full: 10_000 }), seed: seedOr(22) },
  )
})

/** All that is not of one call alone: a plain answer as its bytes, of a stream each event without its piece of the content. */
function besidesContent({ text, headers }: Asked, isStream: boolean): unknown {
  const types = ['content-type', 'cache-control'].map((name) => headers.get(name))
  const timeless = text
    .replaceAll(/"id":"[^"]*"/g, '"id":""')
    .replaceAll(/"created":\d+/g, '"created":0')
  if (!isStream) return [types, timeless]
  const events = eventsOf(timeless).map((event) => {
    if (event === '[DONE]') return event
    const parsed = JSON.parse(event)
    for (const { delta } of parsed.choices) delete delta.content
    return JSON.stringify(parsed)
  })
  // Events that differ in their pieces alone: a restored content is cut elsewhere.
  return [types, events.filter((event, place) => event !== events[place - 1])]
}

test('reasoning, refusals and arguments of tool calls come back in streams', async () => {
  const { secret } = await customerWith(MASK)
  const call = (piece: string, index = 0): object => ({
    tool_calls: [{ index, function: { arguments: piece } }],
  })
  upstream.play('echo', (_call, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const first = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }
    const deltas = [
      { role: 'assistant', reasoning_content: 'Vejo CP' },
      { content: 'É EMA' },
      { reasoning_content: 'F1QZ.' },
      { content: 'IL1', refusal: 'não a CPF1' },
      { content: 'QZ' },
      { tool_calls: [first] },
      { tool_calls: [{ ...first, index: 1, id: 'b' }] },
      call('{"cpf":"CPF'),
      call('{"para":"EMAIL1', 1),
      call('1QZ"}'),
      call('QZ"}', 1),
    ]
    for (const delta of deltas) response.write(chunk(delta))
    response.write(chunk({ refusal: 'QZ, C' }, 'tool_calls'))
    response.end(`${eventOf({ choices: [], usage: USAGE })}data: [DONE]\n\n`)
  })
  const { text } = await askChat(gateway.node.baseUrl, secret, chat(TEXT, { stream: true }))
  assert.equal(joined(text, 'reasoning_content'), `Vejo ${CPF}.`)
  assert.equal(joined(text), `É ${EMAIL}`)
  assert.equal(joined(text, 'refusal'), `não a ${CPF}, C`)
  const pieces = eventsOf(text)
    .filter((event) => event !== '[DONE]')
    .flatMap((event) => JSON.parse(event).choices[0]?.delta?.tool_calls ?? [])
  for (const [index, whole] of [`{"cpf":"${CPF}"}`, `{"para":"${EMAIL}"}`].entries()) {
    const own = pieces.filter((piece: any) => piece.index === index)
    assert.equal(own.map((piece: any) => piece.function?.arguments ?? '').join(''), whole)
  }
})

test('block: a refusal names kinds and places, and nothing is sent, charged or logged', async () => {
  const { secret } = await customerWith(BLOCK)
  const sentBefore = upstream.callsOf('echo').length
  const refused = await askChat(
    gateway.node.baseUrl,
    secret,
    chat(TEXT, { user: 'ana@exemplo.com' }),
  )
  assertRefusal(refused, 400, 'personal_data_found')
  assert.match(refused.json.error.message, /há 2 e-mails e 1 CPF em user e messages\[0\]\./)
  assert.doesNotMatch(refused.text, /529|exemplo/)
  assert.equal(upstream.callsOf('echo').length, sentBefore)
  const { json } = await ask(gateway.node.baseUrl, '/usage', { secret })
  assert.equal(json.requests ?? json.total_requests ?? 0, 0)
  assert.deepEqual((await report(secret)).by_kind, [
    { kind: 'email', masked: 0, blocked: 2 },
    { kind: 'cpf', masked: 0, blocked: 1 },
  ])
  upstream.play('echo', echo())
  const clean = await askChat(gateway.node.baseUrl, secret, chat('Bom dia!'))
  assert.equal(clean.json.choices[0].message.content, 'Bom dia!')
})

test('off sends the text as it is; the setting of a key wins over its account', async () => {
  upstream.play('echo', echo())
  const cases: [ShieldSetting, ShieldSetting | undefined, string | 400][] = [
    [{ ...MASK, action: 'off' }, undefined, TEXT],
    [{ ...MASK, action: 'off' }, MASK, MASKED],
    [MASK, { ...MASK, action: 'off' }, TEXT],
    [MASK, BLOCK, 400],
  ]
  for (const [account, ofKey, expected] of cases) {
    const { secret } = await customerWith(account, ofKey)
    const { status: code } = await askChat(gateway.node.baseUrl, secret, chat(TEXT))
    assert.equal(code, expected === 400 ? 400 : 200)
    if (expected !== 400) assert.equal(lastSeen().messages[0].content, expected)
  }
})

test('every UUID is masked only where the setting says so', async () => {
  upstream.play('echo', echo())
  const text = 'Pedido 123e4567-e89b-42d3-a456-426614174000.'
  for (const [uuids, expected] of [
    ['near_pix', text],
    ['always', 'Pedido PIX1QZ.'],
  ] as const) {
    const { secret } = await customerWith({ ...MASK, uuids })
    await askChat(gateway.node.baseUrl, secret, chat(text))
    assert.equal(lastSeen().messages[0].content, expected)
  }
})

test('retries and fallback models get the masked request too, and it is counted once', async () => {
  const { secret, keyId } = await customerWith(MASK)
  upstream.play('fails', cut, status(500))
  upstream.play('second', echo())
  const { json } = await askChat(gateway.node.baseUrl, secret, {
    ...chat(TEXT),
    model: 'fails',
    models: ['second'],
  })
  assert.equal(json.choices[0].message.content, TEXT)
  const seen = [...upstream.callsOf('fails'), ...upstream.callsOf('second')]
  assert.ok(seen.length > 1)
  for (const { text } of seen) assert.doesNotMatch(text, /529|exemplo/)
  const counted = await report(secret)
  const sums = { masked: 2, blocked: 0 }
  assert.deepEqual(counted.by_key, [{ api_key_id: keyId, name: 'com proteção', ...sums }])
  assert.deepEqual(counted.by_day, [{ day: counted.by_day[0].day, ...sums }])
})

test('what was masked is counted although the call failed later', async () => {
  const { secret } = await customerWith(MASK)
  upstream.play('fails', status(500))
  const failed = await askChat(gateway.node.baseUrl, secret, { ...chat(TEXT), model: 'fails' })
  assert.equal(failed.status, 502)
  assert.deepEqual((await report(secret)).by_kind, [
    { kind: 'cpf', masked: 1, blocked: 0 },
    { kind: 'email', masked: 1, blocked: 0 },
  ])
})

test('the hold is for what is sent: a balance that covers the placeholders alone is enough', async () => {
  const addresses = Array.from(
    { length: 400 },
    (_, place) => `pessoa.de.nome.${place}@exemplo.com.br`,
  )
  const body = chat(addresses.join(' '), { max_tokens: 10 })
  upstream.play('echo', echo())
  const { baseUrl } = gateway.node
  const open = await customerWith({ ...MASK, action: 'off' }, undefined, '0.08')
  assertRefusal(await askChat(baseUrl, open.secret, body), 402, 'insufficient_balance')
  const masked = await customerWith(MASK, undefined, '0.08')
  const passed = await askChat(baseUrl, masked.secret, body)
  assert.equal(passed.status, 200, passed.text)
  assert.ok(billedIn(passed.text))
})

test('a prompt template is shielded after its values were filled in', async () => {
  const { secret } = await customerWith(MASK)
  const { baseUrl } = gateway.node
  upstream.play('echo', echo())
  const made = await put(secret, '/me/prompts', { name: 'Modelo', body: 'CPF {{cpf}}!' }, 'POST')
  const path = `/me/prompts/${made.json.id}/run`
  const run = { api_key: secret, model: 'echo', values: { cpf: CPF } }
  const ran = await ask(baseUrl, path, { secret, body: run })
  assert.equal(ran.json.choices[0].message.content, `CPF ${CPF}!`)
  assert.equal(lastSeen().messages[0].content, 'CPF CPF1QZ!')
  await put(secret, '/me/shield', { action: 'block' })
  let blocked = await ask(baseUrl, path, { secret, body: run })
  // A call that was read with the setting before is not sent: its client tries again.
  while (blocked.status === 503) blocked = await ask(baseUrl, path, { secret, body: run })
  assert.deepEqual([blocked.status, blocked.json.error], [400, 'personal_data_found'])
})

test('inputs of embeddings, prompts of images and of transcriptions are masked or blocked', async () => {
  const { baseUrl } = gateway.node
  const { secret } = await customerWith(MASK)
  const { secret: strict } = await customerWith(BLOCK)
  const bodies: [string, string, object][] = [
    ['/embeddings', 'vectors', { input: TEXT }],
    ['/embeddings', 'vectors', { input: ['sem dados', TEXT] }],
    ['/images/generations', 'pictures', { prompt: TEXT }],
  ]
  upstream.play('pictures', (_call, response) => {
    const data = [{ b64_json: 'iVBORw0KGgo=' }]
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }))
  })
  upstream.play('vectors', ({ body }, response) => {
    const inputs = [body.input].flat()
    const data = inputs.map((_: unknown, index: number) => ({ index, embedding: [0.5, 0.5] }))
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ data, usage: USAGE }))
  })
  for (const [path, model, fields] of bodies) {
    const answered = await ask(baseUrl, path, { secret, body: { model, ...fields } })
    assert.equal(answered.status, 200, answered.text)
    const sent = upstream.callsOf(model).at(-1)?.text ?? ''
    assert.doesNotMatch(sent, /529|exemplo/)
    assert.ok(sent.includes(MASKED), sent)
    const refused = await ask(baseUrl, path, { secret: strict, body: { model, ...fields } })
    assertRefusal(refused, 400, 'personal_data_found')
    assert.doesNotMatch(refused.text, /529|exemplo/)
  }
  const parts: Part[] = [
    ['model', 'ears'],
    ['prompt', TEXT],
    ['file', wav(1), '52998224725.wav'],
  ]
  const heard = await askForm(baseUrl, secret, parts)
  assert.equal(heard.status, 200, heard.text)
  const sent = upstream.callsOf('ears').at(-1)?.text ?? ''
  assert.ok(sent.includes(MASKED) && sent.includes('CPF1QZ.wav'))
  assert.doesNotMatch(sent, /529\.?982|exemplo/)
  assertRefusal(await askForm(baseUrl, strict, parts), 400, 'personal_data_found')
})

test('the shield of an account changes at once for every key that has none of its own', async () => {
  const { secret } = await customerWith({ ...MASK, action: 'off' }, undefined)
  const { baseUrl } = gateway.node
  upstream.play('echo', echo())
  await askChat(baseUrl, secret, chat(TEXT))
  assert.equal(lastSeen().messages[0].content, TEXT)
  const changed = await put(secret, '/me/shield', { action: 'mask' })
  assert.deepEqual(changed.json, MASK)
  assert.deepEqual((await ask(baseUrl, '/me/shield', { secret })).json, MASK)
  const after = await askChat(baseUrl, secret, chat(TEXT))
  // A node that has not read the key anew yet refuses; none sends the text as it is.
  assert.ok(after.status === 200 || after.status === 503, after.text)
  assert.equal(lastSeen().messages[0].content, after.status === 200 ? MASKED : TEXT)
})

test('no key makes the shield laxer than its own; a login session does', async () => {
  const { baseUrl } = gateway.node
  const { db } = gateway.database
  const { customerId, secret } = await customerWith(MASK)
  const off = { action: 'off', uuids: 'near_pix' }
  const key = { name: 'outra', model_ids: ['echo'] }
  const refusals = [
    await put(secret, '/me/shield', { action: 'off' }),
    await put(secret, '/api-keys', { ...key, shield: off }, 'POST'),
  ]
  const made = await put(secret, '/api-keys', { ...key, shield: BLOCK }, 'POST')
  assert.equal(made.status, 201, made.text)
  assert.deepEqual(made.json.shield, BLOCK)
  refusals.push(await put(secret, `/api-keys/${made.json.id}`, { shield: off }, 'PATCH'))
  for (const { status: code, json } of refusals)
    assert.deepEqual([code, json.error], [403, 'beyond_own_key'])
  const calls = await createApiKey(db, {
    customerId,
    name: 'chamadas',
    scope: 'calls',
    requestsPerMinute: 100,
  })
  for (const [path, method] of [
    ['/me/shield', 'PUT'],
    [`/api-keys/${made.json.id}`, 'PATCH'],
  ] as const) {
    const { status: code } = await put(calls.secret, path, { shield: off }, method)
    assert.ok(code === 403 || code === 400, path)
  }
  const session = await openSession({ db, dataDir: gateway.node.dataDir }, customerId)
  assert.deepEqual((await put(session, '/me/shield', { action: 'off' })).json.action, 'off')
  const loosened = await put(session, `/api-keys/${made.json.id}`, { shield: off }, 'PATCH')
  assert.deepEqual(loosened.json.shield, off)
  const inherited = await put(session, `/api-keys/${made.json.id}`, { shield: null }, 'PATCH')
  assert.equal(inherited.json.shield, null)
  const acts = await db
    .selectFrom('audit_log')
    .select('details')
    .where('customer_id', '=', customerId)
    .where('action', '=', 'shield.changed')
    .execute()
  assert.deepEqual(
    acts.map(({ details }) => details),
    [off],
  )
  assert.equal((await ask(baseUrl, '/me/shield', { secret })).json.action, 'off')
})

test('a report has the sums of the caller alone, by kind, day and key', async () => {
  const { baseUrl } = gateway.node
  const { db } = gateway.database
  const { customerId, secret, keyId } = await customerWith(MASK)
  const { key: second } = await createApiKey(db, {
    customerId,
    name: 'segunda',
    requestsPerMinute: 100,
  })
  const other = await customerWith(MASK)
  const rows: [string, string, number, 'mask' | 'block', string, bigint][] = [
    [customerId, keyId, 0, 'mask', 'cpf', 3n],
    [customerId, keyId, 0, 'block', 'cpf', 2n],
    [customerId, second.id, 1, 'mask', 'email', 4n],
    [customerId, second.id, 40, 'mask', 'email', 5n],
    [other.customerId, other.keyId, 0, 'mask', 'card', 9n],
  ]
  for (const [owner, apiKey, daysAgo, action, kind, occurrences] of rows)
    await sql`insert into shield_counts (customer_id, api_key_id, day, action, kind, occurrences)
      select ${owner}, ${apiKey}, (now() at time zone timezone)::date - ${daysAgo}::int4, ${action}, ${kind}, ${occurrences}
      from customers where id = ${owner}`.execute(db)
  const read = (query = ''): Promise<Asked> => ask(baseUrl, `/me/shield/report${query}`, { secret })
  const { json } = await read()
  const first = { masked: 3, blocked: 2 }
  const next = { masked: 4, blocked: 0 }
  assert.equal(json.days, 30)
  assert.deepEqual(json.by_kind, [
    { kind: 'cpf', ...first },
    { kind: 'email', ...next },
  ])
  assert.deepEqual(json.by_key, [
    { api_key_id: keyId, name: 'com proteção', ...first },
    { api_key_id: second.id, name: 'segunda', ...next },
  ])
  const [yesterday, today] = json.by_day
  assert.deepEqual([yesterday.masked, today.masked], [4, 3])
  assert.ok(yesterday.day < today.day)
  assert.equal((await read('?days=1')).json.by_kind.length, 1)
  assert.deepEqual((await read('?days=365')).json.by_kind[0], {
    kind: 'email',
    masked: 9,
    blocked: 0,
  })
  for (const query of ['?days=0', '?days=366']) assert.equal((await read(query)).status, 400, query)
})

test('no log and no table has a value, and every charge is right', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
  assert.doesNotMatch(gateway.node.log.join('\n'), /529\.?982|exemplo\.com/)
})
