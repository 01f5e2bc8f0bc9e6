/**
 * Imported before each test file: ends its process a while after its last test. If a set-up fails, and then the
 * tear-down too, the resources they left open would keep the process alive for ever.
 */
import { after } from 'node:test'
import { readCpuSeconds } from './read-cpu-seconds.ts'
import { recordFile } from './record-file.ts'

/** For the file's own tear-down, which begins at the same time. */
const TEAR_DOWN_MS_MAX = 60_000

after(() => {
  setTimeout(() => {
    process.stderr.write(`still running ${TEAR_DOWN_MS_MAX / 1_000} s after its last test\n`)
    process.exit(1)
  }, TEAR_DOWN_MS_MAX).unref()
})

process.once('exit', () =>
  recordFile({ path: process.argv[1] ?? '', cpuSeconds: readCpuSeconds() }),
)
