/** Answers that serve equal calls again: who may get which, what they cost, and that they are as good as the first. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { pruneCachedAnswers } from '../../src/customers/cached-answers.ts'
import fc from '../harness/fast-check.ts'
import { ask, billedIn, type Asked } from '../harness/ask.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  cutInTheMiddle,
  eventOf,
  startScriptedUpstream,
  status,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'

const USAGE = {
  prompt_tokens: 40,
  completion_tokens: 20,
  total_tokens: 60,
  prompt_tokens_details: { cached_tokens: 8 },
}

/** No two of its answers are equal. */
const fresh: Behaviour = ({ path, body }, response) => {
  const text = `Resposta ${randomUUID()} com "aspas", acentuação e emoji 🎈`
  if (path.endsWith('/embeddings')) {
    const data = [{ index: 0, embedding: [Math.random(), -0.5] }]
    return void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ data, usage: { prompt_tokens: 7, total_tokens: 7 } }))
  }
  if (body.stream !== true) {
    const choices = [
      { index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' },
    ]
    return void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ choices, usage: USAGE }))
  }
  const chunk = (delta: object, finish: string | null = null): string =>
    eventOf({
      id: 'x',
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: finish }],
    })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const word of text.split(/(?<= )/)) response.write(chunk({ content: word }))
  response.write(chunk({}, 'stop'))
  response.end(`${eventOf({ choices: [], usage: USAGE })}data: [DONE]\n\n`)
}

let upstream: ScriptedUpstream
let file: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  upstream.play('chat', fresh)
  upstream.play('vetores', fresh)
  const common = {
    prices: { input: '2', cached_input: '1', output: '8' },
    markup_multiplier: '1.5',
  }
  file = await writeConfigFile({
    upstreams: [{ id: 'uma', kind: 'openai-compatible', base_url: upstream.baseUrl, retries: 0 }],
    models: [
      {
        id: 'conversa',
        category: 'llm',
        vendor: 'roteiro',
        context_tokens: 8_192,
        max_output_tokens: 256,
        routes: [{ upstream: 'uma', model: 'chat' }],
        ...common,
      },
      {
        id: 'vetor',
        category: 'embedding',
        vendor: 'roteiro',
        context_tokens: 8_192,
        max_output_tokens: 1,
        embedding: { dimensions: 2 },
        routes: [{ upstream: 'uma', model: 'vetores' }],
        ...common,
      },
    ],
  })
  gateway = await startGateway({ CATRACA_CONFIG: file.path })
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await file.remove()
})

const HOUR = { 'x-svc-cache': '3600' }

interface Format {
  readonly path: string
  /** Where another path asks for a stream, and no field. */
  readonly streamPath?: string
  readonly body: (text: string) => Record<string, unknown>
}
const FORMATS: Record<string, Format> = {
  'chat completions': {
    path: '/chat/completions',
    body: (content) => ({ model: 'conversa', messages: [{ role: 'user', content }] }),
  },
  'text completions': { path: '/completions', body: (prompt) => ({ model: 'conversa', prompt }) },
  Responses: { path: '/responses', body: (input) => ({ model: 'conversa', input }) },
  "Google's": {
    path: '/../v1beta/models/conversa:generateContent',
    streamPath: '/../v1beta/models/conversa:streamGenerateContent?alt=sse',
    body: (text) => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
  },
  Messages: {
    path: '/messages',
    body: (content) => ({
      model: 'conversa',
      max_tokens: 99,
      messages: [{ role: 'user', content }],
    }),
  },
}

function send(
  { path, body }: Format,
  {
    text,
    headers = HOUR,
    secret = gateway.secret,
    more = {},
  }: {
    text: string
    headers?: Record<string, string>
    secret?: string
    more?: object
  },
): Promise<Asked> {
  return ask(gateway.node.baseUrl, path, { secret, headers, body: { ...body(text), ...more } })
}

