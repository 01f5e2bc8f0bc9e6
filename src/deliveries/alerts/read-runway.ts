import type { Database } from '../../platform/db/open.ts'
import { findAccount } from '../../money/ledger/entries.ts'
import type { NanoBrl } from '../../platform/lib/money.ts'
import { estimateRunway, type Runway } from '../../money/usage/estimate-runway.ts'
import { sumUsageByModel } from '../../money/usage/sum-usage.ts'
import { addUp } from '../../money/usage/usage-windows.ts'

/** The default number of days from which the runway is estimated. */
export const RUNWAY_PERIOD_DAYS = 30

/** How long the balance lasts at the pace of the last days. */
export async function readRunway(
  db: Database,
  customerId: string,
  days: number = RUNWAY_PERIOD_DAYS,
): Promise<Runway & { readonly balanceNanoBrl: NanoBrl }> {
  const balanceNanoBrl = (await findAccount(db, customerId))?.balanceNanoBrl ?? 0n
  const spentNanoBrl = addUp(await sumUsageByModel(db, customerId, days)).costBilledNanoBrl
  return { balanceNanoBrl, ...estimateRunway(balanceNanoBrl, spentNanoBrl, days) }
}
