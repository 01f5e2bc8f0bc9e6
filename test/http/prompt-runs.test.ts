/** Runs of saved prompts: ordinary calls of the key that is given, answered in the way of REST. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApiKey, revokeApiKey, type ApiKeyInput } from '../../src/customers/api-keys.ts'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { decimalBrl, parseUsd } from '../../src/platform/lib/money.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { ask, billedIn, sound, type Asked } from '../harness/ask.ts'
import { assertHeaders, assertNoTrace } from '../harness/assert-answer.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { resolutionsOf } from './resolutions-of.ts'
import {
  afterMs,
  good,
  GOOD_TEXT,
  GOOD_USAGE,
  startScriptedUpstream,
  status,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'

const BODY_BYTES_MAX = 64 * 1024
/** For all; one customer gets a quarter of it: four bodies. */
const BODIES_BYTES_MAX = 16 * BODY_BYTES_MAX

let upstream: ScriptedUpstream
let file: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  upstream.play('falha', status(500))
  upstream.play('ocupado', status(429, { 'retry-after': '7' }))
  upstream.play('manutencao', status(503))
  upstream.play('recusa', status(400))
  upstream.play('depois', afterMs(500, status(500)), good)
  upstream.play('devagar', afterMs(500))
  const model = (id: string, upstreamId: string): object => ({
    id,
    category: 'llm',
    prices: { input: 5, output: 100 },
    routes: [{ upstream: upstreamId, model: id }],
    context_tokens: 128_000,
    max_output_tokens: 4_096,
  })
  const common = {
    kind: 'openai-compatible' as const,
    base_url: upstream.baseUrl,
    breaker: { failures: 0 },
  }
  const names = ['certo', 'outro', 'falha', 'ocupado', 'manutencao', 'recusa', 'devagar']
  file = await writeConfigFile({
    upstreams: [
      { ...common, id: 'once', retries: 0 },
      { ...common, id: 'again', retries: 2 },
    ],
    models: [...names.map((id) => model(id, 'once')), model('depois', 'again')] as never,
  })
  gateway = await startGateway({
    CATRACA_CONFIG: file.path,
    BODY_BYTES_MAX: String(BODY_BYTES_MAX),
    BODIES_BYTES_MAX: String(BODIES_BYTES_MAX),
  })
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await file.remove()
})

interface Owner {
  readonly secret: string
  readonly customerId: string
}

function createOwner(balanceBrl = '100', more: Partial<ApiKeyInput> = {}): Promise<Owner> {
  return seedCustomer(gateway.database.db, { balanceBrl, ...more })
}

async function createPrompt({ secret }: Owner, fields: object = {}): Promise<string> {
  const body = { name: 'Saudação', body: 'Olá, {{nome}}!', default_model: 'certo', ...fields }
  const answer = await ask(gateway.node.baseUrl, '/me/prompts', { secret, body })
  assert.equal(answer.status, 201, answer.text)
  return answer.json.id
}

/** With the owner's key for both, unless the body says otherwise. */
function run(owner: Owner, id: string, body: object = {}): Promise<Asked> {
  return ask(gateway.node.baseUrl, `/me/prompts/${id}/run`, {
    secret: owner.secret,
    body: { api_key: owner.secret, values: { nome: 'Ana' }, ...body },
  })
}

async function runsOf({ secret }: Owner, id: string, query = ''): Promise<any[]> {
  const answer = await ask(gateway.node.baseUrl, `/me/prompts/${id}/runs${query}`, { secret })
  assert.equal(answer.status, 200, answer.text)
  return answer.json.runs
}

async function createKey({ customerId }: Owner, more: Partial<ApiKeyInput> = {}): Promise<string> {
  const input = { name: 'outra', requestsPerMinute: 1_000, customerId, ...more }
  return (await createApiKey(gateway.database.db, input)).secret
}

async function balanceOf({ customerId }: Owner): Promise<bigint> {
  return (await findAccount(gateway.database.db, customerId))?.balanceNanoBrl as bigint
}

function lastMessageTo(model: string): any {
  return upstream.callsOf(model).at(-1)?.body
}

