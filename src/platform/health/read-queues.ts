import { sql } from 'kysely'
import type { Database } from '../db/open.ts'

export const QUEUES = [
  'events',
  'webhook_attempts',
  'mails',
  'processor_events',
  'usage_destinations',
] as const

export interface QueueState {
  readonly name: (typeof QUEUES)[number]
  /** All open items, including those that are not due yet. */
  readonly waiting: number
  readonly due: number
  /** When the longest overdue item became due. */
  readonly oldestDueAt: Date | null
}

/**
 * Returns the work queues that all nodes share. Each count reads a partial index of open items only, or a table of few
 * rows for each customer.
 */
export async function readQueues(db: Database): Promise<QueueState[]> {
  const queue = (name: QueueState['name'], waiting: ReturnType<typeof sql>) => sql`
    select ${name}::text as name, count(*)::int4 as waiting,
      (count(*) filter (where due_at <= now()))::int4 as due,
      min(due_at) filter (where due_at <= now()) as "oldestDueAt"
    from ${waiting}`
  const { rows } = await sql<QueueState>`
    ${queue('events', sql`events where dispatched_at is null`)}
    union all ${queue('webhook_attempts', sql`webhook_attempts where status = 'queued'`)}
    union all ${queue('mails', sql`mails`)}
    union all ${queue('processor_events', sql`processor_events where handled_at is null`)}
    union all ${queue('usage_destinations', sql`usage_destinations where disabled_at is null`)}`.execute(
    db,
  )
  return rows
}
