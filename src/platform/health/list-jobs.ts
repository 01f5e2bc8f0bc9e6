import { sql } from 'kysely'
import type { Database } from '../db/open.ts'

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
