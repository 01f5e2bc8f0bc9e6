/**
 * `GET /v1/me/live`: the balance and the calls of the signed-in customer as server-sent events, for the dashboard. It
 * ends with the login session, and after an hour.
 */
import { PassThrough } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { authenticate } from '../rest/authenticate.ts'
import { whenClosed } from '../rest/leaving-client.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { hiddenRoute } from '../rest/route.ts'
import type { HttpParts } from '../rest/parts.ts'
import type { LiveStream, LiveStreams } from './live-streams.ts'

type Deps = Pick<HttpParts, 'keys' | 'signIn' | 'restLimits'> & { readonly live: LiveStreams }

const LIFE_MS_MAX = 3_600_000
const RETRY_AFTER_SECONDS = 60
/** The most unread bytes of one stream; an event has some hundred bytes. */
const UNREAD_BYTES_MAX = 16 * 1024

export const liveRoutes = [
  hiddenRoute({
    method: 'GET',
    url: '/v1/me/live',
    access: 'session',
    async handle(request, reply, deps: Deps) {
      const caller = await authenticate(deps, request, reply)
      if (!caller) return reply
      // Keys have no pages.
      if (caller.sessionId === undefined) return reply.code(401).send()
      if (request.method === 'HEAD' || request.headers.accept !== 'text/event-stream')
        throw new RestRefusal(406, 'invalid_request', 'accept: deve ser text/event-stream')
      const { customerId, sessionId, ip } = caller
      const events = new PassThrough()
      const stream = streamOf(reply, events, { customerId, sessionId, ip })
      if (!deps.live.open(stream))
        throw new RestRefusal(
          429,
          'rate_limit_exceeded',
          'há páginas demais abertas nesta conta ou neste endereço',
          RETRY_AFTER_SECONDS,
        )
      // Sends the headers.
      events.write(': open\n\n')
      const timer = setTimeout(() => stream.end(), LIFE_MS_MAX)
      whenClosed(reply.raw, () => {
        clearTimeout(timer)
        deps.live.leave(stream)
      })
      reply.header('content-type', 'text/event-stream; charset=utf-8')
      // Proxies would collect the events.
      reply.header('x-accel-buffering', 'no')
      return reply.send(events)
    },
  }),
]

function streamOf(
  { raw }: FastifyReply,
  events: PassThrough,
  of: Pick<LiveStream, 'customerId' | 'sessionId' | 'ip'>,
): LiveStream {
  return {
    ...of,
    send(text) {
      if (events.readableLength > UNREAD_BYTES_MAX) raw.destroy()
      else events.write(text)
    },
    end: () => events.end(),
  }
}
