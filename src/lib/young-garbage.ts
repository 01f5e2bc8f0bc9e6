import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Keeps the memory of a long transfer flat. Its pieces die at once, but V8 lets 64 MB of such buffers
 * pile up before it looks at them; collecting the young generation, some milliseconds' work, after every
 * few megabytes was measured to keep a transfer of 100 MB below 10 MB.
 */
export interface YoungGarbage {
  /** So many bytes went through pieces of their own. */
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
