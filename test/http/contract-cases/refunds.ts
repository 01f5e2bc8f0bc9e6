import { SYSTEM } from '../../../src/platform/audit-log/audited.ts'
import { NANO_PER_BRL } from '../../../src/platform/lib/money.ts'
import { createId } from '../../../src/platform/lib/ids.ts'
import { requestRefund } from '../../../src/money/payments/refunds/request-refund.ts'
import { seedPaidTopUp } from '../../harness/seed-paid-top-up.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import type { TestGateway } from '../../harness/gateway.ts'
import { seedAdmin } from './seed-admin.ts'
import type { ContractCases } from './contract-case.ts'

export async function createCases(gateway: TestGateway): Promise<ContractCases> {
  const { database } = gateway
  const { db } = database
  const { customerId, secret } = await seedCustomer(db, { balanceBrl: '0' })
  const admin = await seedAdmin(gateway)
  const topUpId = await seedPaidTopUp(db, { customerId, cents: 10_000 })
  const old = await seedCustomer(db, { balanceBrl: '0' })
  await seedPaidTopUp(db, { customerId: old.customerId, cents: 10_000, daysAgo: 30 })
  // Boletos, so that no worker completes the refunds; above the limit, so that an operator decides on them.
  await seedPaidTopUp(db, {
    customerId: old.customerId,
    cents: 400_000,
    daysAgo: 20,
    method: 'boleto',
  })
  const refund = async (reviewAboveNanoBrl: bigint): Promise<string> => {
    const asked = await db.transaction().execute((trx) =>
      requestRefund(trx, SYSTEM, {
        customerId: old.customerId,
        amountNanoBrl: 600n * NANO_PER_BRL,
        topUpId: undefined,
        reason: 'não preciso mais',
        reviewAboveNanoBrl,
      }),
    )
    if (asked.kind !== 'requested') throw new Error(asked.kind)
    return asked.refund.id
  }
  const [toApprove, toReject] = [await refund(0n), await refund(0n)]
  const toComplete = await refund(1_000n * NANO_PER_BRL)
  const gone = `/admin/refunds/${createId()}`
  return {
    'POST /me/refunds': [
      { body: { amount: 10 }, secret, status: 201 },
      { body: { topup_id: topUpId, reason: 'engano' }, secret, status: 201 },
      { body: {}, secret, status: 409 },
      { body: { amount: 4.99 }, secret: old.secret, status: 400 },
      { body: { amount: 0.001 }, secret, status: 400 },
      { body: { topup_id: createId() }, secret, status: 404 },
      { isAnonymous: true, body: {}, status: 401 },
    ],
    'GET /me/refunds': [
      { secret },
      { path: '/me/refunds?limit=1', secret: old.secret },
      { path: '/me/refunds?limit=0', secret, status: 400 },
      { isAnonymous: true, status: 401 },
    ],
    'GET /me/refunds/{id}': [
      { path: `/me/refunds/${toApprove}`, secret: old.secret },
      { path: `/me/refunds/${toApprove}`, secret, status: 404 },
    ],
    'GET /admin/refunds': [
      { secret: admin },
      { path: '/admin/refunds?status=requested&limit=1', secret: admin },
      { path: '/admin/refunds?status=new', secret: admin, status: 400 },
      { secret, status: 403 },
    ],
    'POST /admin/refunds/{id}/approve': [
      { path: `/admin/refunds/${toApprove}/approve`, secret: admin },
      { path: `/admin/refunds/${toApprove}/approve`, secret: admin, status: 409 },
      { path: `${gone}/approve`, secret: admin, status: 404 },
      { path: `/admin/refunds/${toApprove}/approve`, secret, status: 403 },
    ],
    'POST /admin/refunds/{id}/reject': [
      {
        path: `/admin/refunds/${toReject}/reject`,
        body: { note: 'Falta um documento.' },
        secret: admin,
      },
      { path: `/admin/refunds/${toReject}/reject`, body: {}, secret: admin, status: 400 },
      { path: `${gone}/reject`, body: { note: 'não' }, secret: admin, status: 404 },
    ],
    'POST /admin/refunds/{id}/complete': [
      {
        path: `/admin/refunds/${toComplete}/complete`,
        body: { outcome: 'done' },
        secret: admin,
      },
      {
        path: `/admin/refunds/${toComplete}/complete`,
        body: { outcome: 'failed' },
        secret: admin,
        status: 409,
      },
      { path: `${gone}/complete`, body: { outcome: 'done' }, secret: admin, status: 404 },
    ],
    'POST /admin/customers/{id}/suspend': [
      { path: `/admin/customers/${old.customerId}/suspend`, body: {}, secret: admin, status: 400 },
      {
        path: `/admin/customers/${old.customerId}/suspend`,
        body: { reason: 'teste' },
        secret: admin,
      },
      {
        path: `/admin/customers/${createId()}/suspend`,
        body: { reason: 'teste' },
        secret: admin,
        status: 404,
      },
      {
        path: `/admin/customers/${old.customerId}/suspend`,
        body: { reason: 'teste' },
        secret,
        status: 403,
      },
    ],
    'POST /admin/customers/{id}/reinstate': [
      { path: `/admin/customers/${old.customerId}/reinstate`, secret: admin },
      { path: '/admin/customers/nobody/reinstate', secret: admin, status: 404 },
    ],
  }
}
