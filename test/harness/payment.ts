import type { Payment } from '../../src/money/payments/processor.ts'

/** A received payment, as the processor reports it; `change` overrides fields. */
export function paymentInTest(
  { topUpId, amountCents }: { topUpId: string; amountCents: bigint },
  change: Partial<Payment> = {},
): Payment {
  const status = change.status ?? 'received'
  return {
    id: `pay_${topUpId}`,
    ourId: topUpId,
    processorCustomerId: 'cus_1',
    method: 'pix',
    status,
    processorStatus: status.toUpperCase(),
    hasBeenPaid: true,
    amountCents,
    netAmountCents: undefined,
    dueDate: undefined,
    refunds: [],
    refundedCents: 0n,
    card: undefined,
    pageUrl: undefined,
    boletoUrl: undefined,
    receiptUrl: undefined,
    ...change,
  }
}
