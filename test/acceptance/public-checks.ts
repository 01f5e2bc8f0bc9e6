/** What needs no key, and that everything else does. */
import { checkRefused, type Context } from './context.ts'

const MODEL = {
  id: 'text',
  display_name: 'string',
  category: "'llm' or 'image' or 'video' or 'embedding' or 'audio'",
  upstream: 'string',
  markup_multiplier: 'number',
  description: 'string or null',
}
const CATEGORIES = ['llm', 'image', 'video', 'embedding', 'audio', 'chat']

export async function checkPublic(context: Context): Promise<void> {
  const { checks, stranger } = context
  const { status, json } = await stranger('/models')
  checks.equal('GET /models: status', status, 200)
  checks.is('GET /models: 27 or more', json.models.length >= 27, json.models.length)
  const ids = json.models.map(({ id }: { id: string }) => id)
  checks.equal('GET /models: each id once', new Set(ids).size, ids.length)
  for (const model of json.models) {
    checks.shape(`model ${model.id}`, model, MODEL)
    checks.shape(`model ${model.id}`, model, { available: 'boolean' })
    checks.is(`model ${model.id}: markup above 0`, model.markup_multiplier > 0)
  }
  for (const category of CATEGORIES) {
    const listed = (await stranger(`/models?category=${category}`)).json.models
    const wanted = category === 'chat' ? 'llm' : category
    const own = json.models.filter((model: { category: string }) => model.category === wanted)
    checks.equal(`GET /models?category=${category}`, listed, own)
    checks.is(`GET /models?category=${category}: not empty`, listed.length > 0)
  }
  const wrong = await stranger('/models?category=chats')
  checkRefused(context, 'GET /models?category=chats', wrong, 400, 'invalid_request')

  const health = await stranger('/healthz')
  checks.equal('GET /healthz', [health.status, health.json.status], [200, 'ok'])
  const database = await stranger('/healthz/db')
  checks.equal('GET /healthz/db: status', [database.status, database.json.ok], [200, true])
  const shape = { ok: 'boolean', latency_ms: 'integer', timestamp: 'date-time' }
  checks.shape('GET /healthz/db', database.json, shape)
  const incidents = await stranger('/incidents/active')
  checks.equal('GET /incidents/active: status', incidents.status, 200)
  checks.is('GET /incidents/active: a list', Array.isArray(incidents.json.incidents))
  const upstreams = await stranger('/upstream-health')
  checks.equal('GET /upstream-health: status', upstreams.status, 200)
  checks.is('GET /upstream-health: a list', Array.isArray(upstreams.json.providers))
  const description = await stranger('/openapi.json')
  checks.equal('the API description has version 1.0', description.json.info.version, '1.0')
  checks.is('every address is under /v1', context.server.base.endsWith('/v1'))
  await checkClosed(context)
}

const UUID = '00000000-0000-4000-8000-000000000000'
const OF_ME = [
  'usage-summary',
  'dashboard-stats',
  'runway',
  'notifications',
  'export',
  'recommendations',
  'profile',
  'referrals',
  'teams',
  'alerts',
  'refunds',
  'sessions',
  'sessions/x',
  'prompts',
  `prompts/${UUID}`,
  `prompts/${UUID}/versions`,
  `prompts/${UUID}/runs`,
]
const REST = [
  '/usage',
  '/usage/export.csv',
  '/usage/export.json',
  '/usage/by-key',
  '/usage/rate-limit',
  '/admin/audit-log/export.csv',
  ...OF_ME.map((name) => `/me/${name}`),
]
const REST_WRITES = [
  ['PUT', '/me/profile'],
  ['PUT', '/me/preferences'],
  ['POST', '/me/teams'],
  ['POST', '/me/alerts'],
  ['POST', '/me/refunds'],
  ['POST', '/me/prompts'],
  ['PATCH', `/me/prompts/${UUID}`],
  ['DELETE', `/me/prompts/${UUID}`],
  ['POST', `/me/prompts/${UUID}/clone`],
  ['POST', `/me/prompts/${UUID}/run`],
  ['POST', '/api-keys/bulk-revoke'],
  ['DELETE', `/api-keys/${UUID}`],
  ['POST', `/webhooks/${UUID}/rotate-secret`],
  ['POST', `/webhooks/attempts/${UUID}/replay`],
  ['POST', '/payment-methods'],
  ['DELETE', `/payment-methods/${UUID}`],
  ['POST', '/topups'],
] as const
const MODEL_CALLS = [
  '/chat/completions',
  '/embeddings',
  '/images/generations',
  '/audio/transcriptions',
]

async function checkClosed(context: Context): Promise<void> {
  const { checks, stranger } = context
  for (const key of [undefined, 'sk-svc-wrong']) {
    const title = key ? 'with a wrong key' : 'without a key'
    for (const path of REST) {
      const { status, text } = await stranger(path, { key })
      checks.equal(`GET ${path} ${title}: 401 without a body`, [status, text], [401, ''])
    }
    for (const [method, path] of REST_WRITES) {
      const { status, text } = await stranger(path, { key, method, body: {} })
      checks.equal(`${method} ${path} ${title}: 401 without a body`, [status, text], [401, ''])
    }
    for (const path of MODEL_CALLS) {
      const answer = await stranger(path, { key, body: {} })
      checkRefused(context, `POST ${path} ${title}`, answer, 401, 'authentication_failed')
    }
  }
  const basic = { headers: { authorization: 'Basic abc' } }
  const answer = await stranger('/chat/completions', { ...basic, body: {} })
  checkRefused(context, 'another scheme', answer, 401, 'authentication_failed')
  const token = await stranger('/inbound/payments/asaas', { body: {} })
  checkRefused(context, 'an inbound payment without the token', token, 401, 'invalid_token')
  const signed = await stranger('/inbound/auth', { body: {} })
  checkRefused(context, 'an inbound message without a signature', signed, 401, 'invalid_signature')
}