/** A refusal in the format of REST: the gateway's code, and its words for customers. */
function assertRefused(answer: Asked, httpStatus: number, code: string, details?: RegExp): void {
  assert.equal(answer.status, httpStatus, answer.text)
  assert.equal(answer.json.error, code)
  assert.deepEqual(
    Object.keys(answer.json).filter((name) => name !== 'details'),
    ['error'],
  )
  if (details) assert.match(answer.json.details, details)
  assertHeaders(answer, answer.requestId)
  assertNoTrace(answer)
}

async function assertNothingHappened(owner: Owner, answer: Asked): Promise<void> {
  assert.deepEqual(await resolutionsOf(gateway.database, answer.requestId), [])
  assert.equal(await balanceOf(owner), 100_000_000_000n)
}

test("a run returns the model's answer; its cost equals the balance's change and the history's amount", async () => {
  const owner = await createOwner()
  const id = await createPrompt(owner, {
    body: 'Olá, {{nome}}! {{ nome }}: {{texto}} {{outro}}',
    variables: ['nome', 'texto', 'outro'],
  })
  const startedMs = Date.now()
  const values = { nome: 'Ana {{texto}} $&', texto: 'conte\n"tudo" {{nome}}', outro: '' }
  // A value too many is not used.
  const answer = await run(owner, id, { values: { ...values, sobra: 'x' } })
  assert.equal(answer.status, 200, answer.text)
  assertHeaders(answer, answer.requestId)
  assertNoTrace(answer)
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json\b/)
  assert.equal(answer.json.object, 'chat.completion')
  assert.equal(answer.json.model, 'certo')
  assert.equal(answer.json.choices[0].message.content, GOOD_TEXT)
  assert.deepEqual(
    [answer.json.usage.prompt_tokens, answer.json.usage.completion_tokens],
    [GOOD_USAGE.prompt_tokens, GOOD_USAGE.completion_tokens],
  )
  const { messages, max_tokens, temperature, stream } = lastMessageTo('certo')
  assert.deepEqual(messages, [
    {
      role: 'user',
      content: `Olá, ${values.nome}! ${values.nome}: ${values.texto} `,
    },
  ])
  assert.deepEqual([max_tokens, temperature, stream ?? false], [1024, 0.7, false])

  const billed = billedIn(answer.text) as string
  assert.notEqual(billed, '0')
  assert.equal(decimalBrl(100_000_000_000n - (await balanceOf(owner))), billed)
  const [event, ...more] = await resolutionsOf(gateway.database, answer.requestId)
  assert.deepEqual(more, [])
  assert.equal(event?.outcome, 'charged')

  const [shown, ...others] = await runsOf(owner, id)
  assert.deepEqual(others, [])
  const { session_id, first_request_at, last_request_at, total_billed_brl, ...rest } = shown
  assert.deepEqual(rest, {
    request_count: 1,
    models: ['certo'],
    total_prompt_tokens: GOOD_USAGE.prompt_tokens,
    total_completion_tokens: GOOD_USAGE.completion_tokens,
    total_tokens: GOOD_USAGE.total_tokens,
  })
  assert.equal(total_billed_brl, Number(billed))
  assert.equal(event?.session_id, session_id)
  const timestamp = Number(session_id.slice(`prompt-${id}-`.length))
  assert.equal(session_id, `prompt-${id}-${timestamp}`)
  assert.ok(timestamp >= startedMs && timestamp <= Date.now())
  for (const at of [first_request_at, last_request_at]) assert.equal(new Date(at).toISOString(), at)
})

test('fields of a run override those of the prompt and the defaults', async () => {
  const owner = await createOwner()
  const id = await createPrompt(owner)
  const answer = await run(owner, id, { model: 'outro', max_tokens: 7, temperature: 0 })
  assert.equal(answer.json.model, 'outro')
  const { max_tokens, temperature } = lastMessageTo('outro')
  assert.deepEqual([max_tokens, temperature], [7, 0])
  const withNull = await run(owner, id, { model: null, temperature: 2 })
  assert.equal(withNull.json.model, 'certo')
  const runs = await runsOf(owner, id)
  assert.deepEqual(
    runs.flatMap(({ models }) => models),
    ['certo', 'outro'],
    'the newest first',
  )
})

