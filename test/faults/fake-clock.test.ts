// deep: rounds of faults over several nodes
/** Rounds with a clock would prove nothing if it were not set, or if the monotonic clock were set, too. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { createFakeClock } from './fake-clock.ts'

const PROGRAM = `setInterval(() => console.log(Date.now() + ' ' + performance.now()), 50)`
const NEAR_MS = 60_000

test('the clock of a process is set while it runs, in both directions', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'catraca-clock-'))
  const clock = createFakeClock(join(folder, 'clock'))
  if (!clock) return context.skip('libfaketime is not installed')
  const child = spawn(process.execPath, ['-e', PROGRAM], {
    env: { ...process.env, ...clock.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const until = async (offsetMs: number): Promise<number> => {
      for (;;) {
        const [wall, forward] = String((await lines.next()).value)
          .split(' ')
          .map(Number)
        if (Math.abs((wall as number) - Date.now() - offsetMs) < NEAR_MS) return forward as number
      }
    }
    const before = await until(0)
    clock.set(3_600)
    const ahead = await until(3_600_000)
    clock.set(-3_600)
    const behind = await until(-3_600_000)
    assert.ok(before < ahead && ahead < behind, `${before} ${ahead} ${behind}`)
    assert.ok(behind - before < 3_600_000, `${before} ${behind}`)
  } finally {
    child.kill('SIGKILL')
    await once(child, 'close')
    clock.close()
    await rm(folder, { recursive: true, force: true })
  }
})
