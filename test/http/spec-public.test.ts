/** What anybody may ask, and what nobody may without a key: over every operation that the service describes. */
import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { withClient } from '../harness/test-database.ts'
import { ask, sound } from '../harness/ask.ts'
import { assertHeaders, assertMessagesRefusal, assertRefusal } from '../harness/assert-answer.ts'
import { untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway } from '../harness/gateway.ts'
import { askForm, wav } from '../harness/media-calls.ts'
import { isModelCall, operationsOf, readOpenApi } from '../harness/operations.ts'

const gateway = await startGateway()
after(() => gateway.stop())
const { baseUrl } = gateway.node
const document = await readOpenApi(baseUrl)
const operations = [...operationsOf(document).values()]

test('models, rates, health, incidents, upstream health, images and public bills need no key; all other routes do', async () => {
  const open = operations.filter(({ described }) => !described.security).map(({ name }) => name)
  assert.deepEqual(open.sort(), [
    'GET /charge-chain',
    'GET /files/images/{id}',
    'GET /fx-rates',
    'GET /healthz',
    'GET /healthz/db',
    'GET /incidents/active',
    'GET /model-prices',
    'GET /model-speeds',
    'GET /models',
    'GET /models/{id}',
    'GET /public-bills/{token}',
    'GET /upstream-health',
    'POST /leaked-keys',
  ])
  for (const { method, path, described } of operations) {
    if (described.security || method !== 'GET') continue
    const answer = await ask(baseUrl, path.replace(/\{\w+\}/, 'none'))
    assert.ok([200, 404].includes(answer.status), path)
  }
})

test('without a key, or with a wrong one: 401 without a body on REST, authentication_failed on model calls', async () => {
  const guarded = operations.filter(({ described }) => described.security)
  assert.ok(guarded.length > 40)
  for (const operation of guarded) {
    const path = operation.path.replaceAll(/\{\w+\}/g, 'none')
    for (const secret of [undefined, 'sk-svc-none', `${gateway.secret}x`]) {
      const answer = await ask(baseUrl, path, { method: operation.method, secret })
      if (operation.path.startsWith('/messages')) {
        assertMessagesRefusal(answer, 401, 'authentication_failed')
      } else if (operation.path.startsWith('/responses')) {
        assertRefusal(answer, 401, 'authentication_failed')
      } else if (isModelCall(operation)) {
        assertRefusal(answer, 401, 'authentication_failed')
      } else {
        assert.deepEqual([answer.status, answer.text], [401, ''], operation.name)
        assertHeaders(answer, answer.requestId)
      }
    }
  }
})

test('an unknown image, model and path each have their code', async () => {
  for (const [path, error] of [
    ['/files/images/none', 'image_not_found'],
    ['/none', 'not_found'],
  ] as const) {
    const answer = await ask(baseUrl, path)
    assert.deepEqual([answer.status, answer.json.error], [404, error], path)
    assertHeaders(answer, answer.requestId)
  }
  // In the format of client libraries, which ask for models.
  assertRefusal(await ask(baseUrl, '/models/none'), 404, 'model_not_found')
})

test('every path is under /v1, and the description has version 1.0', async () => {
  assert.ok(baseUrl.endsWith('/v1'))
  assert.deepEqual(document.servers, [{ url: '/v1' }])
  assert.equal((document as unknown as { info: { version: string } }).info.version, '1.0')
  // Only the paths of model calls, and the catalog, are also found without it.
  for (const path of ['/model-prices', '/healthz', '/usage', '/api-keys'])
    assert.equal((await fetch(new URL(path, baseUrl))).status, 404, path)
})

test('the catalog has at least 27 models, of every category, each with its fields', async () => {
  const { json } = await ask(baseUrl, '/models')
  const own = json.models.filter(({ id }: any) => !id.startsWith('sandbox-'))
  assert.ok(own.length >= 27, `${own.length} models`)
  for (const model of json.models) {
    const { id, display_name, category, upstream, markup_multiplier, description } = model
    for (const text of [id, display_name, upstream]) assert.ok(text.length > 0, id)
    assert.ok(['llm', 'embedding', 'image', 'audio', 'video'].includes(category), id)
    assert.ok(markup_multiplier >= 1, id)
    assert.ok(description === null || description.length > 0, id)
    assert.equal(typeof model.available, 'boolean')
    assert.equal(Object.keys(model).length, 11)
  }
  for (const category of ['llm', 'embedding', 'image', 'audio', 'video', 'chat']) {
    const found = (await ask(baseUrl, `/models?category=${category}`)).json.models
    assert.ok(found.length > 0, category)
  }
})

test('500: an internal error has the proxy format, with the id to report, and nothing is charged', async () => {
  // Uploads have no place to go.
  const uploads = join(gateway.node.dataDir, 'uploads')
  await rm(uploads, { recursive: true, force: true })
  await writeFile(uploads, '')
  const answer = await askForm(baseUrl, gateway.secret, [['file', wav(2), 'fala.wav']])
  await rm(uploads)
  assertRefusal(answer, 500, 'internal_error')
  assert.match(answer.json.error.message, /x-request-id/)
  assert.equal(answer.headers.get('x-request-id'), answer.requestId)
  await untilNoHoldIsOpen(gateway.database)
  const { json } = await ask(baseUrl, '/usage', { secret: gateway.secret })
  assert.equal(json.balance.total_spent_brl, 0)
})

test('/healthz/db is 503 while the database is unreachable, and 200 afterwards', async () => {
  const { databaseUrl } = gateway.database
  const name = new URL(databaseUrl.replace('@/', '@placeholder/')).pathname.slice(1)
  const letIn = (isAllowed: boolean): Promise<unknown> =>
    withClient(process.env.TEST_DATABASE_URL as string, async (admin) => {
      await admin.query(`alter database ${name} allow_connections ${isAllowed}`)
      if (!isAllowed)
        await admin.query(
          'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
          [name],
        )
    })
  await letIn(false)
  try {
    const { status, json } = await ask(baseUrl, '/healthz/db')
    assert.equal(status, 503)
    assert.deepEqual(Object.keys(json).sort(), ['latency_ms', 'ok', 'timestamp'])
    assert.equal(json.ok, false)
    assert.ok(Number.isInteger(json.latency_ms))
    assert.equal(new Date(json.timestamp).toISOString(), json.timestamp)
    assert.equal((await ask(baseUrl, '/healthz')).status, 200, 'the service itself is there')
    const call = await ask(baseUrl, '/chat/completions', { secret: gateway.secret, body: sound() })
    assertRefusal(call, 503, 'service_unavailable')
  } finally {
    await letIn(true)
  }
  // A pooler that was refused lets its clients wait for a second before it tries again.
  for (const endMs = Date.now() + 30_000; ; await sleep(100)) {
    const { status, json } = await ask(baseUrl, '/healthz/db')
    if (status === 503 && Date.now() < endMs) continue
    assert.deepEqual([status, json.ok], [200, true])
    return
  }
})