test('a run uses the latest text, and a clone has its own history', async () => {
  const owner = await createOwner()
  const id = await createPrompt(owner)
  const { baseUrl } = gateway.node
  const { secret } = owner
  const path = `/me/prompts/${id}`
  await ask(baseUrl, path, { secret, method: 'PATCH', body: { body: 'Tchau, {{nome}}.' } })
  const clone = (await ask(baseUrl, `${path}/clone`, { secret, method: 'POST' })).json.id
  assert.equal((await run(owner, id)).status, 200)
  assert.equal(lastMessageTo('certo').messages[0].content, 'Tchau, Ana.')
  assert.deepEqual([(await runsOf(owner, id)).length, (await runsOf(owner, clone)).length], [1, 0])
})

const BAD_BODIES: readonly (readonly [body: object, details: RegExp])[] = [
  [{ values: {} }, /^values\.nome: é obrigatório/],
  [{ values: undefined }, /^values\.nome: é obrigatório/],
  [{ values: { nome: 7 } }, /^values\.nome: /],
  [{ values: { nome: null } }, /^values\.nome: /],
  [{ values: ['Ana'] }, /^values: /],
  [{ values: 'Ana' }, /^values: /],
  [{ api_key: undefined }, /^api_key: é obrigatório/],
  [{ api_key: 'pk-123' }, /^api_key: /],
  [{ api_key: 7 }, /^api_key: /],
  [{ api_key: `sk-${'x'.repeat(200)}` }, /^api_key: /],
  [{ model: 7 }, /^model: /],
  [{ max_tokens: 0 }, /^max_tokens: /],
  [{ max_tokens: 1.5 }, /^max_tokens: /],
  [{ max_tokens: '10' }, /^max_tokens: /],
  [{ max_tokens: 2 ** 60 }, /^max_tokens: /],
  [{ temperature: -0.1 }, /^temperature: /],
  [{ temperature: 2.1 }, /^temperature: /],
  [{ stream: true }, /^stream: não é conhecido/],
]

test('an invalid run is refused by its field, without a call or a charge', async () => {
  const owner = await createOwner()
  const id = await createPrompt(owner)
  const callsBefore = upstream.callsOf('certo').length
  for (const [body, details] of BAD_BODIES)
    assertRefused(await run(owner, id, body), 400, 'invalid_request', details)
  const withoutModel = await createPrompt(owner, { default_model: null })
  const answer = await run(owner, withoutModel)
  assertRefused(answer, 400, 'invalid_request', /^model: é obrigatório/)
  await assertNothingHappened(owner, answer)
  assert.equal(upstream.callsOf('certo').length, callsBefore)
})

test('names with a meaning in JavaScript work as variables', async () => {
  const owner = await createOwner()
  const id = await createPrompt(owner, { body: '{{constructor}} {{__proto__}}' })
  const values = '{"constructor": "a", "__proto__": "b"}'
  const answer = await ask(gateway.node.baseUrl, `/me/prompts/${id}/run`, {
    secret: owner.secret,
    body: `{"api_key": "${owner.secret}", "values": ${values}}`,
  })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(lastMessageTo('certo').messages[0].content, 'a b')
  const missing = await run(owner, id, { values: {} })
  assertRefused(missing, 400, 'invalid_request', /^values\.constructor: é obrigatório/)
})

test('values that make the text exceed the size of a request are refused', async () => {
  const owner = await createOwner()
  const id = await createPrompt(owner, { body: '{{nome}}'.repeat(4_000) })
  const much = await run(owner, id, { values: { nome: 'x'.repeat(60_000) } })
  assertRefused(much, 413, 'payload_too_large')
  // Each of these takes six bytes in the JSON of the call.
  const escaped = await run(owner, id, { values: { nome: '\u0001'.repeat(8) } })
  assertRefused(escaped, 413, 'payload_too_large')
  assert.equal((await run(owner, id, { values: { nome: 'x'.repeat(8) } })).status, 200)
})

