import type { FastifyInstance } from 'fastify'

/** The status is read by the framework's error handling. */
class WrongHosts extends Error {
  readonly statusCode = 400
}

/**
 * Refuses requests with several `Host` headers, and those of HTTP/1.1 without one, as RFC 9112 (3.2) demands: a proxy may
 * have routed by one of them, and this server would believe another.
 */
export function refuseWrongHosts(server: FastifyInstance): void {
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
