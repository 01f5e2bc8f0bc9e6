import type { FastifyReply, FastifyRequest } from 'fastify'
import { customerSubject } from '../../gateway/limits.ts'
import { refusalOfExcess } from '../../gateway/refusal.ts'
import type { ByteBudget } from '../../lib/byte-budget.ts'
import type { Caller } from './authenticate.ts'
import { whenClosed } from './leaving-client.ts'
import { RestRefusal } from './rest-refusal.ts'

/** Answers of this size fit into the buffers of the operating system. */
export const LARGE_ANSWER_BYTES = 16 * 1024

/**
 * Counts a large answer for the memory of its customer until the client has read it. Throws a `RestRefusal` once that
 * memory is exceeded. A single answer never is, however small the limit; and an act is not refused after it happened.
 */
export function countUnread(
  bodies: ByteBudget,
  { customerId }: Caller,
  { method }: FastifyRequest,
  { raw }: FastifyReply,
  payload: unknown,
): void {
  const bytes = bytesOf(payload)
  if (bytes <= LARGE_ANSWER_BYTES) return
  const subject = customerSubject(customerId)
  const excess = method === 'GET' ? bodies.findExcess(subject, 0) : undefined
  if (excess) {
    const { status, code, message, retryAfterSeconds } = refusalOfExcess(excess)
    throw new RestRefusal(status, code, message, retryAfterSeconds)
  }
  bodies.add(subject, bytes)
  whenClosed(raw, () => bodies.release(subject, bytes))
}

/** A stream is read as fast as its client takes it. */
function bytesOf(payload: unknown): number {
  if (typeof payload === 'string') return Buffer.byteLength(payload)
  return Buffer.isBuffer(payload) ? payload.length : 0
}
