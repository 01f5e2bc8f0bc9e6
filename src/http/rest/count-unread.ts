import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { customerSubject } from '../../gateway/calls/limits.ts'
import { refusalOfExcess } from '../../gateway/calls/refusal.ts'
import type { Share } from '../../platform/admission/share.ts'
import type { Caller } from './authenticate.ts'
import { toRestRefusal } from './rest-refusal.ts'
import { whenClosed } from './leaving-client.ts'

/** Answers of this size fit into the buffers of the operating system. */
export const LARGE_ANSWER_BYTES = 16 * 1024

/**
 * Counts a large answer for the memory of its customer until the client has read it. Throws a `RestRefusal` for a `GET`
 * while the answers before it exceed that memory: one answer alone is sent, however small the limit. The answer to an
 * act is always sent, because the act has happened.
 */
export function countUnread(
  bodies: Share,
  { customerId }: Caller,
  { method }: FastifyRequest,
  { raw }: FastifyReply,
  payload: unknown,
): void {
  const bytes = bytesOf(payload)
  if (bytes <= LARGE_ANSWER_BYTES) return
  const excess = method === 'GET' ? bodies.findExcess(customerSubject(customerId), 0) : undefined
  if (excess) throw toRestRefusal(refusalOfExcess(excess))
  countUntilClosed(bodies, customerId, raw, bytes)
}

/** Zero for a stream, which is produced only as fast as its client reads. */
function bytesOf(payload: unknown): number {
  if (typeof payload === 'string') return Buffer.byteLength(payload)
  return Buffer.isBuffer(payload) ? payload.length : 0
}

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