test("the texts of runs count for their customer's memory, as bodies of calls do", async () => {
  const owner = await createOwner()
  const id = await createPrompt(owner, { body: '{{nome}}'.repeat(4_000), default_model: 'devagar' })
  const long = { values: { nome: 'x'.repeat(15) } }
  const runs = await Promise.all(Array.from({ length: 6 }, () => run(owner, id, long)))
  const statuses = runs.map((each) => each.status).toSorted((a, b) => a - b)
  assert.deepEqual(statuses, [200, 200, 200, 200, 429, 429])
  const refused = runs.filter((each) => each.status === 429)
  for (const answer of refused) assertRefused(answer, 429, 'rate_limit_exceeded')
  const other = await createOwner()
  const running = run(owner, id, long)
  const ofOther = await createPrompt(other, { body: '{{nome}}'.repeat(4_000) })
  assert.equal(
    (await run(other, ofOther, long)).status,
    200,
    'another customer has their own share',
  )
  assert.equal((await running).status, 200, 'what ended counts no longer')
})

test('a key of another customer is not found, in any state', async () => {
  const owner = await createOwner()
  const id = await createPrompt(owner)
  const revoked = await createApiKey(gateway.database.db, {
    name: 'revogada',
    requestsPerMinute: 10,
    customerId: owner.customerId,
  })
  await revokeApiKey(gateway.database.db, revoked.key.id)
  const other = await createOwner()
  const secrets = {
    revoked: revoked.secret,
    expired: await createKey(owner, { expiresAt: new Date(Date.now() - 1_000) }),
    another: other.secret,
    unknown: `sk-svc-${'x'.repeat(32)}`,
    odd: 'sk-svc com espaços',
    empty: 'sk-',
  }
  const answers = await Promise.all(
    Object.values(secrets).map((secret) => run(owner, id, { api_key: secret })),
  )
  for (const answer of answers) {
    assertRefused(answer, 404, 'key_not_found')
    assert.deepEqual(answer.json, { error: 'key_not_found' })
    await assertNothingHappened(owner, answer)
  }
  assert.equal(await balanceOf(other), 100_000_000_000n)
})

test('a key that is revoked between two runs cannot pay for the second', async () => {
  const owner = await createOwner()
  const id = await createPrompt(owner)
  const made = await createApiKey(gateway.database.db, {
    name: 'breve',
    requestsPerMinute: 10,
    customerId: owner.customerId,
  })
  assert.equal((await run(owner, id, { api_key: made.secret })).status, 200)
  await revokeApiKey(gateway.database.db, made.key.id)
  assertRefused(await run(owner, id, { api_key: made.secret }), 404, 'key_not_found')
  assert.equal((await runsOf(owner, id)).length, 1)
})

test("the charge counts for the given key, not for the caller's", async () => {
  const owner = await createOwner()
  const id = await createPrompt(owner)
  const made = await createApiKey(gateway.database.db, {
    name: 'pagante',
    requestsPerMinute: 10,
    customerId: owner.customerId,
  })
  const answer = await run(owner, id, { api_key: made.secret })
  const [event] = await resolutionsOf(gateway.database, answer.requestId)
  assert.equal(event?.api_key_id, made.key.id)
})

test("another customer's prompt, and an unknown one, can be neither run nor read", async () => {
  const owner = await createOwner()
  const stranger = await createOwner()
  const id = await createPrompt(owner)
  assert.equal((await run(owner, id)).status, 200)
  const attempts = [
    run(stranger, id),
    run(stranger, id, { api_key: owner.secret }),
    run(owner, randomUUID()),
    run(owner, 'nenhum'),
  ]
  for (const answer of await Promise.all(attempts)) {
    assertRefused(answer, 404, 'prompt_not_found')
    assert.deepEqual(answer.json, { error: 'prompt_not_found' })
  }
  assert.equal(await balanceOf(stranger), 100_000_000_000n)
  // A session of the stranger that is called like a run of the owner's prompt is the stranger's own.
  const [{ session_id }] = await runsOf(owner, id)
  const forged = await ask(gateway.node.baseUrl, '/chat/completions', {
    secret: stranger.secret,
    body: sound('certo'),
    headers: { 'x-svc-session-id': session_id },
  })
  assert.equal(forged.status, 200)
  const [shown, ...others] = await runsOf(owner, id)
  assert.deepEqual([shown.request_count, others], [1, []])
})

