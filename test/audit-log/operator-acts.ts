import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { exportAuditLog } from '../../src/platform/audit-log/read-audit-log.ts'
import { disableModel, enableModel } from '../../src/money/catalog/disabled-models.ts'
import { deleteAddedModel, putAddedModel } from '../../src/money/catalog/added-models.ts'
import {
  addUpstream,
  changeUpstream,
  deleteUpstream,
  recordUpstreamTest,
} from '../../src/money/catalog/added-upstreams.ts'
import { setPrices, withdrawPrices } from '../../src/money/catalog/price-changes.ts'
import { approvePrice, rejectPrice } from '../../src/money/catalog/price-updates.ts'
import {
  cancelMarkup,
  scheduleMarkup,
  scheduleMarkups,
} from '../../src/money/catalog/markup-changes.ts'
import { deleteNote, writeNote } from '../../src/customers/customer-notes.ts'
import { nameCell } from '../../src/customers/cell.ts'
import { pauseService, resumeService } from '../../src/money/catalog/service-pause.ts'
import { rotateSecrets } from '../../src/app/rotate-secrets.ts'
import { pauseKeyByOperator, resumeKeyByOperator } from '../../src/customers/key-acts.ts'
import { registerCustomer } from '../../src/customers/register-customer.ts'
import { changeSuspension } from '../../src/customers/suspend-customer.ts'
import { viewCustomer, viewCustomers } from '../../src/customers/search-customers.ts'
import { claimMode } from '../../src/platform/db/claim-mode.ts'
import type { Database } from '../../src/platform/db/open.ts'
import { storeFxRate } from '../../src/money/fx/fx-rates.ts'
import { setFxRate, withdrawFxRate } from '../../src/money/fx/set-fx-rate.ts'
import {
  openIncident,
  resolveIncident,
  updateIncident,
} from '../../src/platform/health/incidents.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { explainDiscrepancy, recordFindings } from '../../src/money/reconciliation/discrepancies.ts'
import { importUpstreamCosts } from '../../src/money/reconciliation/upstream-costs.ts'
import { createWebhook } from '../../src/deliveries/webhooks/webhook-endpoints.ts'
import { testModel } from '../harness/open-test-ledger.ts'
import { seedCustomer } from '../harness/test-database.ts'
import type { ActInTest } from './act-in-test.ts'

const incident = {
  title: 'Lento',
  message: 'Está lento.',
  severity: 'minor',
  vendors: [],
  modelIds: [],
} as const
const markup = {
  markupE4: 11_000n,
  configuredE4: 12_000n,
  startsAt: undefined,
  reason: 'teste',
  noticeDays: 0,
} as const

function pricesOf(output: bigint) {
  const [tier] = testModel.price.tiers
  if (!tier) throw new Error('the model has no price')
  const price = { tiers: [{ ...tier, output, reasoning: output }] }
  return {
    models: [testModel],
    prices: [{ modelId: testModel.id, schedule: [{ price }] }],
    startsAt: undefined,
    note: undefined,
    isConfirmed: true,
    isDryRun: false,
  } as const
}