const servedBy = ({ headers }: Asked): string | null => headers.get('x-svc-cache')

/** Without what is of one call alone: its ids, its times and its cost. */
function shared(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}(?! )/g, '<id>')
    .replaceAll(/"(?:created|created_at|completed_at)":[0-9.]+/g, '<time>')
    .replaceAll(/"cost_billed_brl":[0-9.eE+-]+/g, '<cost>')
}

/** The random part of the answer, which a space follows. */
const RANDOM = /[0-9a-f]{8}-[0-9a-f-]{27}(?= )/

for (const [name, format] of Object.entries(FORMATS))
  for (const stream of [false, true])
    test(`${name}, ${stream ? 'streamed' : 'plain'}: an equal call gets the bytes of the first but for ids, times and cost, free, without an upstream`, async () => {
      const text = `${name} ${stream}`
      const more = {
        ...(format.streamPath ? {} : { stream }),
        ...(stream && name.includes('completions')
          ? { stream_options: { include_usage: true } }
          : {}),
      }
      const asked = stream && format.streamPath ? { ...format, path: format.streamPath } : format
      const first = await send(asked, { text, more })
      assert.equal(first.status, 200, first.text)
      assert.equal(servedBy(first), 'miss')
      const calls = upstream.callsOf('chat').length
      const second = await send(asked, { text, more })
      assert.equal(servedBy(second), 'hit')
      assert.equal(upstream.callsOf('chat').length, calls, 'no upstream is called')
      assert.notEqual(second.text, first.text, 'the ids are others')
      assert.match(first.text, RANDOM)
      assert.equal(shared(second.text), shared(first.text))
      assert.equal(billedIn(second.text), '0')
      assert.notEqual(billedIn(first.text), '0')
      const [event] = await eventsOfRequest(second)
      assert.deepEqual(
        [event?.outcome, event?.usage_kind, event?.cost_billed_nano_brl, event?.upstream_id],
        ['charged', 'exact', 0n, 'answer-cache'],
      )
      assert.deepEqual(
        [event?.prompt_tokens, event?.completion_tokens, event?.cached_tokens],
        [40, 20, 8],
      )
    })

function eventsOfRequest({ requestId }: Asked) {
  return gateway.database.db
    .selectFrom('usage_events')
    .selectAll()
    .where('request_id', '=', requestId)
    .execute()
}

test('embeddings are served again, too', async () => {
  const body = { model: 'vetor', input: ['um texto'] }
  const call = () =>
    ask(gateway.node.baseUrl, '/embeddings', { secret: gateway.secret, headers: HOUR, body })
  const [first, second] = [await call(), await call()]
  assert.deepEqual([servedBy(first), servedBy(second)], ['miss', 'hit'])
  assert.deepEqual(second.json.data, first.json.data)
})

test('customers with equal requests never share an answer, nor do a team and its account', async () => {
  const chat = FORMATS['chat completions'] as Format
  const text = 'o mesmo texto para todos'
  const other = await seedCustomer(gateway.database.db, { balanceBrl: '10' })
  const own = await send(chat, { text })
  const theirs = await send(chat, { text, secret: other.secret })
  assert.deepEqual([servedBy(own), servedBy(theirs)], ['miss', 'miss'])
  assert.notEqual(theirs.json.choices[0].message.content, own.json.choices[0].message.content)
  const { db } = gateway.database
  const second = await createApiKey(db, {
    customerId: gateway.customerId,
    name: 'outra chave',
    requestsPerMinute: 100,
  })
  const again = await send(chat, { text, secret: second.secret })
  assert.equal(servedBy(again), 'hit', 'another key of the account has its answers')
  const team = await db
    .insertInto('teams')
    .values({ id: randomUUID(), customer_id: gateway.customerId, name: 'equipe' } as never)
    .returning('id')
    .executeTakeFirstOrThrow()
  const ofTeam = await createApiKey(db, {
    customerId: gateway.customerId,
    name: 'da equipe',
    requestsPerMinute: 100,
    teamId: team.id,
    createdBy: other.customerId,
  })
  assert.equal(servedBy(await send(chat, { text, secret: ofTeam.secret })), 'miss')
  // The row of one customer under the id of another opens for nobody.
  await sql`insert into cached_answers (customer_id, digest, sealed, expires_at)
    select ${other.customerId}, digest, sealed, expires_at from cached_answers where customer_id = ${gateway.customerId}
    on conflict do nothing`.execute(db)
  assert.equal(
    servedBy(await send(chat, { text: 'Responses false', secret: other.secret })),
    'miss',
  )
})

