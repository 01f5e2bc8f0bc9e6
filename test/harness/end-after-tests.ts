/**
 * Imported before each file of tests: ends its process a while after its last test. Where a set-up failed, and
 * the tear-down then too, what they left open would keep it from ever ending.
 */
import { after } from 'node:test'

/** For the file's own tear-down, which begins at the same time. */
const TEAR_DOWN_MS_MAX = 60_000

after(() => {
  setTimeout(() => {
    process.stderr.write(`still running ${TEAR_DOWN_MS_MAX / 1_000} s after its last test\n`)
    process.exit(1)
  }, TEAR_DOWN_MS_MAX).unref()
})
