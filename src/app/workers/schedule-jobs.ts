import type { PgBoss } from 'pg-boss'
import type { Job } from './job.ts'

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
