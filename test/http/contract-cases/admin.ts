/** Of operators; what they do is in `admin-accounts.test.ts` and `admin-service.test.ts`. */
import { createId } from '../../../src/platform/lib/ids.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import type { TestGateway } from '../../harness/gateway.ts'
import { addOperatorsThings } from '../isolation-cases/add-operators-things.ts'
import type { ContractCase, ContractCases } from './contract-case.ts'
import { seedAdmin } from './seed-admin.ts'

const DAY_MS = 86_400_000

const ROUTED = { routes: [{ upstream: 'sandbox', model: 'gpt-4.1-mini' }] }

export async function createCases(gateway: TestGateway): Promise<ContractCases> {
  const { db } = gateway.database
  const secret = await seedAdmin(gateway)
  const poor = await seedCustomer(db, { balanceBrl: '10' })
  const { gone, off } = await addWebhooks(gateway)
  const { customerId } = gateway
  const requestedBy = poor.customerId
  const things = await addOperatorsThings(gateway.database, {
    customerId,
    requestedBy,
    modelId: 'gpt-4o',
  })
  const byAdmin = (cases: readonly ContractCase[]): ContractCase[] =>
    cases.map((one) => ({ secret, ...one }))
  return Object.fromEntries(
    Object.entries({
      ...accountCases({ customerId, poorId: poor.customerId, keyId: poor.key.id, ...things }),
      ...modelCases(things.markupChange),
      ...upstreamCases(),
      ...incidentCases(things.incident),
      'GET /admin/webhooks/in-trouble': [
        {},
        { path: '/admin/webhooks/in-trouble?limit=201', status: 400 },
      ],
      'POST /admin/webhooks/{id}/enable': [
        { path: `/admin/webhooks/${gone}/enable` },
        { path: `/admin/webhooks/${off}/enable`, status: 409 },
        { path: '/admin/webhooks/x/enable', status: 404 },
      ],
      'GET /admin/health': [{}],
      'GET /admin/overview': [{}],
      ...moneyCases(),
      'GET /admin/margins': [
        {},
        { path: '/admin/margins?from=2026-02-01&to=2026-02-28' },
        { path: '/admin/margins?from=2026-02-01&to=2026-01-01', status: 400 },
      ],
      'GET /admin/mails/in-trouble': [
        {},
        { path: '/admin/mails/in-trouble?cursor=x', status: 400 },
      ],
    }).map(([name, cases]) => [
      name,
      [...byAdmin(cases), { ...cases[0], secret: gateway.secret, status: 403 }],
    ]),
  )
}

