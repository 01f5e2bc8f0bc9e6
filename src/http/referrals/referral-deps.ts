import type { Database } from '../../platform/db/open.ts'
import type { ReferralProgramme } from '../../money/payments/referral-rewards/reward-due-referrals.ts'

export interface ReferralDeps {
  readonly db: Database
  /** The address at which customers reach this server; undefined: the host that each request names. */
  readonly publicUrl: string | undefined
  readonly referrals: ReferralProgramme
}
