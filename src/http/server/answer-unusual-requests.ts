import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { AnswerNoHttp } from './answer-no-http.ts'

/** The status is read by the framework's error handling. */
class WrongHosts extends Error {
  readonly statusCode = 400
}

/**
 * Refuses requests with several `Host` headers, and those of HTTP/1.1 without one, as RFC 9112 (3.2) demands: a proxy may
 * have routed by one of them, and this server would believe another.
 */
function refuseWrongHosts(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    const { rawHeaders, httpVersion } = request.raw
    let hosts = 0
    for (let place = 0; place < rawHeaders.length; place += 2)
      if (rawHeaders[place]?.length === 4 && rawHeaders[place]?.toLowerCase() === 'host') hosts++
    if (hosts === 1 || (hosts === 0 && httpVersion !== '1.1')) return done()
    reply.header('connection', 'close')
    done(new WrongHosts(`${hosts} Host headers`))
  })
}

/**
 * Requests that the platform would answer by itself, without the headers of an answer. One that expects something else
 * than `100-continue` is a request like any other, as RFC 9110 (10.1.1) allows; `CONNECT` is for proxies.
 */
export function answerUnusualRequests(instance: FastifyInstance, answerNoHttp: AnswerNoHttp): void {
  const { server } = instance
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('connect', (_request, socket: Socket) => answerNoHttp({}, socket))
  refuseWrongHosts(instance)
}