function accountCases({
  customerId,
  poorId,
  keyId,
  adjustment,
  otherAdjustment,
  note,
}: {
  customerId: string
  poorId: string
  keyId: string
  adjustment: string
  otherAdjustment: string
  note: string
}): ContractCases {
  const body = {
    customer_id: customerId,
    kind: 'credit',
    amount_brl: 1.23,
    reason: 'cortesia',
    reference: 'contrato-1',
  }
  const of = (id: string, act: string): string => `/admin/adjustments/${id}/${act}`
  return {
    'GET /admin/customers': [{}, { path: '/admin/customers?q=ab', status: 400 }],
    'GET /admin/customers/{id}': [
      { path: `/admin/customers/${customerId}` },
      { path: `/admin/customers/${poorId}` },
      { path: `/admin/customers/${createId()}`, status: 404 },
    ],
    'GET /admin/customers/{id}/notes': [
      { path: `/admin/customers/${customerId}/notes` },
      { path: `/admin/customers/${customerId}/notes?limit=201`, status: 400 },
      { path: `/admin/customers/${createId()}/notes`, status: 404 },
    ],
    'POST /admin/customers/{id}/notes': [
      { path: `/admin/customers/${customerId}/notes`, body: { note: 'Ligou.' }, status: 201 },
      { path: `/admin/customers/${customerId}/notes`, body: { note: ' ' }, status: 400 },
      { path: '/admin/customers/x/notes', body: { note: 'Ligou.' }, status: 404 },
    ],
    'DELETE /admin/customers/{id}/notes/{noteId}': [
      { path: `/admin/customers/${customerId}/notes/${note}` },
      { path: `/admin/customers/${customerId}/notes/${note}`, status: 404 },
    ],
    'POST /admin/customers/{id}/second-factor/reset': [
      { path: `/admin/customers/${customerId}/second-factor/reset`, body: { reason: 'motivo' } },
      { path: `/admin/customers/${customerId}/second-factor/reset`, body: {}, status: 400 },
      { path: '/admin/customers/x/second-factor/reset', body: { reason: 'motivo' }, status: 404 },
    ],
    'POST /admin/api-keys/{id}/pause': [
      { path: `/admin/api-keys/${keyId}/pause` },
      { path: '/admin/api-keys/x/pause', status: 404 },
    ],
    'POST /admin/api-keys/{id}/resume': [
      { path: `/admin/api-keys/${keyId}/resume` },
      { path: '/admin/api-keys/x/resume', status: 404 },
    ],
    'POST /admin/adjustments': [
      { body, status: 201 },
      { body: { ...body, kind: 'promotional_credit', reference: 'contrato-2' }, status: 201 },
      { body: { ...body, amount_brl: 1.234 }, status: 400 },
      { body: { ...body, customer_id: createId(), reference: 'contrato-3' }, status: 404 },
      { body: { ...body, amount_brl: 2 }, status: 409 },
      {
        body: { ...body, customer_id: poorId, kind: 'debit', amount_brl: 11, reference: 'c-4' },
        status: 409,
      },
    ],
    'GET /admin/adjustments': [
      {},
      { path: '/admin/adjustments?status=pending' },
      { path: `/admin/adjustments?customer_id=${customerId}` },
      { path: '/admin/adjustments?status=x', status: 400 },
    ],
    'POST /admin/adjustments/{id}/approve': [
      { path: of(adjustment, 'approve') },
      { path: of(adjustment, 'approve'), status: 409 },
      { path: of('x', 'approve'), status: 404 },
    ],
    'POST /admin/adjustments/{id}/reject': [
      { path: of(otherAdjustment, 'reject') },
      { path: of(otherAdjustment, 'reject'), status: 409 },
      { path: of('x', 'reject'), status: 404 },
    ],
  }
}

function moneyCases(): ContractCases {
  const rate = { rate: 5.5, reason: 'motivo' }
  const invoice = { upstream: 'sandbox', csv: 'day,cost_usd\n2026-01-02,1' }
  return {
    'POST /admin/fx-rates': [
      { body: rate, status: 201 },
      { body: { ...rate, rate: 99 }, status: 409 },
      { body: { ...rate, rate: 5.55555 }, status: 400 },
    ],
    'POST /admin/fx-rates/{id}/withdraw': [
      { path: '/admin/fx-rates/x/withdraw', body: { reason: 'motivo' }, status: 404 },
    ],
    'POST /admin/upstream-costs': [
      { body: invoice },
      { body: { ...invoice, csv: 'x' }, status: 400 },
      { body: { ...invoice, upstream: 'nenhum' }, status: 404 },
    ],
  }
}

