// deep: every refusal of every kind of call
/** Every model call that is answered with an error is counted, once, for its customer and for nobody else. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import type { ApiKeyInput } from '../../src/customers/api-keys.ts'
import { pauseKey } from '../../src/customers/key-acts.ts'
import { modelCallRoutes } from '../../src/http/model-calls/model-call-routes.ts'
import { ask, type Ask, type Asked } from '../harness/ask.ts'
import { avoidMinuteEnd } from '../harness/avoid-minute-end.ts'
import { effort } from '../harness/effort.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { form, FORM_TYPE, wav } from '../harness/media-calls.ts'
import { openSession } from '../harness/open-session.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { startLocalNode, type LocalNode } from '../harness/local-node.ts'

const BODY_BYTES_MAX = 64 * 1024
const PATHS = modelCallRoutes.map(({ url }) => url.replace('/v1', ''))

let gateway: TestGateway

before(async () => {
  gateway = await startGateway({ BODY_BYTES_MAX: String(BODY_BYTES_MAX) })
})
after(() => gateway.stop())

const MODELS: Readonly<Record<string, string>> = {
  '/embeddings': 'sandbox-embedding',
  'beta/embedContent': 'sandbox-embedding',
  'beta/batchEmbedContents': 'sandbox-embedding',
  '/rerank': 'sandbox-rerank',
  '/moderations': 'sandbox-moderation',
  '/images/generations': 'sandbox-image',
  '/images/edits': 'sandbox-image',
  '/audio/speech': 'sandbox-speech',
  '/videos': 'sandbox-video',
  '/audio/transcriptions': 'sandbox-transcribe',
  '/audio/translations': 'sandbox-transcribe',
}

interface Changes {
  readonly model?: string
  readonly isStream?: boolean
  readonly text?: string
}

/** A sound request of the route, with these changes. */
function requestOf(path: string, { model, isStream = false, text = 'Oi' }: Changes = {}): Ask {
  const named = { model: model ?? MODELS[path] ?? 'sandbox-chat' }
  if (path === '/audio/transcriptions' || path === '/audio/translations')
    return {
      body: form([
        ['model', named.model],
        ['prompt', text],
        ['file', wav(1), 'fala.wav'],
      ]),
      headers: { 'content-type': FORM_TYPE },
    }
  if (path === '/images/edits')
    return {
      body: form([
        ['model', named.model],
        ['prompt', text],
        ['image', Buffer.from('89504e470d0a1a0a', 'hex'), 'a.png'],
      ]),
      headers: { 'content-type': FORM_TYPE },
    }
  const messages = [{ role: 'user', content: text }]
  const stream = isStream ? { stream: true } : {}
  const content = { parts: [{ text }] }
  const bodies: Readonly<Record<string, object>> = {
    'beta/generateContent': { contents: [content] },
    'beta/streamGenerateContent': { contents: [content] },
    'beta/streamGenerateContent/list': { contents: [content] },
    'beta/countTokens': { contents: [content] },
    'beta/embedContent': { content },
    'beta/batchEmbedContents': { requests: [{ content }] },
    '/chat/completions': { messages, ...stream },
    '/completions': { prompt: text, ...stream },
    '/messages': { messages, max_tokens: 50, ...stream },
    '/messages/count_tokens': { messages },
    '/responses': { input: text, ...stream },
    '/responses/compact': { input: text },
    '/responses/input_tokens': { input: text },
    '/embeddings': { input: text },
    '/rerank': { query: text, documents: [text] },
    '/moderations': { input: text },
    '/audio/speech': { input: text, voice: 'alloy' },
    '/images/generations': { prompt: text },
    '/videos': { prompt: text },
  }
  return { body: { ...named, ...bodies[path] } }
}

interface Caller {
  readonly customerId: string
  readonly keyId: string
  readonly secret: string
}

