/** Linux control groups: a target on a share of each processor, so that the load on the same machine costs it nothing. */
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { readGatewayProcesses, readDatabaseProcesses } from './process-usage.ts'

/** Where version 1 of control groups is mounted; it needs root. */
const GROUPS = '/sys/fs/cgroup/cpu'
/** Short, so that a process that has used its share waits for milliseconds. */
const PERIOD_US = 10_000

/**
 * Gives each process of a gateway this share of one processor, and the gateway with its database together this share of
 * all: the machine is as slow as its share for them, and the rest of its time is for the load and the upstream. Returns
 * a function that removes the groups once the target has ended.
 */
export function limitToShare(rootPid: number, share: number): () => void {
  const all = join(GROUPS, `catraca-bench-${rootPid}`)
  const made = [all]
  const limit = (group: string, processors: number): void => {
    mkdirSync(group, { recursive: true })
    writeFileSync(join(group, 'cpu.cfs_period_us'), String(PERIOD_US))
    writeFileSync(join(group, 'cpu.cfs_quota_us'), String(Math.round(processors * PERIOD_US)))
  }
  const move = (pid: number, group: string): void =>
    writeFileSync(join(group, 'cgroup.procs'), String(pid))
  limit(all, cpus().length * share)
  for (const pid of readGatewayProcesses(rootPid)) {
    const own = join(all, String(pid))
    limit(own, share)
    made.unshift(own)
    move(pid, own)
  }
  // Its processes of later connections are in the group of their parent.
  for (const pid of readDatabaseProcesses(rootPid)) move(pid, all)
  return () => made.forEach((group) => rmdirSync(group))
}