test("a run respects its key's addresses and models, and the limits of its model", async () => {
  const owner = await createOwner()
  const id = await createPrompt(owner)
  const blocked = await run(owner, id, {
    api_key: await createKey(owner, { ipAllowlist: ['203.0.113.0/24'] }),
  })
  assertRefused(blocked, 403, 'ip_blocked_by_allowlist', /endereço IP/)
  const narrow = await createKey(owner, { modelIds: ['outro'] })
  const denied = await run(owner, id, { api_key: narrow })
  assertRefused(denied, 403, 'key_model_access_denied', /não tem acesso ao modelo "certo"/)
  assert.equal((await run(owner, id, { api_key: narrow, model: 'outro' })).status, 200)
  const unknown = await run(owner, id, { model: 'nenhum' })
  assertRefused(unknown, 404, 'model_not_found', /não existe no catálogo/)
  for (const answer of [blocked, denied, unknown])
    assert.deepEqual(await resolutionsOf(gateway.database, answer.requestId), [])
})

test("a run is refused without balance, beyond the key's budget and above its rate", async () => {
  const poor = await createOwner('0')
  const poorId = await createPrompt(poor)
  assertRefused(await run(poor, poorId), 402, 'insufficient_balance', /Saldo insuficiente/)

  const owner = await createOwner()
  const id = await createPrompt(owner)
  const limitPicoUsd = parseUsd('0.000001') as bigint
  const spent = await createKey(owner, { budget: { limitPicoUsd, period: 'day' } })
  assertRefused(await run(owner, id, { api_key: spent }), 402, 'key_budget_exceeded')

  const slow = await createKey(owner, { requestsPerMinute: 1 })
  const answers: Asked[] = []
  // A minute may turn in between.
  for (let count = 0; count < 4; count++) answers.push(await run(owner, id, { api_key: slow }))
  const limited = answers.find((answer) => answer.status === 429) as Asked
  assertRefused(limited, 429, 'api_key_rate_limited', /requisições por minuto/)
  assert.ok(Number(limited.headers.get('retry-after')) >= 1)
  await untilNoHoldIsOpen(gateway.database)
})

test('a balance that other calls hold is reported with the time to wait', async () => {
  // Enough for one run: 1,024 tokens at USD 100 a million, and the prompt, at 5.2 and 1.0; not for 64 tokens more.
  const owner = await createOwner('0.56')
  const id = await createPrompt(owner, { default_model: 'devagar' })
  const first = run(owner, id)
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(10)) {
    const open = await gateway.database.db
      .selectFrom('holds')
      .select('id')
      .where('customer_id', '=', owner.customerId)
      .execute()
    if (open.length > 0) break
  }
  const second = await run(owner, id)
  assertRefused(second, 429, 'balance_on_hold', /reservado/)
  assert.match(second.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  assert.equal((await first).status, 200)
})

test('a failing model is a REST error of the run, without a charge', async () => {
  const owner = await createOwner()
  const id = await createPrompt(owner)
  const failing = [
    ['falha', 502, 'upstream_error'],
    ['manutencao', 503, 'service_unavailable'],
    ['ocupado', 429, 'rate_limit_exceeded'],
    ['recusa', 400, 'invalid_request'],
  ] as const
  for (const [model, httpStatus, code] of failing) {
    const answer = await run(owner, id, { model })
    assertRefused(answer, httpStatus, code, /./)
    const [event] = await resolutionsOf(gateway.database, answer.requestId)
    assert.deepEqual([event?.outcome, event?.cost_billed_nano_brl], ['released', 0n])
    if (model === 'ocupado') assert.equal(answer.headers.get('retry-after'), '7')
  }
  assert.equal(await balanceOf(owner), 100_000_000_000n)
  assert.deepEqual(await runsOf(owner, id), [], 'what was not charged is no run')
})