/** Acts on the service, its models, and accounts as a whole. */
export async function operatorActs(db: Database): Promise<ActInTest[]> {
  const { customerId, key } = await seedCustomer(db, { balanceBrl: '0' })
  const { key: pausedKey } = await seedCustomer(db, { balanceBrl: '0' })
  await pauseKeyByOperator(db, OPERATOR, { keyId: pausedKey.id })
  await claimMode(db, 'sandbox')
  await pauseService(db, OPERATOR, { reason: 'teste' })
  const { customerId: suspendedId } = await seedCustomer(db, { balanceBrl: '0' })
  await changeSuspension(db, OPERATOR, { customerId: suspendedId, reason: 'teste' })
  const openedId = await openIncident(db, OPERATOR, incident)
  const discrepancyId = await seedDiscrepancy(db)
  await disableModel(db, OPERATOR, { modelId: 'off', reason: 'teste' })
  const startsAt = new Date(Date.now() + 86_400_000)
  const scheduled = await scheduleMarkup(db, OPERATOR, { ...markup, modelId: 'due', startsAt })
  if (scheduled.kind !== 'scheduled') throw new Error(scheduled.kind)
  const rate = { rateE4: 50_000n, bulletinAt: null, source: 'manual' }
  await storeFxRate(db, { ...rate, rateDate: '2026-01-01' })
  const { id: slipId } = await storeFxRate(db, { ...rate, rateDate: '2026-01-03' })
  const priced = await setPrices(db, OPERATOR, pricesOf(2_000_000n))
  if (priced.kind !== 'set') throw new Error(priced.kind)
  const entry = { provider: 'openai', model: { id: 'new', match: { equals: 'new' }, prices: {} } }
  for (const model_id of ['new', 'dearer'])
    await db
      .insertInto('price_differences')
      .values({ model_id, difference: 'x', kind: 'new', entry: JSON.stringify(entry) })
      .execute()
  const terms = { models: [], noticeDays: 7 }
  const [previous, current] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const webhook = { customerId, url: 'https://hooks.example.com', description: null }
  const keys = { current: previous }
  const upstream = { kind: 'deepseek', baseUrl: null, apiKey: 'sk-of-a-provider' }
  await addUpstream(db, OPERATOR, { ...upstream, id: 'changed' }, keys)
  await addUpstream(db, OPERATOR, { ...upstream, id: 'gone' }, keys)
  const put = (id: string, routes: { upstream: string; model: string }[]) =>
    putAddedModel(db, OPERATOR, {
      entry: { id, routes },
      written: testModel,
      known: undefined,
      noticeDays: 0,
    })
  for (const id of ['changed', 'gone']) await put(id, [])
  await createWebhook(db, OPERATOR, previous, { ...webhook, eventTypes: null })
  const written = await writeNote(db, OPERATOR, { customerId, writtenBy: customerId, note: 'a' })
  const noteId = written?.id ?? ''
  return [
    {
      action: 'customer.note_deleted',
      table: 'customer_notes',
      run: () => deleteNote(db, OPERATOR, { customerId, id: noteId }),
    },
    {
      action: 'customer.noted',
      table: 'customer_notes',
      run: () => writeNote(db, OPERATOR, { customerId, writtenBy: customerId, note: 'teste' }),
    },
    {
      action: 'incident.opened',
      table: 'incidents',
      run: () => openIncident(db, OPERATOR, incident),
    },
    {
      action: 'incident.updated',
      table: 'incident_updates',
      run: () => updateIncident(db, OPERATOR, { id: openedId, message: 'Ainda.' }),
    },
    {
      action: 'incident.resolved',
      table: 'incidents',
      run: () => resolveIncident(db, OPERATOR, { id: openedId }),
    },
    {
      action: 'reconciliation_difference.explained',
      table: 'reconciliation_discrepancies',
      run: () =>
        explainDiscrepancy(db, OPERATOR, { id: discrepancyId, explanation: 'arredondado' }),
    },
    {
      action: 'upstream_costs.imported',
      table: 'upstream_costs',
      run: () =>
        importUpstreamCosts(db, OPERATOR, {
          upstreamId: 'x',
          costs: [{ day: '2026-01-02', model: 'm', costPicoUsd: 1n }],
          format: 'test',
        }),
    },
    {
      action: 'fx_rate.set',
      table: 'fx_rates',
      run: () =>
        setFxRate(db, OPERATOR, {
          mode: 'live',
          rateE4: 50_000n,
          rateDate: '2026-01-02',
          note: undefined,
          isConfirmed: false,
        }),
    },
    {
      action: 'fx_rate.withdrawn',
      table: 'fx_rates',
      run: () => withdrawFxRate(db, OPERATOR, { mode: 'live', id: slipId, note: undefined }),
    },
    {
      action: 'model.prices_set',
      table: 'price_changes',
      run: () => setPrices(db, OPERATOR, pricesOf(3_000_000n)),
    },
    {
      action: 'model.prices_withdrawn',
      table: 'price_changes',
      run: () =>
        withdrawPrices(db, OPERATOR, { id: priced.effects[0]?.id as number, note: undefined }),
    },
    {
      action: 'model.added',
      table: 'price_differences',
      run: () => approvePrice(db, OPERATOR, { modelId: 'new', difference: 'x' }, terms),
    },
    {
      action: 'model.price_rejected',
      table: 'price_differences',
      run: () => rejectPrice(db, OPERATOR, { modelId: 'dearer', difference: undefined }),
    },
    {
      action: 'model.disabled',
      table: 'disabled_models',
      run: () => disableModel(db, OPERATOR, { modelId: 'on', reason: 'teste' }),
    },
    {
      action: 'model.enabled',
      table: 'disabled_models',
      run: () => enableModel(db, OPERATOR, { modelId: 'off' }),
    },
    {
      action: 'model.markup_scheduled',
      table: 'markup_changes',
      run: () => scheduleMarkup(db, OPERATOR, { ...markup, modelId: 'other' }),
    },
    {
      action: 'model.markups_scheduled',
      table: 'markup_changes',
      run: () =>
        scheduleMarkups(db, OPERATOR, {
          ...markup,
          models: [{ modelId: 'one of all', configuredE4: 12_000n }],
          vendor: null,
        }),
    },
    {
      action: 'model.entry_added',
      table: 'added_models',
      run: () => put('new', []),
    },
    {
      action: 'model.entry_changed',
      table: 'added_models',
      run: () => put('changed', [{ upstream: 'changed', model: 'm' }]),
    },
    {
      action: 'model.entry_deleted',
      table: 'added_models',
      run: () => deleteAddedModel(db, OPERATOR, { id: 'gone' }),
    },
    {
      action: 'upstream.added',
      table: 'upstreams',
      run: () => addUpstream(db, OPERATOR, { ...upstream, id: 'new' }, keys),
    },
    {
      action: 'upstream.changed',
      table: 'upstreams',
      run: () =>
        changeUpstream(db, OPERATOR, { id: 'changed', apiKey: undefined, state: 'paused' }, keys),
    },
    {
      action: 'upstream.tested',
      table: 'audit_log',
      run: () => recordUpstreamTest(db, OPERATOR, { id: 'changed' }),
    },
    {
      action: 'upstream.deleted',
      table: 'upstreams',
      run: () => deleteUpstream(db, OPERATOR, { id: 'gone' }),
    },
    {
      action: 'model.markup_canceled',
      table: 'markup_changes',
      run: () => cancelMarkup(db, OPERATOR, { modelId: 'due', id: scheduled.change.id }),
    },
    {
      action: 'cell.named',
      table: 'installation',
      run: () => nameCell(db, OPERATOR, 'b'),
    },
    {
      action: 'service.paused',
      table: 'service_pause',
      run: () =>
        db.transaction().execute(async (trx) => {
          await trx.deleteFrom('service_pause').execute()
          await pauseService(trx, OPERATOR, { reason: 'teste' })
        }),
    },
    {
      action: 'service.resumed',
      table: 'service_pause',
      run: () => resumeService(db, OPERATOR),
    },
    {
      action: 'api_key.paused',
      table: 'api_keys',
      run: () => pauseKeyByOperator(db, OPERATOR, { keyId: key.id }),
    },
    {
      action: 'api_key.resumed',
      table: 'api_keys',
      run: () => resumeKeyByOperator(db, OPERATOR, { keyId: pausedKey.id }),
    },
    {
      action: 'customer.created',
      table: 'customers',
      run: () => registerCustomer(db, OPERATOR, { name: 'Ana' }),
    },
    {
      action: 'customer.suspended',
      table: 'customers',
      run: () => changeSuspension(db, OPERATOR, { customerId, reason: 'teste' }),
    },
    {
      action: 'customer.reinstated',
      table: 'customers',
      run: () => changeSuspension(db, OPERATOR, { customerId: suspendedId, reason: undefined }),
    },
    {
      action: 'customers.listed',
      table: 'audit_log',
      run: () => viewCustomers(db, OPERATOR, { text: undefined, after: undefined, limit: 1 }),
    },
    {
      action: 'customer.viewed',
      table: 'audit_log',
      run: () => viewCustomer(db, OPERATOR, { id: customerId }),
    },
    {
      action: 'audit_log.exported',
      table: 'audit_log',
      run: () => exportAuditLog(db, OPERATOR, { from: undefined, to: undefined, rowsMax: 1 }),
    },
    {
      action: 'secrets.rotated',
      table: 'webhook_endpoints',
      run: () => rotateSecrets(db, OPERATOR, { previous, current }),
    },
  ]
}

async function seedDiscrepancy(db: Database): Promise<string> {
  await recordFindings(
    db,
    { subject: 'upstream x 2026-01-01', upstreamId: 'x', day: '2026-01-01' },
    [{ kind: 'upstream_cost', oursPicoUsd: 1n, theirsPicoUsd: 2n }],
    createLog('silent', () => {}),
  )
  const { id } = await db
    .selectFrom('reconciliation_discrepancies')
    .select('id')
    .executeTakeFirstOrThrow()
  return id
}
