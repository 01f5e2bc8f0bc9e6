import type { FastifyInstance, FastifyRequest } from 'fastify'
import { plainIp } from '../../customers/ip-allowlist.ts'
import { ipSubject } from '../../gateway/limits.ts'
import { refusals } from '../../gateway/refusal.ts'
import type { ServeCall } from '../../gateway/serve-call.ts'
import type { HttpDeps } from '../http-deps.ts'
import { createHttpClient } from './http-client.ts'

/** A route that answers model calls of one kind; `bodyOf` is what the kind reads of a request. */
export function addModelCall<Body>(
  server: FastifyInstance,
  deps: HttpDeps,
  path: string,
  serveCall: ServeCall<Body>,
  bodyOf: (request: FastifyRequest) => Body,
): void {
  server.post(path, async (request, reply) => {
    const receivedAtMs = performance.now()
    const client = createHttpClient(request, reply, deps.publicUrl)
    const ip = plainIp(request.ip)
    const { authorization, 'x-svc-session-id': sessionId } = request.headers
    try {
      await serveCall(
        {
          requestId: request.id,
          authorization,
          sessionId: Array.isArray(sessionId) ? sessionId.join() : sessionId,
          ip,
          body: bodyOf(request),
          receivedAtMs,
        },
        client,
      )
    } catch (error) {
      deps.log.error('model_call_failed', { requestId: request.id, path, error })
      if (reply.raw.headersSent) reply.raw.destroy()
      else
        client.refuse(
          refusals.internalError(),
          deps.limits.lastKnown(ipSubject(ip, deps.ipRequestsPerMinute)),
        )
    }
  })
}

/** The bytes of a body that was read whole. */
export function bytesOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}
