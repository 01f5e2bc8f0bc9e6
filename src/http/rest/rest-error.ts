import type { FastifyReply } from 'fastify'

/** Writes an error in the REST format: `{error: <code>, details?}`. */
export function restError(
  reply: FastifyReply,
  status: number,
  code: string,
  details?: string,
): FastifyReply {
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .send(restErrorText(code, details))
}

export function restErrorText(code: string, details?: string): string {
  return JSON.stringify(details === undefined ? { error: code } : { error: code, details })
}

/** Sends an answer as JSON. It contains exact numbers, which only `JSON.stringify` writes. */
export function sendJson(reply: FastifyReply, body: unknown, status = 200): FastifyReply {
  return reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(body))
}
