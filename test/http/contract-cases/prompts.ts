import { seedCustomer } from '../../harness/test-database.ts'
import { ask } from '../../harness/ask.ts'
import type { TestGateway } from '../../harness/gateway.ts'
import type { ContractCases } from './contract-case.ts'

const PROMPT = { name: 'Saudação', body: 'Olá, {{nome}}!', default_model: 'sandbox-chat' }
const NONE = '00000000-0000-7000-8000-000000000000'

export async function createCases(gateway: TestGateway): Promise<ContractCases> {
  const { secret } = gateway
  const made = await ask(gateway.node.baseUrl, '/me/prompts', { secret, body: PROMPT })
  const poor = await seedCustomer(gateway.database.db, { balanceBrl: '0' })
  const poorPrompt = await ask(gateway.node.baseUrl, '/me/prompts', {
    secret: poor.secret,
    body: PROMPT,
  })
  const narrow = await seedCustomer(gateway.database.db, { balanceBrl: '1', modelIds: ['gpt-4o'] })
  const narrowPrompt = await ask(gateway.node.baseUrl, '/me/prompts', {
    secret: narrow.secret,
    body: PROMPT,
  })
  const path = `/me/prompts/${made.json.id}`
  const none = `/me/prompts/${NONE}`
  const run = { api_key: secret, values: { nome: 'Ana' } }
  const runOf = (id: string): string => `/me/prompts/${id}/run`

  return {
    'GET /me/prompts': [
      {},
      { path: '/me/prompts?limit=1&q=sauda&tag=x' },
      { path: '/me/prompts?cursor=x', status: 400 },
      { isAnonymous: true, status: 401 },
    ],
    'POST /me/prompts': [
      { body: { ...PROMPT, tags: ['a'], description: 'x' }, status: 201 },
      { body: { name: 'x' }, status: 400 },
      { body: PROMPT, isAnonymous: true, status: 401 },
    ],
    'GET /me/prompts/{id}': [
      { path },
      { path: none, status: 404 },
      { path, isAnonymous: true, status: 401 },
    ],
    'PATCH /me/prompts/{id}': [
      { path, body: { body: 'Oi, {{nome}}!', change_note: 'Mais curto' } },
      { path, body: { body: '' }, status: 400 },
      { path: none, body: {}, status: 404 },
    ],
    'GET /me/prompts/{id}/versions': [
      { path: `${path}/versions` },
      { path: `${path}/versions?limit=1` },
      { path: `${path}/versions?limit=0`, status: 400 },
      { path: `${none}/versions`, status: 404 },
    ],
    'POST /me/prompts/{id}/clone': [
      { path: `${path}/clone`, status: 201 },
      { path: `${none}/clone`, status: 404 },
    ],
    'POST /me/prompts/{id}/run': [
      { path: `${path}/run`, body: run },
      { path: `${path}/run`, body: { ...run, values: {} }, status: 400 },
      { path: `${path}/run`, body: run, isAnonymous: true, status: 401 },
      {
        path: runOf(poorPrompt.json.id),
        body: { ...run, api_key: poor.secret },
        secret: poor.secret,
        status: 402,
      },
      {
        path: runOf(narrowPrompt.json.id),
        body: { ...run, api_key: narrow.secret },
        secret: narrow.secret,
        status: 403,
      },
      { path: `${path}/run`, body: { ...run, api_key: 'sk-none' }, status: 404 },
      { path: `${path}/run`, body: { ...run, model: 'none' }, status: 404 },
      { path: `${none}/run`, body: run, status: 404 },
      { path: `${path}/run`, body: { ...run, model: 'sandbox-error-429' }, status: 429 },
      { path: `${path}/run`, body: { ...run, model: 'sandbox-error-500' }, status: 502 },
      { path: `${path}/run`, body: { ...run, model: 'sandbox-error-503' }, status: 503 },
    ],
    'GET /me/prompts/{id}/runs': [
      { path: `${path}/runs` },
      { path: `${path}/runs?limit=101`, status: 400 },
      { path: `${none}/runs`, status: 404 },
    ],
    'DELETE /me/prompts/{id}': [{ path }, { path, status: 404 }],
  }
}
