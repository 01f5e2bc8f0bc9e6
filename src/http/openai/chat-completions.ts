import type { FastifyInstance } from 'fastify'
import { plainIp } from '../../customers/ip-allowlist.ts'
import { ipSubject } from '../../gateway/limits.ts'
import { refusals } from '../../gateway/refusal.ts'
import type { HttpDeps } from '../http-deps.ts'
import { createHttpClient } from './http-client.ts'

export function addChatCompletions(server: FastifyInstance, deps: HttpDeps): void {
  server.post('/v1/chat/completions', async (request, reply) => {
    const receivedAtMs = performance.now()
    const client = createHttpClient(request, reply)
    const ip = plainIp(request.ip)
    const { authorization, 'x-svc-session-id': sessionId } = request.headers
    try {
      await deps.completeChat(
        {
          requestId: request.id,
          authorization,
          sessionId: Array.isArray(sessionId) ? sessionId.join() : sessionId,
          ip,
          body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
          receivedAtMs,
        },
        client,
      )
    } catch (error) {
      deps.log.error('chat_completion_failed', { requestId: request.id, error })
      if (reply.raw.headersSent) reply.raw.destroy()
      else
        client.refuse(
          refusals.internalError(),
          deps.limits.lastKnown(ipSubject(ip, deps.ipRequestsPerMinute)),
        )
    }
  })
}
