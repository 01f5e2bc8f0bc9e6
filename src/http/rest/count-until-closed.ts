import type { ServerResponse } from 'node:http'
import { customerSubject } from '../../gateway/calls/limits.ts'
import type { Share } from '../../platform/admission/share.ts'
import { whenClosed } from './leaving-client.ts'

/** Counts an answer for the memory of its customer until the client has read it or has left. */
export function countUntilClosed(
  bodies: Share,
  customerId: string,
  raw: ServerResponse,
  bytes: number,
): void {
  const held = bodies.add(customerSubject(customerId), bytes)
  whenClosed(raw, () => held[Symbol.dispose]())
}
