import { PgBoss } from 'pg-boss'
import { connectionConfig, openPool } from '../../platform/db/open.ts'
import type { Log } from '../../platform/lib/log.ts'

export interface OpenJobs {
  readonly boss: PgBoss
  /** Waits for running jobs, but not for long. */
  stop(): Promise<void>
}

const CONNECTIONS = 3
const STOP_MS_MAX = 5_000
/** The library makes its tables at the first start. */
const STATEMENT_TIMEOUT_MS = 60_000

/** Opens the queue of scheduled jobs, over connections like all others: to the primary, also through a pooler. */
export async function openJobs(databaseUrl: string, log: Log): Promise<OpenJobs> {
  const onError = (error: unknown): void => log.warn('jobs_failed', { error })
  // The library expects the types of `pg`, not ours.
  const { types: _, ...config } = connectionConfig(databaseUrl, {
    statement_timeout: String(STATEMENT_TIMEOUT_MS),
  })
  const pool = openPool(config, { max: CONNECTIONS, onError })
  const boss = new PgBoss({
    db: { executeSql: (text, values) => pool.query(text, values) },
    schema: 'jobs',
  })
  boss.on('error', onError)
  try {
    await boss.start()
  } catch (error) {
    await pool.end()
    throw error
  }
  return {
    boss,
    async stop() {
      await boss.stop({ graceful: true, timeout: STOP_MS_MAX }).finally(() => pool.end())
    },
  }
}

/** A job of pg-boss, run by one node at a time. */
export interface Job {
  readonly cron: string
  readonly run: () => Promise<unknown>
  /** In seconds: the pause before a retry, and the longest run. */
  readonly queue?: { readonly retryDelay: number; readonly expireInSeconds: number }
}

/**
 * No job is due more often than every minute. Each poll is a query for each job: at the library's two seconds, thirty
 * jobs were measured to take a hundredth of a processor.
 */
const JOB_POLLING = { pollingIntervalSeconds: 10 }

/** Registers the handlers of the jobs, creates the queues that are missing, and writes the schedules that are new or changed. */
export async function scheduleJobs(
  boss: PgBoss,
  jobs: Readonly<Record<string, Job>>,
): Promise<void> {
  const queues = new Set((await boss.getQueues()).map(({ name }) => name))
  const schedules = new Map((await boss.getSchedules()).map(({ name, cron }) => [name, cron]))
  for (const [name, { cron, run, queue }] of Object.entries(jobs)) {
    if (!queues.has(name))
      await boss.createQueue(name, { retryLimit: 3, retryBackoff: true, ...queue })
    await boss.work(name, JOB_POLLING, async () => void (await run()))
    if (schedules.get(name) !== cron) await boss.schedule(name, cron)
  }
}