test('after a client disconnects during a run, nothing is retried', async () => {
  const owner = await createOwner()
  const id = await createPrompt(owner)
  const requestId = randomUUID()
  const leaving = new AbortController()
  const asked = fetch(`${gateway.node.baseUrl}/me/prompts/${id}/run`, {
    method: 'POST',
    headers: { authorization: `Bearer ${owner.secret}`, 'x-svc-request-id': requestId },
    body: JSON.stringify({ api_key: owner.secret, values: { nome: 'Ana' }, model: 'depois' }),
    signal: leaving.signal,
  })
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(5))
    if (upstream.callsOf('depois').length > 0) break
  leaving.abort()
  await assert.rejects(asked)
  const [event] = await resolutionsOf(gateway.database, requestId)
  assert.deepEqual([event?.outcome, event?.reason], ['released', 'client_left'])
  assert.equal(upstream.callsOf('depois').length, 1)
  // One that stays gets the second try.
  upstream.play('depois', status(500), good)
  assert.equal((await run(owner, id, { model: 'depois' })).status, 200)
})

test('the history has the newest runs of its sessions, up to the requested number', async () => {
  const owner = await createOwner()
  const id = await createPrompt(owner)
  const session = (at: number, prompt = id): object => ({
    customer_id: owner.customerId,
    session_id: `prompt-${prompt}-${at}`,
    requests: 2n,
    prompt_tokens: 3_000_000_000n,
    completion_tokens: 4n,
    cost_billed_nano_brl: BigInt(at),
    model_ids: ['certo', 'outro'],
    first_request_at: new Date(at),
    last_request_at: new Date(at + 1),
  })
  const beginMs = 1_700_000_000_000
  const sessions = Array.from({ length: 130 }, (_, index) => session(beginMs + index))
  const others = [session(beginMs + 500, createId()), session(beginMs + 501, `${id}x`)]
  await gateway.database.db
    .insertInto('usage_sessions')
    .values([...sessions, ...others] as never)
    .execute()
  const times = async (query: string): Promise<number[]> =>
    (await runsOf(owner, id, query)).map((shown) => Date.parse(shown.first_request_at) - beginMs)
  const newest = (count: number): number[] => Array.from({ length: count }, (_, n) => 129 - n)
  assert.deepEqual(await times(''), newest(20))
  assert.deepEqual(await times('?limit=1'), newest(1))
  assert.deepEqual(await times('?limit=100'), newest(100))
  const [shown] = await runsOf(owner, id, '?limit=1')
  assert.deepEqual(shown, {
    session_id: `prompt-${id}-${beginMs + 129}`,
    request_count: 2,
    models: ['certo', 'outro'],
    total_prompt_tokens: 3_000_000_000,
    total_completion_tokens: 4,
    total_tokens: 3_000_000_004,
    total_billed_brl: 1700.000000129,
    first_request_at: new Date(beginMs + 129).toISOString(),
    last_request_at: new Date(beginMs + 130).toISOString(),
  })
  for (const limit of ['0', '101', 'x']) {
    const path = `/me/prompts/${id}/runs?limit=${limit}`
    const answer = await ask(gateway.node.baseUrl, path, { secret: owner.secret })
    assertRefused(answer, 400, 'invalid_request', /^limit: /)
  }
  await gateway.database.db
    .deleteFrom('usage_sessions')
    .where('customer_id', '=', owner.customerId)
    .execute()
})

test('the key of a run is stored neither in the log nor in the audit log nor in the database', async () => {
  const owner = await createOwner()
  const id = await createPrompt(owner)
  const secret = await createKey(owner)
  for (const model of ['certo', 'falha', 'nenhum']) await run(owner, id, { api_key: secret, model })
  await run(owner, id, { api_key: secret, model: 7 })
  await run(owner, id, { api_key: secret, values: {} })
  const rest = secret.slice('sk-svc-'.length)
  assert.deepEqual(
    gateway.node.log.filter((line) => line.includes(rest)),
    [],
  )
  const kept = await gateway.database.db.selectFrom('audit_log').selectAll().execute()
  assert.ok(!JSON.stringify(kept).includes(rest))
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})
