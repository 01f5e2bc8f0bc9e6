/** `GET /statement` and its PDF, against sums that the tests make themselves. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { credit, debit, findAccount } from '../../src/money/ledger/entries.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { decimalBrl, parseBrl } from '../../src/platform/lib/money.ts'
import { ask } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { exactJson } from './exact-json.ts'

let gateway: TestGateway

before(async () => {
  gateway = await startGateway()
})
after(() => gateway.stop())

interface Owner {
  readonly customerId: string
  readonly secret: string
  readonly keyId: string
}

async function createOwner(timezone: string): Promise<Owner> {
  const { db } = gateway.database
  const { customerId, key, secret } = await seedCustomer(db, { balanceBrl: '0' })
  await db.updateTable('customers').set({ timezone }).where('id', '=', customerId).execute()
  await db
    .insertInto('profiles')
    .values({
      customer_id: customerId,
      full_name: 'Padaria São João Ltda',
      tax_id: '11222333000181',
    })
    .execute()
  return { customerId, secret, keyId: key.id }
}

/** Posts an entry as if at another time; a debit has a minus. */
async function move(
  { customerId }: Owner,
  reason: string,
  amountBrl: string,
  at: string,
): Promise<void> {
  const { db } = gateway.database
  const reference = createId()
  const amountNanoBrl = parseBrl(amountBrl.replace('-', '')) as bigint
  const post = amountBrl.startsWith('-') ? debit : credit
  const { kind } = await post(db, { customerId, amountNanoBrl, reason, reference })
  assert.equal(kind, 'posted')
  await sql`update ledger_entries set created_at = ${at}::timestamptz where reference = ${reference}`.execute(
    db,
  )
}

function use({ customerId, keyId }: Owner, costs: readonly (readonly [string, bigint])[]) {
  const events = costs.map(([at, billed]) => ({
    at,
    billed,
    modelId: 'gpt-4o',
    promptTokens: 1,
    completionTokens: 1,
  }))
  return seedUsage(gateway.database.db, { customerId, apiKeyId: keyId, events })
}

async function statementOf({ secret }: Owner, month?: string): Promise<any> {
  const query = month === undefined ? '' : `?month=${month}`
  const { status, text } = await ask(gateway.node.baseUrl, `/statement${query}`, { secret })
  assert.equal(status, 200, text)
  return exactJson(text)
}

const nano = (text: string): bigint => {
  const isNegative = text.startsWith('-')
  const value = parseBrl(text.replace('-', '')) as bigint
  return isNegative ? -value : value
}

for (const timezone of ['America/Sao_Paulo', 'Asia/Kolkata', 'Pacific/Kiritimati'])
  test(`a month begins with the balance of the one before, adds up, and the last ends with the account's, in ${timezone}`, async () => {
    const owner = await createOwner(timezone)
    await move(owner, 'top_up', '300.01', '2026-01-10T12:00:00Z')
    await move(owner, 'trial', '5', '2026-01-31T18:45:00Z')
    await move(owner, 'refund', '-50.005', '2026-02-01T02:59:59.999999Z')
    await move(owner, 'refund_failed', '50.005', '2026-02-01T03:00:00Z')
    await move(owner, 'adjustment', '-1.5', '2026-03-31T23:59:59.999999Z')
    await move(owner, 'chargeback', '-20', '2026-04-01T00:00:00Z')
    await use(owner, [
      ['2026-01-15T00:00:00Z', 1n],
      ['2026-01-31T18:15:00Z', 1_234_567_891n],
      ['2026-01-31T18:59:59.999999Z', 20n],
      ['2026-02-28T23:30:00Z', 3_000_000_007n],
      ['2026-03-31T18:30:00Z', 999_999_999n],
      ['2026-04-01T02:59:59.999999Z', 400n],
    ])
    let closing = '0'
    let moved = 0n
    for (const month of ['2025-12', '2026-01', '2026-02', '2026-03', '2026-04', '2026-05']) {
      const found = await statementOf(owner, month)
      assert.equal(found.month, month)
      assert.equal(nano(found.opening_balance_brl), nano(closing), month)
      closing = found.closing_balance_brl
      const [opening, toppedUp, credits, spent, refunded, debits] = [
        found.opening_balance_brl,
        found.total_topped_up_brl,
        found.total_other_credits_brl,
        found.total_spent_brl,
        found.total_refunded_brl,
        found.total_other_debits_brl,
      ].map(nano) as [bigint, bigint, bigint, bigint, bigint, bigint]
      assert.equal(opening + toppedUp + credits - spent - refunded - debits, nano(closing), month)
      const listed = found.movements.map((each: any) => nano(each.amount_brl))
      const sum = listed.reduce((total: bigint, each: bigint) => total + each, 0n)
      assert.equal(sum, toppedUp + credits - refunded - debits, month)
      moved += sum
      assert.equal(found.movements_left_out, '0')
    }
    const account = await findAccount(gateway.database.db, owner.customerId)
    assert.equal(nano(closing), account?.balanceNanoBrl)
    assert.equal(moved - 5_234_568_318n, account?.balanceNanoBrl)
    assert.equal((await statementOf(owner)).closing_balance_brl, decimalBrl(nano(closing)))
  })

test("a month is one of the customer's zone", async () => {
  const owner = await createOwner('America/Sao_Paulo')
  await move(owner, 'top_up', '100', '2026-03-01T02:59:59Z')
  await move(owner, 'top_up', '10', '2026-03-01T03:00:00Z')
  await use(owner, [
    ['2026-03-01T02:59:59Z', 2_000_000_000n],
    ['2026-03-01T03:00:00Z', 30_000_000n],
  ])
  const february = await statementOf(owner, '2026-02')
  assert.deepEqual(
    [february.total_topped_up_brl, february.total_spent_brl, february.closing_balance_brl],
    ['100', '2', '98'],
  )
  assert.deepEqual(
    [february.from_at, february.until_at],
    ['2026-02-01T03:00:00.000Z', '2026-03-01T03:00:00.000Z'],
  )
  const { headers, text } = await ask(gateway.node.baseUrl, '/statement.pdf?month=2026-03', {
    secret: owner.secret,
  })
  assert.equal(headers.get('content-type'), 'application/pdf')
  for (const part of [
    'Extrato de 03/2026',
    'Padaria São João Ltda, 11.222.333/0001-81',
    'R$\u00a098,00',
    '-R$\u00a00,03',
    'R$\u00a0107,97',
    '01/03/2026 00:00  Recarga',
  ])
    assert.ok(text.includes(Buffer.from(part, 'latin1').toString('hex')), part)
})