test('any difference in the request, its limits or its model is another call', async () => {
  const chat = FORMATS['chat completions'] as Format
  const change = fc.oneof(
    fc.record({ temperature: fc.integer({ min: 0, max: 20 }).map((n) => n / 10) }),
    fc.record({ max_tokens: fc.integer({ min: 1, max: 250 }) }),
    fc.record({ seed: fc.nat() }),
    fc.record({
      stop: fc.array(fc.string({ minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ user: fc.string({ minLength: 1, maxLength: 8 }) }),
  )
  const seen = new Map<string, string>()
  await fc.assert(
    fc.asyncProperty(change, async (more) => {
      const answer = await send(chat, { text: 'variações', more })
      assert.equal(answer.status, 200, answer.text)
      const request = JSON.stringify(more)
      const content = answer.json.choices[0].message.content
      assert.equal(servedBy(answer), seen.has(request) ? 'hit' : 'miss', request)
      assert.equal(seen.get(request) ?? content, content)
      seen.set(request, content)
    }),
    { numRuns: 40 },
  )
  assert.equal(new Set(seen.values()).size, seen.size)
})

test('the key decides without the header, and the header decides before the key', async () => {
  const chat = FORMATS['chat completions'] as Format
  const { db } = gateway.database
  const { secret } = await createApiKey(db, {
    customerId: gateway.customerId,
    name: 'com cache',
    requestsPerMinute: 100,
    cacheSeconds: 60,
  })
  const text = 'a escolha'
  const by = async (headers: Record<string, string>, of = secret) =>
    servedBy(await send(chat, { text, headers, secret: of }))
  assert.equal(await by({}, gateway.secret), null)
  assert.equal(await by({}), 'miss')
  assert.equal(await by({}), 'hit')
  assert.equal(await by({}, gateway.secret), null)
  assert.equal(await by({ 'x-svc-cache': 'off' }), null)
  const before = (await send(chat, { text, secret })).json.choices[0].message.content
  assert.equal(await by({ 'x-svc-cache': 'refresh' }), 'miss')
  const renewed = await send(chat, { text, secret })
  assert.equal(servedBy(renewed), 'hit')
  assert.notEqual(renewed.json.choices[0].message.content, before)
  for (const wrong of ['0', '-1', '604801', '1.5', 'on', '9999999', 'hit'])
    assert.equal((await send(chat, { text, headers: { 'x-svc-cache': wrong } })).status, 400, wrong)
})

test('what failed, broke off or was estimated is not kept', async () => {
  const chat = FORMATS['chat completions'] as Format
  const text = 'o que não serve'
  upstream.play('chat', status(500), cutInTheMiddle, fresh)
  await send(chat, { text })
  await send(chat, { text, more: { stream: true } })
  for (const stream of [false, true])
    assert.equal(servedBy(await send(chat, { text, more: { stream } })), 'miss')
})

test('an answer is gone when its time is over, also before a job deletes it', async () => {
  const chat = FORMATS['chat completions'] as Format
  const { db } = gateway.database
  const text = 'com prazo'
  await send(chat, { text, headers: { 'x-svc-cache': '1' } })
  await sql`update cached_answers set expires_at = now() where expires_at < now() + interval '1 minute'`.execute(
    db,
  )
  assert.equal(servedBy(await send(chat, { text })), 'miss')
  await sql`update cached_answers set expires_at = now()`.execute(db)
  await pruneCachedAnswers(db)
  const left = await db.selectFrom('cached_answers').select('digest').execute()
  assert.deepEqual(left, [])
})

test('with the shield, an equal masked request gets the answer with its own values', async () => {
  const chat = FORMATS['chat completions'] as Format
  const { secret } = await createApiKey(gateway.database.db, {
    customerId: gateway.customerId,
    name: 'protegida',
    requestsPerMinute: 100,
    shield: { action: 'mask', uuids: 'near_pix' },
  })
  const echo: Behaviour = ({ body }, response) => {
    const content = `Você disse: ${(body.messages as { content: string }[])[0]?.content}`
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ choices, usage: USAGE }))
  }
  upstream.play('chat', echo)
  const [one, other] = ['529.982.247-25', '168.995.350-09'] as const
  const first = await send(chat, { text: `CPF ${one}`, secret })
  const second = await send(chat, { text: `CPF ${other}`, secret })
  assert.deepEqual([servedBy(first), servedBy(second)], ['miss', 'hit'])
  assert.equal(first.json.choices[0].message.content, `Você disse: CPF ${one}`)
  assert.equal(second.json.choices[0].message.content, `Você disse: CPF ${other}`)
  upstream.play('chat', fresh)
})

