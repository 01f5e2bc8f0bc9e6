import { customerSubject } from '../../gateway/calls/limits.ts'
import { refusalOfExcess, type Refusal } from '../../gateway/calls/refusal.ts'
import { PACED_FROM_BYTES } from '../model-calls/paced-from-bytes.ts'
import type { HttpParts } from '../rest/parts.ts'

/**
 * Runs `work` while its chat counts for the customer's memory and pace. A few kilobytes of values become a chat as long
 * as the longest body, which would count and wait as well if it had been sent.
 */
export async function withinMemory<Result>(
  { bodies, pace }: Pick<HttpParts, 'bodies' | 'pace'>,
  { customerId, bytes }: { readonly customerId: string; readonly bytes: number },
  work: () => Promise<Result>,
): Promise<Result | Refusal> {
  const held = bodies.take(customerSubject(customerId), bytes)
  if (typeof held === 'string') return refusalOfExcess(held)
  try {
    if (bytes > PACED_FROM_BYTES) await pace.wait(customerId, bytes)
    return await work()
  } finally {
    held[Symbol.dispose]()
  }
}
