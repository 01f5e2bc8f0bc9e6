import type { Database } from '../../platform/db/open.ts'
import { findUsagePeriod, type UsagePeriod } from '../../money/usage/find-usage-period.ts'
import { dayInQuery } from '../rest/values.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'

export const periodQuery = {
  from: dayInQuery('Primeiro dia (AAAA-MM-DD), no fuso do cliente.'),
  to: dayInQuery('Último dia (AAAA-MM-DD), incluído; sem ele, até agora.'),
}

/** Returns the period that a request asks for. Throws a 400 if the period ends before it begins. */
export async function askedPeriod(
  db: Database,
  customerId: string,
  asked: { from?: string | undefined; to?: string | undefined },
): Promise<UsagePeriod> {
  const period = await findUsagePeriod(db, customerId, asked)
  if (period.from > period.to)
    throw new RestRefusal(
      400,
      'invalid_request',
      'from: não pode ser depois de to, que é hoje quando falta',
    )
  return period
}
