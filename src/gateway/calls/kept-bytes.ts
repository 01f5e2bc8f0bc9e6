import type { ByteBudget } from '../../platform/lib/byte-budget.ts'
import type { Pace } from '../../platform/lib/pace.ts'
import type { TakeBytes } from '../../platform/lib/take-bytes.ts'
import { customerSubject } from './limits.ts'

/** The bytes that adapters keep for one call beside its body: large answers, and files that they downloaded. */
export interface KeptBytes {
  /** Counts bytes, at the customer's pace; false, and none of them counted, if there is no room. */
  readonly take: TakeBytes
  /** Gives all of them back. */
  release(): void
}

export function createKeptBytes(
  { bodies, pace }: { readonly bodies: ByteBudget; readonly pace: Pace },
  customerId: string,
): KeptBytes {
  const subject = customerSubject(customerId)
  let taken = 0
  return {
    take(bytes) {
      if (bodies.take(subject, bytes) !== 'taken') return false
      taken += bytes
      return pace.wait(customerId, bytes)?.then(() => true) ?? true
    },
    release() {
      if (taken > 0) bodies.release(subject, taken)
      taken = 0
    },
  }
}
