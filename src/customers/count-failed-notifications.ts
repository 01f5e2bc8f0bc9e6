import type { Database } from '../db/open.ts'

/** E-mails that could not be sent. */
export async function countFailedNotifications(db: Database, customerId: string): Promise<number> {
  const { count } = await db
    .selectFrom('notifications')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .where('customer_id', '=', customerId)
    .where('status', '=', 'failed')
    .executeTakeFirstOrThrow()
  return Number(count)
}
