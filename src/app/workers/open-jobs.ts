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
