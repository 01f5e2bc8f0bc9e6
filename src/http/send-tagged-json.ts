import type { FastifyReply, FastifyRequest } from 'fastify'
import { hash } from 'node:crypto'
import { sendJson } from './rest-error.ts'

/** JSON with an `ETag`; a 304 without a body where the client has just this already (RFC 9110, 13.1.2). */
export function sendTaggedJson(
  request: FastifyRequest,
  reply: FastifyReply,
  body: unknown,
): FastifyReply {
  const tag = `"${hash('sha256', JSON.stringify(body), 'base64url').slice(0, 27)}"`
  reply.header('etag', tag)
  const known = (request.headers['if-none-match'] ?? '').split(',').map((text) => text.trim())
  const isKnown = known.some((text) => text === '*' || text.replace(/^W\//, '') === tag)
  return isKnown ? reply.code(304).send() : sendJson(reply, body)
}
