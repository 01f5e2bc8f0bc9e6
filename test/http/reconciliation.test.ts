/** The operator's report over HTTP: who may read it, and how a difference is explained. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createLog } from '../../src/platform/lib/log.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { recordFindings } from '../../src/money/reconciliation/discrepancies.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { BY_OPERATOR, ask } from '../harness/ask.ts'
import { seedTeam } from '../harness/seed-team.ts'
import { seedTopUp } from '../harness/seed-top-up.ts'
import { openOperatorSession } from '../harness/open-session.ts'
import { startGateway } from '../harness/gateway.ts'

const ADMIN_EMAIL = 'operadora@example.com'

const gateway = await startGateway({ ADMIN_EMAILS: ADMIN_EMAIL })
after(() => gateway.stop())
const { db } = gateway.database
const { baseUrl } = gateway.node
const silent = createLog('silent', () => {})

const { customerId: adminId } = await seedCustomer(db, { balanceBrl: '0' })
const admin = {
  customerId: adminId,
  secret: await openOperatorSession({ db, dataDir: gateway.node.dataDir }, adminId, ADMIN_EMAIL),
}

const report = (query = '', secret: string | undefined = admin.secret) =>
  ask(baseUrl, `/admin/reconciliation${query}`, { secret })
const explain = (id: string, body: unknown, secret: string | undefined = admin.secret) =>
  ask(baseUrl, `/admin/reconciliation/differences/${id}/explain`, { secret, body })

const topUpId = createId()
const OF_PAYMENT = {
  subject: `top_up:${topUpId}`,
  processor: 'asaas',
  processorPaymentId: 'pay_1',
  topUpId,
}
const PAID_HERE = {
  kind: 'paid_here_only',
  oursNanoBrl: 50_000_000_001n,
  theirsNanoBrl: 0n,
} as const
const OF_COST = { subject: 'upstream:2026-10-01:openai', upstreamId: 'openai', day: '2026-10-01' }
const COST = { kind: 'upstream_cost', oursPicoUsd: 1n, theirsPicoUsd: 3_000_000_000_000n } as const

test('only an admin reads the report and explains discrepancies, and a refused caller changes nothing', async () => {
  await recordFindings(db, OF_PAYMENT, [PAID_HERE], silent)
  const { id } = (await report()).json.differences[0]
  for (const [secret, status] of [
    [gateway.secret, 403],
    ['sk-svc-nobody', 401],
  ] as const) {
    assert.equal((await report('', secret)).status, status)
    assert.equal((await explain(id, { explanation: 'nada' }, secret)).status, status)
  }
  assert.equal((await report()).json.differences[0].status, 'open')
})

test('discrepancies of payments and costs are listed with exact amounts, and summed by status', async () => {
  await recordFindings(db, OF_COST, [COST], silent)
  const answer = await report('?days=1')
  assert.equal(answer.status, 200, answer.text)
  const { days, payments, sums, differences } = answer.json
  assert.equal(days, 1)
  assert.deepEqual(payments, { is_current: false, last_finished_at: null, last_run: null })
  assert.match(answer.text, /"ours_brl":50\.000000001,"theirs_brl":0,/)
  assert.match(answer.text, /"difference_usd":-2\.999999999999,/)
  assert.deepEqual(
    differences.map((one: { kind: string; topup_id: unknown; upstream: unknown }) => [
      one.kind,
      one.topup_id,
      one.upstream,
    ]),
    [
      ['upstream_cost', null, 'openai'],
      ['paid_here_only', topUpId, null],
    ],
  )
  assert.equal(sums.open.count, 2)
  assert.match(
    answer.text,
    /"open":\{"count":2,"difference_brl":50\.000000001,"difference_usd":2\.999999999999\}/,
  )
  for (const days of ['0', '366', '1.5', 'x']) {
    const { status, json } = await report(`?days=${days}`)
    assert.deepEqual([status, json.error], [400, 'invalid_request'], days)
  }
  assert.equal((await report()).json.days, 35)
  assert.equal((await report('?days=365')).status, 200)
})

test('an explanation is in the audit log; a resolved or unknown discrepancy cannot be explained', async () => {
  const { differences } = (await report()).json
  const { id } = differences.find((one: { kind: string }) => one.kind === 'paid_here_only')
  for (const explanation of ['ab', 'x'.repeat(501), 'com \u0000', undefined])
    assert.equal((await explain(id, { explanation })).json.error, 'invalid_request')
  const explanation = 'transferido à mão em 3 de outubro'
  const answer = await explain(id, { explanation })
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(
    [answer.json.status, answer.json.explanation, answer.json.explained_by],
    ['explained', explanation, 'admin'],
  )
  const acts = await db
    .selectFrom('audit_log')
    .select(['actor_id', 'subject_id', 'details'])
    .where('action', '=', 'reconciliation_difference.explained')
    .execute()
  assert.deepEqual(acts, [
    {
      actor_id: admin.customerId,
      subject_id: id,
      details: { kind: 'paid_here_only', explanation },
    },
  ])
  await recordFindings(db, OF_PAYMENT, [], silent)
  const gone = await explain(id, { explanation })
  assert.deepEqual([gone.status, gone.json.error], [409, 'difference_gone'])
  for (const unknown of [createId(), 'none']) {
    const { status, json } = await explain(unknown, { explanation })
    assert.deepEqual([status, json.error], [404, 'difference_not_found'])
  }
})

test('no operator explains a difference of a payment to their own account, nor to one whose team they belong to', async () => {
  const { customerId: friendId } = await seedCustomer(db, { balanceBrl: '0' })
  const { customerId: strangerId } = await seedCustomer(db, { balanceBrl: '0' })
  const member = { team_id: await seedTeam(db, friendId), customer_id: adminId } as const
  await db
    .insertInto('team_members')
    .values({ ...member, role: 'member' })
    .execute()
  const explanation = 'foi pago por fora'
  for (const [customerId, status] of [
    [adminId, 403],
    [friendId, 403],
    [strangerId, 200],
  ] as const) {
    const own = await seedTopUp(db, { customerId, cents: 5_000 })
    await recordFindings(db, { ...OF_PAYMENT, subject: own, topUpId: own }, [PAID_HERE], silent)
    const found = (await report()).json.differences.find(
      ({ topup_id }: { topup_id: string }) => topup_id === own,
    )
    const answer = await explain(found.id, { explanation })
    assert.equal(answer.status, status, answer.text)
    if (status !== 403) continue
    assert.equal(answer.json.error, 'own_account')
    const after = (await report()).json.differences
    assert.ok(
      after.some(
        (one: { id: string; status: string }) => one.id === found.id && one.status === 'open',
      ),
    )
  }
})

test('the number of open discrepancies is a metric of every node', async () => {
  const origin = new URL(baseUrl).origin
  assert.match(
    await (await fetch(`${origin}/metrics`, BY_OPERATOR)).text(),
    /^catraca_reconciliation_open_discrepancies \d+$/m,
  )
})
