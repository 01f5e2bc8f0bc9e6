import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import type { Database } from '../../platform/db/open.ts'
import { decimalBrl } from '../../platform/lib/money.ts'
import { credit, type EntryInput, type EntryOutcome } from './entries.ts'

/**
 * A credit that the operator enters; with the reason of a promotion, it grants one. The same reason and reference are
 * credited, and recorded, once.
 */
export function creditByHand(db: Database, actor: Actor, input: EntryInput): Promise<EntryOutcome> {
  return audited(db, actor, async (trx, record) => {
    const outcome = await credit(trx, input)
    if (outcome.kind === 'posted')
      await record({
        action: 'account.credited',
        customerId: input.customerId,
        subjectId: outcome.entryId,
        details: {
          amount_brl: decimalBrl(input.amountNanoBrl),
          reason: input.reason,
          reference: input.reference,
        },
      })
    return outcome
  })
}
