import type { ByteBudget } from '../lib/byte-budget.ts'

/** The bytes that adapters keep for one call beside its body: files that they downloaded. */
export interface KeptBytes {
  /** Counts bytes; false, and none of them counted, if there is no room. */
  take(this: void, bytes: number): boolean
  /** Gives all of them back. */
  release(): void
}

export function createKeptBytes(memory: ByteBudget, subject: string): KeptBytes {
  let taken = 0
  return {
    take(bytes) {
      if (memory.take(subject, bytes) !== 'taken') return false
      taken += bytes
      return true
    },
    release() {
      if (taken > 0) memory.release(subject, taken)
      taken = 0
    },
  }
}
