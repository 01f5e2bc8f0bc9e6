/** An act and its row of the audit log are one transaction: neither is there without the other. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { OPERATOR } from '../../src/audit-log/audited.ts'
import { changeKey, createKey, revokeKey } from '../../src/customers/key-acts.ts'
import { savePreferences } from '../../src/customers/preferences.ts'
import { registerCustomer } from '../../src/customers/register-customer.ts'
import { setFxRate } from '../../src/fx/fx-rates.ts'
import { openIncident, resolveIncident, updateIncident } from '../../src/health/incidents.ts'
import { creditByHand } from '../../src/ledger/credit-by-hand.ts'
import { createId } from '../../src/lib/ids.ts'
import { createLog } from '../../src/lib/log.ts'
import { createTopUp } from '../../src/payments/create-top-up.ts'
import type { Processor } from '../../src/payments/processor.ts'
import { explainDiscrepancy, recordFindings } from '../../src/reconciliation/discrepancies.ts'
import { importUpstreamCosts } from '../../src/reconciliation/upstream-costs.ts'
import { createTestDatabase, seedCustomer } from '../harness/test-database.ts'

const database = await createTestDatabase()
const { db } = database
after(() => database.drop())
await sql`
  create function refuse_at_commit() returns trigger language plpgsql as $$
  begin raise exception 'refused at commit'; end $$`.execute(db)

const { customerId, key } = await seedCustomer(db, { balanceBrl: '0' })
const incident = {
  title: 'Lento',
  message: 'Está lento.',
  severity: 'minor',
  vendors: [],
  modelIds: [],
} as const
/** Opened by the test, before the audit log or the table refuses anything. */
const openedId = await openIncident(db, OPERATOR, incident)
const silent = createLog('silent', () => {})
await recordFindings(
  db,
  { subject: 'upstream x 2026-01-01', upstreamId: 'x', day: '2026-01-01' },
  [{ kind: 'upstream_cost', oursPicoUsd: 1n, theirsPicoUsd: 2n }],
  silent,
)
const { id: differenceId } = await db
  .selectFrom('reconciliation_discrepancies')
  .select('id')
  .executeTakeFirstOrThrow()

/** Knows every payer, and fails the test when it is asked for a payment. */
const processor = {
  id: 'asaas',
  ensureCustomer: async () => ({ kind: 'customer', customer: { id: 'cus_1' } }),
  createPayment: () => assert.fail('a payment was asked for'),
} as unknown as Processor

interface ActInTest {
  readonly action: string
  /** A table that the act writes. */
  readonly table: string
  readonly run: () => Promise<unknown>
}

const acts: readonly ActInTest[] = [
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
    run: () => explainDiscrepancy(db, OPERATOR, { id: differenceId, explanation: 'arredondado' }),
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
        rateE4: 50_000n,
        rateDate: '2026-01-02',
        source: 'manual',
        note: undefined,
      }),
  },
  {
    action: 'customer.created',
    table: 'customers',
    run: () => registerCustomer(db, OPERATOR, { name: 'Ana' }),
  },
  {
    action: 'preferences.changed',
    table: 'customers',
    run: () =>
      savePreferences(db, OPERATOR, { customerId, change: { weekly_digest_enabled: false } }),
  },
  {
    action: 'account.credited',
    table: 'ledger_entries',
    run: () =>
      creditByHand(db, OPERATOR, {
        customerId,
        amountNanoBrl: 1n,
        reason: 'adjustment',
        reference: createId(),
      }),
  },
  {
    action: 'api_key.created',
    table: 'api_keys',
    run: () => createKey(db, OPERATOR, { customerId, name: 'nova', requestsPerMinute: 1 }),
  },
  {
    action: 'api_key.changed',
    table: 'api_keys',
    run: () =>
      changeKey(db, OPERATOR, {
        customerId,
        keyId: key.id,
        change: { name: 'outra' },
        fields: ['name'],
      }),
  },
  {
    action: 'api_key.revoked',
    table: 'api_keys',
    run: () => revokeKey(db, OPERATOR, { keyId: key.id }),
  },
  {
    action: 'topup.created',
    table: 'top_ups',
    run: () =>
      createTopUp(db, { kind: 'customer', customerId }, processor, {
        customerId,
        payer: { ourId: customerId, name: 'Ana', email: 'ana@example.com', taxId: '52998224725' },
        amountNanoBrl: 20_000_000_000n,
        method: 'pix',
      }),
  },
]

async function readRows(table: string): Promise<string[]> {
  const { rows } = await sql<{ row: string }>`
    select t::text as row from ${sql.table(table)} t order by 1`.execute(db)
  return rows.map(({ row }) => row)
}

for (const { action, table, run } of acts) {
  test(`${action}: without its audit row the act does not happen`, async () => {
    const before = [await readRows(table), await readRows('audit_log'), await readRows('events')]
    await sql`alter table audit_log add constraint closed check (action <> ${sql.lit(action)}) not valid`.execute(
      db,
    )
    try {
      await assert.rejects(run, /closed/)
    } finally {
      await sql`alter table audit_log drop constraint closed`.execute(db)
    }
    const rest = [await readRows(table), await readRows('audit_log'), await readRows('events')]
    assert.deepEqual(rest, before)
  })

  test(`${action}: an act that fails leaves no audit row`, async () => {
    const before = [await readRows(table), await readRows('audit_log'), await readRows('events')]
    await sql`
      create constraint trigger refuse after insert or update or delete on ${sql.table(table)}
      deferrable initially deferred for each row execute function refuse_at_commit()`.execute(db)
    try {
      await assert.rejects(run, /refused at commit/)
    } finally {
      await sql`drop trigger refuse on ${sql.table(table)}`.execute(db)
    }
    const rest = [await readRows(table), await readRows('audit_log'), await readRows('events')]
    assert.deepEqual(rest, before)
  })
}

test('an act that changes nothing leaves no audit row', async () => {
  const before = await readRows('audit_log')
  const id = createId()
  assert.equal(await updateIncident(db, OPERATOR, { id, message: 'x' }), 'incident_not_found')
  assert.equal(await revokeKey(db, OPERATOR, { keyId: id }), 'key_not_found')
  const unknown = await registerCustomer(db, OPERATOR, { name: 'Bia', referralCode: 'ZZZZZZZZ' })
  assert.deepEqual(unknown, { kind: 'code_not_found' })
  assert.deepEqual(await readRows('audit_log'), before)
  const bias = (await readRows('customers')).filter((row) => row.includes('Bia'))
  assert.deepEqual(bias, [], 'without its referrer no customer is made')
})
