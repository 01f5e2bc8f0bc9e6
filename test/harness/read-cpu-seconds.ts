import { readFileSync } from 'node:fs'

/**
 * User and system time of this process and of all that have ended below it, in seconds; a loaded machine changes it
 * less than the time of the clock. Processes that lost their parent are not in it. Undefined where there is no `/proc`.
 */
export function readCpuSeconds(): number | undefined {
  let stat: string
  try {
    stat = readFileSync('/proc/self/stat', 'utf8')
  } catch {
    return undefined
  }
  // proc(5): utime, stime, cutime and cstime, in ticks of 10 ms; the name before them may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) / 100, 0)
}
