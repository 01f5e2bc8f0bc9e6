import type { FastifyReply } from 'fastify'
import { RestRefusal } from '../rest/rest-refusal.ts'

/** For callers that try cards of others, and for those that were unlucky. */
export function tooManyRejectedCards(reply: FastifyReply, retryAfterSeconds: number): RestRefusal {
  reply.header('retry-after', retryAfterSeconds)
  return new RestRefusal(429, 'too_many_rejected_cards', 'too many cards were refused in an hour')
}