test("what a cached answer saved is the first one's cost, in the call and in the recommendations", async () => {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '10' })
  const chat = FORMATS['chat completions'] as Format
  const first = await send(chat, { text: 'economia', secret })
  await send(chat, { text: 'economia', secret })
  await untilNoHoldIsOpen(gateway.database)
  const read = async (path: string) => (await ask(gateway.node.baseUrl, path, { secret })).json
  const { calls } = await read('/usage/calls')
  const [hit, miss] = calls
  assert.equal(hit.cost_billed_brl, 0)
  assert.equal(String(hit.cache_saved_brl), billedIn(first.text))
  assert.ok(miss.cache_saved_brl > 0, 'eight of its tokens came from the cache of the model')
  const { cache_saved_brl: sum } = await read('/me/recommendations')
  assert.ok(Math.abs(sum - hit.cache_saved_brl - miss.cache_saved_brl) < 1e-9, String(sum))
})

test('no cached answer can be read in the database', async () => {
  const chat = FORMATS['chat completions'] as Format
  const answer = await send(chat, { text: 'segredo' })
  const content = answer.json.choices[0].message.content as string
  const { rows } = await sql<{ found: boolean }>`
    select position(${Buffer.from(content.slice(0, 20))} in sealed) > 0 as found from cached_answers`.execute(
    gateway.database.db,
  )
  assert.ok(rows.length > 0 && rows.every(({ found }) => !found))
})

test('an operator may charge a share of the price, and a hit is charged exactly that', async () => {
  const shared = await startGateway({ CATRACA_CONFIG: file.path, CACHED_ANSWER_PERCENT: '25' })
  try {
    const chat = FORMATS.Messages as Format
    const call = () =>
      ask(shared.node.baseUrl, chat.path, {
        secret: shared.secret,
        headers: HOUR,
        body: chat.body('um quarto'),
      })
    const [first, second] = [await call(), await call()]
    assert.deepEqual([servedBy(first), servedBy(second)], ['miss', 'hit'])
    const [whole, part] = [first, second].map(({ text }) => Number(billedIn(text))) as [
      number,
      number,
    ]
    assert.ok(whole > 0 && Math.abs(part * 4 - whole) < 4e-9, `${part} of ${whole}`)
    await untilNoHoldIsOpen(shared.database)
    await assertAudit(shared.database)
  } finally {
    await shared.stop()
  }
})

test('after all of this the audit is clean', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})
