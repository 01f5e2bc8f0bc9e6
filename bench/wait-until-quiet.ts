/**
 * Waits until the machine is idle, so that one measurement does not pay for the aftermath of the
 * previous one (a database checkpoint, a garbage collection).
 */
import { cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

const SAMPLE_MS = 250
const BUSY_MAX = 0.1

/** Returns the share of the processors that was still busy when it stopped waiting, 0 to 1. */
export async function waitUntilQuiet(waitMsMax: number): Promise<number> {
  const deadline = Date.now() + waitMsMax
  for (;;) {
    const before = readTimes()
    await sleep(SAMPLE_MS)
    const after = readTimes()
    const total = after.total - before.total
    const busy = total === 0 ? 0 : 1 - (after.idle - before.idle) / total
    if (busy <= BUSY_MAX || Date.now() > deadline) return Math.round(busy * 100) / 100
  }
}

function readTimes(): { total: number; idle: number } {
  const times = cpus().map((cpu) => cpu.times)
  return {
    total: times.reduce((sum, t) => sum + t.user + t.nice + t.sys + t.idle + t.irq, 0),
    idle: times.reduce((sum, t) => sum + t.idle, 0),
  }
}
