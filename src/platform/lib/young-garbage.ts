import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Keeps memory flat during a long transfer. The buffers of a transfer die at once, but V8 lets 64 MB of them
 * pile up before it collects them. Collecting the young generation (a few milliseconds) after every few
 * megabytes was measured to keep a transfer of 100 MB below 10 MB.
 */
export interface YoungGarbage {
  /** Reports bytes that passed through short-lived buffers. */
  passed(bytes: number): void
}

const COLLECT_EVERY_BYTES = 8 * 1024 * 1024

export function createYoungGarbage(): YoungGarbage {
  let collect: ((options: { type: 'minor' }) => void) | undefined
  let bytesPassed = 0
  return {
    passed(bytes) {
      bytesPassed += bytes
      if (bytesPassed < COLLECT_EVERY_BYTES) return
      bytesPassed = 0
      collect ??= openCollector()
      collect({ type: 'minor' })
    },
  }
}

function openCollector(): (options: { type: 'minor' }) => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as (options: { type: 'minor' }) => void
}
