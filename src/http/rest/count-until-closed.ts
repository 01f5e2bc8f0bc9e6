import type { ServerResponse } from 'node:http'
import { customerSubject } from '../../gateway/calls/limits.ts'
import type { ByteBudget } from '../../platform/lib/byte-budget.ts'
import { whenClosed } from './leaving-client.ts'

/** Counts an answer for the memory of its customer until the client has read it or has left. */
export function countUntilClosed(
  bodies: ByteBudget,
  customerId: string,
  raw: ServerResponse,
  bytes: number,
): void {
  const subject = customerSubject(customerId)
  bodies.add(subject, bytes)
  whenClosed(raw, () => bodies.release(subject, bytes))
}
