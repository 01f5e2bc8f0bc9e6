import { createId } from '../../../src/platform/lib/ids.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import { ask } from '../../harness/ask.ts'
import type { TestGateway } from '../../harness/gateway.ts'
import type { ContractCase, ContractCases } from './contract-case.ts'

const OTLP = {
  kind: 'otlp',
  url: 'https://otlp.example.com',
  headers: { authorization: 'Bearer x' },
}
const LANGFUSE = {
  kind: 'langfuse',
  url: 'https://langfuse.example.com',
  public_key: 'pk-lf-1',
  secret_key: 'sk-lf-1',
}

export async function createCases({ database, node, secret }: TestGateway): Promise<ContractCases> {
  const call = async (path: string, options: { secret: string; method?: string; body?: object }) =>
    (await ask(node.baseUrl, path, options)).json
  const full = await seedCustomer(database.db, { balanceBrl: '0' })
  for (let n = 0; n < 3; n++) await call('/usage/destinations', { secret: full.secret, body: OTLP })
  const { id } = await call('/usage/destinations', { secret, body: OTLP })
  const off = await call('/usage/destinations', { secret, body: OTLP })
  await call(`/usage/destinations/${off.id}`, {
    secret,
    method: 'PATCH',
    body: { is_enabled: false },
  })
  const anonymous: ContractCase = { isAnonymous: true, status: 401 }
  const missing = (rest: string): ContractCase[] => [
    { path: `/usage/destinations/${createId()}${rest}`, status: 404 },
    { path: `/usage/destinations/nenhum${rest}`, status: 404 },
    { path: `/usage/destinations/${createId()}${rest}`, ...anonymous },
  ]
  return {
    'GET /usage/destinations': [{}, anonymous],
    'POST /usage/destinations': [
      { body: LANGFUSE, status: 201 },
      { body: {}, status: 400 },
      { body: { ...OTLP, kind: 'nada' }, status: 400 },
      { body: { ...OTLP, url: 'https://127.0.0.1/' }, status: 400 },
      { body: { ...OTLP, headers: { host: 'x' } }, status: 400 },
      { body: OTLP, secret: full.secret, status: 409 },
      { body: OTLP, ...anonymous },
    ],
    'GET /usage/destinations/{id}': [{ path: `/usage/destinations/${id}` }, ...missing('')],
    'PATCH /usage/destinations/{id}': [
      { path: `/usage/destinations/${id}`, body: { includes_content: true } },
      { path: `/usage/destinations/${id}`, body: {} },
      { path: `/usage/destinations/${id}`, body: { url: 'https://b.example.com' }, status: 400 },
      ...missing('').map((given) => ({ ...given, body: {} })),
    ],
    'POST /usage/destinations/{id}/test': [
      { path: `/usage/destinations/${id}/test` },
      { path: `/usage/destinations/${off.id}/test`, status: 409 },
      ...missing('/test'),
    ],
    'DELETE /usage/destinations/{id}': [{ path: `/usage/destinations/${off.id}` }, ...missing('')],
  }
}
