/**
 * Imported before each test file: ends its process a while after its last test. If a set-up fails, and then the
 * tear-down too, the resources they left open would keep the process alive for ever.
 */
import { after } from 'node:test'
import { readCpuSeconds } from './read-cpu-seconds.ts'
import { recordFile } from './record-file.ts'

/** For the file's own tear-down, which begins at the same time. */
const TEAR_DOWN_MS_MAX = 60_000

let hasMoreFiles = false

after(() => {
  if (!hasMoreFiles) endSoon()
})

process.once('exit', () =>
  recordFile({ path: process.argv[1] ?? '', cpuSeconds: readCpuSeconds() }),
)

/** For a process with several files, whose hook above runs after the first: returns what to call after the last. */
export function expectMoreFiles(): () => void {
  hasMoreFiles = true
  return endSoon
}

function endSoon(): void {
  setTimeout(() => {
    process.stderr.write(`still running ${TEAR_DOWN_MS_MAX / 1_000} s after its last test\n`)
    process.exit(1)
  }, TEAR_DOWN_MS_MAX).unref()
}
