import { join } from 'node:path'
import { pathOfFormat, type Format } from '../chat-request.ts'
import type { Processes } from '../processes.ts'
import type { AnyTarget } from '../target.ts'
import type { PacedPlan, PacedResult } from './load.ts'

const EXTRA_MS_MAX = 60_000

/** Runs paced streams through a target. `clients` start on the processors of the load. */
export async function measurePaced(
  clients: Processes,
  target: AnyTarget,
  how: Pick<PacedPlan, 'streams' | 'warmupSeconds' | 'seconds'> & { readonly format?: Format },
): Promise<PacedResult> {
  const { port, headers, callers = [{}], pid, databasePid } = target
  const { format = 'chat', ...load } = how
  const path = format === 'chat' ? target.path : pathOfFormat[format]
  const plan: PacedPlan = {
    ...load,
    format,
    port,
    path,
    headers,
    callers,
    pid,
    ...(databasePid === undefined ? {} : { databasePid }),
  }
  const finished = await clients.run(
    {
      name: 'paced',
      command: process.execPath,
      args: [join(import.meta.dirname, './load.ts'), JSON.stringify(plan)],
    },
    (how.warmupSeconds + how.seconds) * 1000 + EXTRA_MS_MAX,
  )
  if (finished.code !== 0) throw new Error(`the clients failed: ${finished.stderr}`)
  return JSON.parse(finished.stdout) as PacedResult
}
