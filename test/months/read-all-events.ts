import type { EventArchive } from '../../src/platform/archive/event-archive.ts'
import { readUsage, type ReadUsageEvent } from '../../src/money/usage/read-usage.ts'
import type { History } from './build-history.ts'

/** All time. */
export const EVER = {
  timezone: 'America/Sao_Paulo',
  from: '1000-01-01',
  to: '2999-01-01',
  fromAt: '1000-01-01T00:00:00.000000Z',
  untilAt: '2999-01-01T00:00:00.000000Z',
}

/** What exports have of a customer, or of all customers of the history. */
export async function readAllEvents(
  { database, keys }: Pick<History, 'database' | 'keys'>,
  archive: EventArchive,
  customerIds: Iterable<string> = new Set(keys.map(({ customerId }) => customerId)),
): Promise<ReadUsageEvent[]> {
  const events: ReadUsageEvent[] = []
  for (const customerId of customerIds)
    for await (const batch of readUsage(database.db, customerId, EVER, archive))
      events.push(...batch)
  return events
}
