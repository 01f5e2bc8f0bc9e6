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

export interface JobState {
  readonly name: string
  readonly cron: string
  readonly waiting: number
  readonly active: number
  /** Jobs given up after their last retry, as long as pg-boss keeps them. */
  readonly failed: number
  readonly lastCompletedAt: Date | null
  readonly lastFailedAt: Date | null
}

/** Returns the scheduled jobs and their state; one node runs each job. Empty until a node has started its workers. */
export async function listJobs(db: Database): Promise<JobState[]> {
  const { rows: made } = await sql<{ is_there: boolean }>`
    select to_regclass('jobs.schedule') is not null and to_regclass('jobs.job') is not null as is_there`.execute(
    db,
  )
  if (!made[0]?.is_there) return []
  const { rows } = await sql<JobState>`
    select s.name, s.cron,
      (count(j.id) filter (where j.state in ('created', 'retry') and j.start_after <= now()))::int4 as waiting,
      (count(j.id) filter (where j.state = 'active'))::int4 as active,
      (count(j.id) filter (where j.state = 'failed'))::int4 as failed,
      max(j.completed_on) filter (where j.state = 'completed') as "lastCompletedAt",
      max(j.completed_on) filter (where j.state = 'failed') as "lastFailedAt"
    from jobs.schedule s left join jobs.job j on j.name = s.name
    group by s.name, s.cron order by s.name`.execute(db)
  return rows
}
