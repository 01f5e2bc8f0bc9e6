/**
 * Identifies a process by its pid and start time. A pid alone is not enough: after a reboot, or in a container
 * where every server is pid 1, another program may have it.
 */
import { readFileSync } from 'node:fs'

/** Returns `<pid>.<start>`. The start is 0 on systems that do not report it (only Linux does). */
export function processIdentity(pid: number = process.pid): string {
  return `${pid}.${startOf(pid)}`
}

/** Whether the process with this identity is still running. */
export function isRunning(identity: string): boolean {
  const pid = Number(identity.split('.')[0])
  return pid > 0 && isAlive(pid) && processIdentity(pid) === identity
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Returns the start of a process in clock ticks since boot: field 22 of proc(5) stat, counted from the end of the
 * program's name.
 */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '0'
  } catch {
    return '0'
  }
}
