import { isSuspended } from '../../../customers/suspend-customer.ts'
import type { Database } from '../../../platform/db/open.ts'
import { findAccount } from '../../ledger/entries.ts'
import type { NanoBrl } from '../../../platform/lib/money.ts'
import type { TrialProgramme } from './grant-trial-credit.ts'

export interface TrialCredit {
  /** `offered`: it may still be refused, for example for a CPF that was used before. */
  readonly status: 'offered' | 'granted' | 'none'
  readonly amountNanoBrl: NanoBrl
  readonly grantedAt: Date | null
}

/** Returns the trial credit as the customer sees it. */
export async function findTrialCredit(
  db: Database,
  customerId: string,
  { amountNanoBrl }: TrialProgramme,
): Promise<TrialCredit> {
  const granted = await db
    .selectFrom('trial_credits')
    .select(['amount_nano_brl', 'granted_at'])
    .where('customer_id', '=', customerId)
    .executeTakeFirst()
  if (granted)
    return {
      status: 'granted',
      amountNanoBrl: granted.amount_nano_brl,
      grantedAt: granted.granted_at,
    }
  const account = amountNanoBrl > 0n ? await findAccount(db, customerId) : undefined
  return account?.creditedNanoBrl === 0n && !(await isSuspended(db, customerId))
    ? { status: 'offered', amountNanoBrl, grantedAt: null }
    : { status: 'none', amountNanoBrl: 0n, grantedAt: null }
}
