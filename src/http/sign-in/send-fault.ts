import type { FastifyReply } from 'fastify'

/** Sends an error in better-auth's format. */
export function sendFault(
  reply: FastifyReply,
  status: number,
  code: string,
  message: string,
): FastifyReply {
  return sendAuthJson(reply, status, JSON.stringify({ code, message }))
}

export function sendTooMany(reply: FastifyReply, retryAfter: number): FastifyReply {
  reply.header('retry-after', retryAfter)
  return sendFault(reply, 429, 'TOO_MANY_REQUESTS', `tente de novo em ${retryAfter} s`)
}

export function sendAuthJson(reply: FastifyReply, status: number, json: string): FastifyReply {
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(json)
}
