import type { FastifyReply } from 'fastify'
import { RestRefusal } from '../rest/rest-refusal.ts'

/** Refuses a caller with too many rejected cards: somebody who tests stolen cards, or an unlucky customer. */
export function tooManyRejectedCards(reply: FastifyReply, retryAfterSeconds: number): RestRefusal {
  reply.header('retry-after', retryAfterSeconds)
  return new RestRefusal(429, 'too_many_rejected_cards', 'cartões recusados demais em uma hora')
}
