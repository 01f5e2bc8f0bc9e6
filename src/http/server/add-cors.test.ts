import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { addCors, type CorsOrigins } from './add-cors.ts'

const ORIGIN = 'https://chat.example.com'

async function ask(
  origins: CorsOrigins,
  path: string,
  headers: Record<string, string> = {},
  method: 'GET' | 'OPTIONS' = 'GET',
) {
  const server = Fastify()
  addCors(server, origins)
  server.get('/v1/models', () => 'models')
  server.get('/v1/chat/completions', () => 'chat')
  server.get('/v1/batches/x', () => 'batch')
  server.get('/v1/api-keys', () => 'keys')
  try {
    return await server.inject({ method, url: path, headers: { origin: ORIGIN, ...headers } })
  } finally {
    await server.close()
  }
}

const preflight = (origins: CorsOrigins, path: string, names = 'authorization, content-type') =>
  ask(
    origins,
    path,
    { 'access-control-request-method': 'POST', 'access-control-request-headers': names },
    'OPTIONS',
  )

test('a page of any origin may call models, without credentials', async () => {
  for (const path of [
    '/v1/chat/completions',
    '/v1/models?limit=5',
    '/v1beta/generateContent',
    '/v1/batches/x',
  ]) {
    const { headers } = await ask('*', path)
    assert.equal(headers['access-control-allow-origin'], '*')
    assert.match(String(headers['access-control-expose-headers']), /retry-after/)
    assert.equal(headers['access-control-allow-credentials'], undefined)
  }
  const asked = await preflight('*', '/v1/chat/completions', 'Authorization, x-stainless-os')
  assert.equal(asked.statusCode, 204)
  assert.equal(asked.headers['access-control-allow-headers'], 'authorization, x-stainless-os')
  assert.equal(asked.headers['access-control-allow-methods'], 'GET, POST, DELETE')
  assert.equal(asked.headers['access-control-allow-credentials'], undefined)
})

test('of configured origins only those may, and caches are told', async () => {
  for (const [origins, isAllowed] of [
    [[ORIGIN, 'https://other.example'], true],
    [['https://other.example'], false],
    [[`${ORIGIN}.evil.example`], false],
    [[], false],
  ] as const) {
    const answers = [
      await ask(origins, '/v1/models'),
      await preflight(origins, '/v1/chat/completions'),
    ]
    for (const { headers } of answers) {
      assert.equal(headers['access-control-allow-origin'], isAllowed ? ORIGIN : undefined)
      assert.equal(headers.vary, 'origin')
    }
  }
})

test('no other route is opened, nor one that a login session calls', async () => {
  for (const path of [
    '/v1/api-keys',
    '/v1/me/profile',
    '/auth/sign-in',
    '/',
    '/v1/modelsx',
    '/v1betax',
  ]) {
    const answers = [await ask('*', path), await preflight('*', path)]
    for (const { headers } of answers)
      assert.equal(headers['access-control-allow-origin'], undefined, path)
  }
  const withCookie = await ask('*', '/v1/chat/completions', { cookie: 'catraca.session_token=x' })
  assert.equal(withCookie.headers['access-control-allow-origin'], undefined)
  const ofSession = await preflight('*', '/v1/chat/completions', 'X-CSRF-Token,x-svc-api-key-id')
  assert.equal(ofSession.headers['access-control-allow-headers'], undefined)
})

test('a request without an origin is answered as ever', async () => {
  const { headers } = await ask('*', '/v1/models', { origin: '' })
  assert.equal(headers['access-control-allow-origin'], undefined)
})

test('names of headers are repeated only if they are names', async () => {
  const { headers } = await preflight('*', '/v1/models', `a b, x\u00e9, ${'y'.repeat(200)}, ok`)
  assert.equal(headers['access-control-allow-headers'], 'ok')
})