function modelCases(markupChange: string): ContractCases {
  const body = { markup_multiplier: 1.1, reason: 'revisão' }
  const risen = { ...body, markup_multiplier: 2 }
  const starts_at = new Date(Date.now() + 30 * DAY_MS).toISOString()
  const of = (act: string, model = 'gpt-4.1'): string => `/admin/models/${model}/${act}`
  const update = (act: string, model = 'gpt-4.1'): string => `/admin/price-updates/${model}/${act}`
  return {
    'GET /admin/models': [{}],
    'POST /admin/service/pause': [
      { body: { reason: 'manutenção' } },
      { body: { reason: 'x' }, status: 400 },
    ],
    'POST /admin/service/resume': [{}],
    'PUT /admin/models/{id}': [
      { path: '/admin/models/gpt-4.1-mini', body: ROUTED },
      { path: '/admin/models/novo', body: ROUTED, status: 400 },
      { path: '/admin/models/gpt-4.1-mini', body: {}, status: 400 },
    ],
    'DELETE /admin/models/{id}': [
      { path: '/admin/models/gpt-4.1-mini' },
      { path: '/admin/models/gpt-4.1-mini', status: 404 },
    ],
    'POST /admin/models/{id}/markup': [
      { path: of('markup'), body, status: 201 },
      { path: of('markup'), body, status: 409 },
      { path: of('markup'), body: risen, status: 400 },
      { path: of('markup'), body: { ...risen, starts_at }, status: 201 },
      { path: of('markup', 'nenhum'), body, status: 404 },
    ],
    'POST /admin/markups': [
      { body: { ...body, vendor: 'nenhum' }, status: 404 },
      { body: { ...risen, vendor: null }, status: 400 },
      { body: { ...body, vendor: 'mistral' }, status: 201 },
      { body: { ...body, vendor: 'openai', markup_multiplier: 1.05 }, status: 409 },
    ],
    'DELETE /admin/models/{id}/markup/{changeId}': [
      { path: `/admin/models/gpt-4o/markup/${markupChange}` },
      { path: `/admin/models/gpt-4o/markup/${markupChange}`, status: 404 },
    ],
    'POST /admin/models/{id}/disable': [
      { path: of('disable'), body: { reason: 'manutenção' } },
      { path: of('disable'), body: {}, status: 400 },
      { path: of('disable', 'nenhum'), body: { reason: 'nenhum' }, status: 404 },
    ],
    'GET /admin/price-updates': [{}],
    'POST /admin/price-updates/{id}/approve': [
      { path: update('approve'), body: { difference: 'y' }, status: 409 },
      { path: update('approve'), body: {}, status: 400 },
      { path: update('approve'), body: { difference: 'x' } },
      { path: update('approve'), body: { difference: 'x' }, status: 404 },
    ],
    'POST /admin/price-updates/{id}/reject': [
      { path: update('reject', 'gpt-5'), body: { difference: 'x' } },
      { path: update('reject', 'gpt-5'), body: { difference: 'x' }, status: 404 },
    ],
    'POST /admin/models/{id}/enable': [
      { path: of('enable') },
      { path: of('enable', 'nenhum'), status: 404 },
    ],
  }
}

function upstreamCases(): ContractCases {
  const path = '/admin/upstreams/acrescentado'
  const body = { id: 'contrato', kind: 'vllm', base_url: 'https://llm.example/v1' }
  return {
    'GET /admin/upstreams': [{}],
    'POST /admin/upstreams': [
      { body, status: 201 },
      { body, status: 409 },
      { body: { ...body, kind: 'openai' }, status: 400 },
    ],
    'PATCH /admin/upstreams/{id}': [
      { path, body: { state: 'paused' } },
      { path, body: {}, status: 400 },
      { path: '/admin/upstreams/nenhum', body: { state: 'paused' }, status: 404 },
    ],
    'POST /admin/upstreams/{id}/test': [
      { path: '/admin/upstreams/contrato/test' },
      { path: '/admin/upstreams/nenhum/test', status: 404 },
    ],
    'DELETE /admin/upstreams/{id}': [{ path }, { path, status: 404 }],
  }
}

function incidentCases(incident: string): ContractCases {
  const path = `/admin/incidents/${incident}`
  return {
    'GET /admin/incidents': [{}, { path: '/admin/incidents?status=resolved', status: 400 }],
    'POST /admin/incidents': [
      { body: { title: 'Lentidão', message: 'Olhamos.', models: ['gpt-4o'] }, status: 201 },
      { body: { title: 'Lentidão', message: 'Olhamos.', models: ['nenhum'] }, status: 400 },
    ],
    'PATCH /admin/incidents/{id}': [
      { path, body: { severity: 'critical' } },
      { path, body: { status: 'resolved' } },
      { path, body: { message: 'De novo.' }, status: 409 },
      { path, body: {}, status: 400 },
      { path: '/admin/incidents/x', body: { message: 'Nada.' }, status: 404 },
    ],
  }
}

async function addWebhooks({
  database: { db },
  customerId,
}: TestGateway): Promise<{ gone: string; off: string }> {
  const [gone, off] = [createId(), createId()]
  const endpoint = {
    customer_id: customerId,
    url: 'https://hooks.example.com/',
    description: null,
    event_types: null,
    secret_sealed: Buffer.from('sealed'),
    disabled_at: new Date(),
    failing_since: null,
  }
  await db
    .insertInto('webhook_endpoints')
    .values([
      { ...endpoint, id: gone, disabled_reason: 'gone' },
      { ...endpoint, id: off, disabled_reason: 'customer' },
    ])
    .execute()
  return { gone, off }
}
