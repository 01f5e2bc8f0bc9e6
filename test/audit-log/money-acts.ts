import assert from 'node:assert/strict'
import { OPERATOR, type Actor } from '../../src/platform/audit-log/audited.ts'
import type { Database } from '../../src/platform/db/open.ts'
import {
  approveAdjustment,
  rejectAdjustment,
  requestAdjustment,
} from '../../src/money/ledger/adjustments.ts'
import { creditByHand } from '../../src/money/ledger/credit-by-hand.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { NANO_PER_BRL } from '../../src/platform/lib/money.ts'
import {
  deleteAutomaticTopUp,
  saveAutomaticTopUp,
} from '../../src/money/payments/automatic-top-ups.ts'
import { createTopUp } from '../../src/money/payments/create-top-up.ts'
import { addPaymentMethod, deletePaymentMethod } from '../../src/money/payments/payment-methods.ts'
import type { Processor } from '../../src/money/payments/processor.ts'
import {
  approveRefund,
  endManualParts,
  rejectRefund,
} from '../../src/money/payments/refunds/decide-refund.ts'
import { requestRefund } from '../../src/money/payments/refunds/request-refund.ts'
import { grantTrialCredit } from '../../src/money/payments/trial-credit/grant-trial-credit.ts'
import { seedPayer } from '../harness/payer.ts'
import { seedPaidTopUp } from '../harness/seed-paid-top-up.ts'
import { seedCustomer } from '../harness/test-database.ts'
import type { SeededPerson } from '../harness/seed-person.ts'
import type { ActInTest } from './act-in-test.ts'

const key = Buffer.alloc(32, 3)

/** Knows every payer, and fails the test when it is asked for a payment. */
const processor = {
  id: 'asaas',
  ensureCustomer: async () => ({ kind: 'customer', customer: { id: 'cus_1' } }),
  createPayment: () => assert.fail('a payment was asked for'),
} as unknown as Processor

/** Acts on balances, top-ups, refunds and cards. */
export async function moneyActs(db: Database, person: SeededPerson): Promise<ActInTest[]> {
  const { customerId } = person
  const customer: Actor = { kind: 'customer', customerId }
  const [requester, decider] = [
    await seedCustomer(db, { balanceBrl: '0' }),
    await seedCustomer(db, { balanceBrl: '0' }),
  ]
  const decidedBy = decider.customerId
  const adjustment = () =>
    ({
      customerId,
      kind: 'credit',
      amountNanoBrl: NANO_PER_BRL,
      reason: 'teste',
      reference: createId(),
      requestedBy: requester.customerId,
    }) as const
  const pending = await requestAdjustment(db, OPERATOR, {
    ...adjustment(),
    approvalAboveNanoBrl: 0n,
  })
  assert.ok(pending.kind === 'requested')
  const decision = { id: pending.adjustment.id, decidedBy }
  const { id: cardId } = await db
    .selectFrom('payment_methods')
    .select('id')
    .where('customer_id', '=', customerId)
    .executeTakeFirstOrThrow()
  const refund = async () => {
    const topUpId = await seedPaidTopUp(db, { customerId, cents: 2_000, daysAgo: 10 })
    return { customerId, topUpId, amountNanoBrl: 20n * NANO_PER_BRL, reason: 'teste' }
  }
  const asked = await requestRefund(db, customer, { ...(await refund()), reviewAboveNanoBrl: 0n })
  assert.ok(asked.kind === 'requested')
  const { id: refundId } = asked.refund
  const { refund_id: manualId } = await db
    .selectFrom('refund_parts')
    .select('refund_id')
    .where('is_manual', '=', true)
    .where('status', '=', 'waiting')
    .executeTakeFirstOrThrow()
  const another = await refund()
  const newcomer = await seedPayer(db, '39053344705')
  const trial = { amountNanoBrl: NANO_PER_BRL, dailyNanoBrl: 100n * NANO_PER_BRL }
  return [
    {
      action: 'trial_credit.granted',
      table: 'trial_credits',
      run: () => {
        const request = { customerId: newcomer.customerId, ip: '192.0.2.1', deviceIds: ['d'] }
        return grantTrialCredit(db, customer, request, trial, { current: key })
      },
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
      action: 'adjustment.posted',
      table: 'ledger_entries',
      run: () =>
        requestAdjustment(db, OPERATOR, { ...adjustment(), approvalAboveNanoBrl: NANO_PER_BRL }),
    },
    {
      action: 'adjustment.requested',
      table: 'adjustments',
      run: () => requestAdjustment(db, OPERATOR, { ...adjustment(), approvalAboveNanoBrl: 0n }),
    },
    {
      action: 'adjustment.approved',
      table: 'ledger_entries',
      run: () => approveAdjustment(db, OPERATOR, decision),
    },
    {
      action: 'adjustment.rejected',
      table: 'adjustments',
      run: () => rejectAdjustment(db, OPERATOR, decision),
    },
    {
      action: 'topup.created',
      table: 'top_ups',
      run: () =>
        createTopUp(db, customer, processor, {
          customerId,
          payer: { ourId: customerId, name: 'Ana', email: 'ana@example.com', taxId: '52998224725' },
          amountNanoBrl: 20n * NANO_PER_BRL,
          method: 'pix',
        }),
    },
    {
      action: 'automatic_topup.changed',
      table: 'automatic_top_ups',
      run: () =>
        saveAutomaticTopUp(db, customer, {
          customerId,
          isEnabled: true,
          thresholdNanoBrl: NANO_PER_BRL,
          amountNanoBrl: 20n * NANO_PER_BRL,
          paymentMethodId: cardId,
          monthlyLimitNanoBrl: null,
          remoteIp: '127.0.0.1',
        }),
    },
    {
      action: 'automatic_topup.deleted',
      table: 'automatic_top_ups',
      run: () => deleteAutomaticTopUp(db, customer, { customerId }),
    },
    {
      action: 'payment_method.added',
      table: 'payment_methods',
      run: () =>
        addPaymentMethod(db, customer, key, {
          customerId,
          processorId: 'asaas',
          token: 'tok_1',
          brand: 'VISA',
          lastFour: '1111',
          holderName: 'ANA',
          expiryMonth: 12,
          expiryYear: 2099,
        }),
    },
    {
      action: 'payment_method.deleted',
      table: 'payment_methods',
      run: () => deletePaymentMethod(db, customer, { customerId, id: cardId }),
    },
    {
      action: 'refund.requested',
      table: 'refunds',
      run: () => requestRefund(db, customer, { ...another, reviewAboveNanoBrl: 0n }),
    },
    {
      action: 'refund.approved',
      table: 'refunds',
      run: () => approveRefund(db, OPERATOR, { refundId }),
    },
    {
      action: 'refund.rejected',
      table: 'ledger_entries',
      run: () => rejectRefund(db, OPERATOR, { refundId, note: 'não' }),
    },
    {
      action: 'refund.transferred',
      table: 'refund_parts',
      run: () => endManualParts(db, OPERATOR, { refundId: manualId, end: 'done' }),
    },
    {
      action: 'refund.not_transferred',
      table: 'ledger_entries',
      run: () => endManualParts(db, OPERATOR, { refundId: manualId, end: 'failed' }),
    },
  ]
}
