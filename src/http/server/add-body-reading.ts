/** How bodies of requests reach their routes: when they are read, for how long, and how much of them. */
import type { FastifyInstance } from 'fastify'
import { plainIp } from '../../customers/ip-allowlist.ts'
import { nearNetwork } from '../../platform/lib/client-networks.ts'
import { answerNotFound } from './answer-error.ts'
import type { AnswerNoHttp } from './answer-no-http.ts'
import { createArrivalWatch, createReadBody, setBodyOwner } from './read-body.ts'
import type { Share } from '../../platform/admission/share.ts'
import { discardBody } from './discard-body.ts'
import { hasBody } from './request-head.ts'

/** The whole body must arrive within this time; a route that reads its body itself has the longer limit of the server. */
const BODY_TIMEOUT_MS = 60_000

/** Reads the bodies of requests. `streamed` are the paths of routes that read their bodies themselves. */
export function addBodyReading(
  server: FastifyInstance,
  bodies: Share,
  streamed: ReadonlySet<string>,
  answerNoHttp: AnswerNoHttp,
): void {
  const arrivals = createArrivalWatch(BODY_TIMEOUT_MS, ({ socket }) =>
    answerNoHttp({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, socket),
  )
  server.addHook('onClose', () => arrivals.stop())
  server.addHook('onRequest', (request, reply, done) => {
    if (!hasBody(request)) return done()
    // Answered here, nobody reads the body.
    if (request.is404) return void answerNotFound(request, reply)
    // Decided by the raw path, because route lookup is expensive; an unusual spelling gets the default of a minute.
    if (!streamed.has(request.raw.url ?? '')) arrivals.begin(request.raw)
    setBodyOwner(request, reply.raw, () => subjectOfIp(request.ip))
    done()
  })
  server.addHook('onSend', (request, _reply, _payload, done) => {
    if (hasBody(request) && !request.raw.complete) {
      arrivals.end(request.raw)
      discardBody(request.raw)
    }
    done()
  })
  // Bodies arrive as bytes for every content type: each route parses its body.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', createReadBody(bodies, arrivals))
}

/** Returns the network of an address, because one machine has all addresses of its IPv6 /64. */
export function subjectOfIp(ip: string): string {
  return `i:${nearNetwork(plainIp(ip))}`
}
