/** Processor time, never the clock: a busy machine makes both sides longer. */
import assert from 'node:assert/strict'

/** The least of this process's processor time in up to three rounds, until one is below the goal. */
function cpuMsOf(work: () => void, goalMs: number): number {
  let least = Infinity
  for (let round = 0; round < 3 && least >= goalMs; round += 1) {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1_000)
  }
  return least
}

/** Eight times the size: 64 times the time if it grows by the square. Shorter times than 2 ms say little. */
export function assertGrowsLinearly(size: number, workOf: (size: number) => () => void): void {
  const [small, large] = [workOf(size), workOf(8 * size)]
  const bound = 24 * Math.max(cpuMsOf(small, 0), 2)
  const ms = cpuMsOf(large, bound)
  assert.ok(ms < bound, `${ms} ms of processor time, ${bound} ms at most`)
}