/** An answer as it is counted, or undefined if it is no error. */
function errorOf({ status, json, text }: Asked): string | undefined {
  if (status < 400) {
    const event = /"code":"(\w+)"/.exec(text)
    return /event: error|(?:data: |^\[)\{"error"/.test(text)
      ? `in a stream ${event?.[1]}`
      : undefined
  }
  // In Google's format the code is the reason, in capitals.
  const reason: string | undefined = json.error.details?.[0].reason
  return `${status} ${reason?.toLowerCase() ?? json.error.code}`
}

function tally(names: Iterable<string>): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

async function countedOf(customerId: string): Promise<Record<string, number>> {
  const rows = await gateway.database.db
    .selectFrom('usage_refusals')
    .selectAll()
    .where('customer_id', '=', customerId)
    .execute()
  const counts: Record<string, number> = {}
  for (const { code, status, refusals } of rows)
    counts[`${status} ${code}`] = (counts[`${status} ${code}`] ?? 0) + Number(refusals)
  return counts
}

const sumOf = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((sum, each) => sum + each, 0)

async function untilCounted(customerId: string, expected: Record<string, number>): Promise<void> {
  for (const deadline = Date.now() + 30_000; ; await sleep(50)) {
    const counted = await countedOf(customerId)
    if (sumOf(counted) < sumOf(expected) && Date.now() < deadline) continue
    return assert.deepEqual(counted, expected)
  }
}

async function callerWith(
  options: Partial<ApiKeyInput> & { balanceBrl?: string } = {},
): Promise<Caller> {
  const made = await seedCustomer(gateway.database.db, { balanceBrl: '100', ...options })
  return { customerId: made.customerId, keyId: made.key.id, secret: made.secret }
}

/** Why each route refuses, or fails; the error may differ by route, but each answer is counted as it was. */
interface Cause {
  readonly name: string
  readonly code: string
  readonly caller?: () => Promise<Caller>
  readonly request?: (path: string) => Ask
  /** Routes that answer otherwise. */
  readonly except?: readonly string[]
}

/** They cost nothing. */
const COUNTS = ['/messages/count_tokens', '/responses/input_tokens', 'beta/countTokens']

const CAUSES: readonly Cause[] = [
  {
    name: 'no balance',
    code: 'insufficient_balance',
    caller: () => callerWith({ balanceBrl: '0' }),
    except: COUNTS,
  },
  {
    name: 'a paused key',
    code: 'key_paused',
    async caller() {
      const caller = await callerWith()
      await pauseKey(gateway.database.db, SYSTEM, caller)
      return caller
    },
  },
  {
    name: 'a suspended account',
    code: 'account_suspended',
    async caller() {
      const caller = await callerWith()
      await sql`update customers set suspended_at = now(), suspended_reason = 'operator'
        where id = ${caller.customerId}`.execute(gateway.database.db)
      return caller
    },
  },
  {
    name: 'an address that is not in the list of the key',
    code: 'ip_blocked_by_allowlist',
    caller: () => callerWith({ ipAllowlist: ['203.0.113.7'] }),
  },
  {
    name: 'a model that the key may not use',
    code: 'key_model_access_denied',
    caller: () => callerWith({ modelIds: ['gpt-4o'] }),
  },
  {
    name: 'an unknown model',
    code: 'model_not_found',
    request: (path) => requestOf(path, { model: 'nenhum-modelo' }),
  },
  {
    name: 'a body that is no request',
    code: 'invalid_request',
    request: () => ({ body: '{"model":' }),
  },
  {
    name: 'a body that is too large',
    code: 'invalid_request',
    request: (path) => requestOf(path, { text: 'x'.repeat(BODY_BYTES_MAX) }),
    // Its form has a limit of its own.
    except: ['/audio/transcriptions', '/audio/translations'],
  },
  {
    name: 'a body that nobody can decompress',
    code: 'invalid_request',
    request: (path) => {
      const request = requestOf(path)
      return { ...request, headers: { ...request.headers, 'content-encoding': 'gzip' } }
    },
  },
  {
    name: 'an unknown coding of the body',
    code: 'invalid_request',
    request: (path) => {
      const request = requestOf(path)
      return { ...request, headers: { ...request.headers, 'content-encoding': 'compress' } }
    },
  },
  {
    name: 'a cap of the call that is none',
    code: 'invalid_request',
    request: (path) => {
      const request = requestOf(path)
      return { ...request, headers: { ...request.headers, 'x-svc-max-cost-brl': 'dez' } }
    },
  },
  {
    name: 'a call above its own cap',
    code: 'max_cost_exceeded',
    request: (path) => {
      const request = requestOf(path)
      return { ...request, headers: { ...request.headers, 'x-svc-max-cost-brl': '0.000000001' } }
    },
    except: COUNTS,
  },
]

/** What was answered in the tests of the causes. */
const answered: { name: string; customerId: string; errors: string[] }[] = []

for (const { name, code, caller = callerWith, request = requestOf, except = [] } of CAUSES)
  test(`${name}: each route answers with the error`, async () => {
    const { customerId, secret } = await caller()
    const errors: string[] = []
    for (const path of PATHS) {
      const answer = await ask(gateway.node.baseUrl, path, { secret, ...request(path) })
      const error = errorOf(answer)
      if (!except.includes(path)) assert.match(String(error), new RegExp(` ${code}$`), path)
      if (error !== undefined) errors.push(error)
    }
    answered.push({ name, customerId, errors })
  })

test('of each of these causes, each route has counted its answer once', async () => {
  assert.equal(answered.length, CAUSES.length)
  for (const { customerId, errors } of answered) await untilCounted(customerId, tally(errors))
})

test('each failure of an upstream counts once on each route of chats, plain and streamed', async () => {
  const { customerId, secret } = await callerWith()
  const errors: string[] = []
  for (const model of [
    'sandbox-error-400',
    'sandbox-error-429',
    'sandbox-error-500',
    'sandbox-error-503',
  ])
    for (const path of ['/chat/completions', '/messages', '/responses'])
      for (const isStream of [false, true]) {
        const request = requestOf(path, { model, isStream })
        const error = errorOf(await ask(gateway.node.baseUrl, path, { secret, ...request }))
        assert.ok(error, `${model} ${path}`)
        errors.push(error)
      }
  await untilCounted(customerId, tally(errors))
})

test('a stream that breaks after its beginning is a charged call, and no refusal', async () => {
  const { customerId, secret } = await callerWith()
  const request = requestOf('/chat/completions', { model: 'sandbox-cut-stream', isStream: true })
  const broken = await ask(gateway.node.baseUrl, '/chat/completions', { secret, ...request })
  assert.equal(broken.status, 200)
  await ask(gateway.node.baseUrl, '/chat/completions', {
    secret,
    ...requestOf('/chat/completions', { model: 'nenhum' }),
  })
  await untilCounted(customerId, { '404 model_not_found': 1 })
})

test('calls beyond the limit of their key count, from the first that needs no query on', async () => {
  await avoidMinuteEnd()
  const { customerId, secret } = await callerWith({ requestsPerMinute: 2 })
  const errors: string[] = []
  for (let each = 0; each < 3; each++)
    for (const path of PATHS) {
      const answer = await ask(gateway.node.baseUrl, path, { secret, ...requestOf(path) })
      const error = errorOf(answer)
      if (error !== undefined) errors.push(error)
    }
  assert.deepEqual(Object.keys(tally(errors)), ['429 api_key_rate_limited'])
  await untilCounted(customerId, tally(errors))
})

test('the run of a prompt and the call of a login session count for the key that they name', async () => {
  const { db } = gateway.database
  const { customerId, keyId, secret } = await callerWith({ balanceBrl: '0' })
  const { baseUrl } = gateway.node
  const prompt = await ask(baseUrl, '/me/prompts', {
    secret,
    body: { name: 'Saudação', body: 'Oi' },
  })
  const run = await ask(baseUrl, `/me/prompts/${prompt.json.id}/run`, {
    secret,
    body: { api_key: secret, model: 'sandbox-chat' },
  })
  assert.equal(run.status, 402, run.text)
  const session = await openSession({ db, dataDir: gateway.node.dataDir }, customerId)
  const request = requestOf('/chat/completions')
  const called = await ask(baseUrl, '/chat/completions', {
    secret: session,
    ...request,
    headers: { 'x-svc-api-key-id': keyId },
  })
  assert.equal(called.status, 402, called.text)
  await untilCounted(customerId, { '402 insufficient_balance': 2 })
})

test('a million names of models are one row: no text of a client is stored', async () => {
  const { customerId, secret } = await callerWith()
  const calls = effort({ ordinary: 300, full: 20_000 })
  for (let at = 0; at < calls; at += 50)
    await Promise.all(
      Array.from({ length: Math.min(50, calls - at) }, (_, place) =>
        ask(gateway.node.baseUrl, '/chat/completions', {
          secret,
          ...requestOf('/chat/completions', { model: `modelo-${at + place}-${randomUUID()}` }),
        }),
      ),
    )
  await untilCounted(customerId, { '404 model_not_found': calls })
  const rows = await gateway.database.db
    .selectFrom('usage_refusals')
    .select(['model_id', 'hour_at'])
    .where('customer_id', '=', customerId)
    .execute()
  assert.ok(rows.every(({ model_id: model }) => model === null))
  assert.equal(rows.length, new Set(rows.map(({ hour_at: hour }) => hour.getTime())).size)
})

test('calls without a recognised key count for nobody', async () => {
  const before = await sql<{
    rows: bigint
  }>`select sum(refusals) as rows from usage_refusals`.execute(gateway.database.db)
  for (const path of PATHS)
    for (const secret of [undefined, 'sk-svc-nenhuma'])
      assert.equal(
        (await ask(gateway.node.baseUrl, path, { secret, ...requestOf(path) })).status,
        401,
      )
  // Counted after them, and so written with or after them.
  const { customerId, secret } = await callerWith({ balanceBrl: '0' })
  await ask(gateway.node.baseUrl, '/embeddings', { secret, ...requestOf('/embeddings') })
  await untilCounted(customerId, { '402 insufficient_balance': 1 })
  const after = await sql<{
    rows: bigint
  }>`select sum(refusals) as rows from usage_refusals`.execute(gateway.database.db)
  assert.equal(Number(after.rows[0]?.rows), Number(before.rows[0]?.rows) + 1)
})

test('two nodes that end together have counted each of their refusals', async () => {
  const { databaseUrl } = gateway.database
  const { customerId, secret } = await callerWith({ balanceBrl: '0' })
  const nodes = [await startLocalNode({ databaseUrl }), await startLocalNode({ databaseUrl })]
  try {
    const request = requestOf('/embeddings')
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, place) =>
        ask((nodes[place % 2] as LocalNode).baseUrl, '/embeddings', { secret, ...request }),
      ),
    )
    assert.ok(answers.every(({ status }) => status === 402))
    await Promise.all(nodes.map((node) => node.stop()))
    assert.deepEqual(await countedOf(customerId), { '402 insufficient_balance': 60 })
  } finally {
    for (const node of nodes) {
      await node.stop()
      await node.remove()
    }
  }
})
