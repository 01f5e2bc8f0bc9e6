/**
 * One line for each request, when its answer has ended or its client has left. A line has no address, no query, no header
 * and no value of a path: `route` is the template of the path (`/v1/me/sessions/:id`), null for a path that no route has.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { AccessFacts } from '../../gateway/calls/client.ts'
import { createRequestSlot } from './serve-in-turn.ts'

export type WriteLine = (line: string) => void

interface Access extends AccessFacts {
  requestId?: string
  route?: string | undefined
}

const FACTS = Symbol('access')
type Noted = IncomingMessage & { [FACTS]?: Access }

/** Where the parts that identify a caller note it; undefined without an access log. */
export const accessFacts = createRequestSlot<AccessFacts>('access facts')

/**
 * Writes a line for each request. It must be added before other hooks, so that a request which they refuse is named,
 * too.
 */
export function addAccessLog(instance: FastifyInstance, writeLine: WriteLine): void {
  instance.server.prependListener('request', (request: Noted, response) => {
    const facts: Access = {}
    request[FACTS] = facts
    watch(request, response, facts, writeLine)
  })
  instance.addHook('onRequest', (request, _reply, done) => {
    const facts = (request.raw as Noted)[FACTS]
    if (facts) {
      facts.requestId = request.id
      facts.route = request.is404 ? undefined : request.routeOptions.url
      accessFacts.set(request, facts)
    }
    done()
  })
}

function watch(
  { method, socket }: IncomingMessage,
  response: ServerResponse,
  facts: Access,
  writeLine: WriteLine,
): void {
  const startedAtMs = performance.now()
  // A pipelined request gets the connection when the answers before it have ended.
  let before = response.socket?.bytesWritten
  if (before === undefined)
    response.once('socket', ({ bytesWritten }) => void (before = bytesWritten))
  let written: number | undefined
  const measure = (): void => {
    written ??= before === undefined ? 0 : socket.bytesWritten - before
  }
  // At `close` the next answer may have begun.
  response.prependOnceListener('finish', measure)
  response.once('close', () => {
    const isComplete = written !== undefined
    measure()
    const { requestId = null, traceId = null, keyId = null, route = null } = facts
    writeLine(
      JSON.stringify({
        time: new Date().toISOString(),
        method,
        route,
        status: response.headersSent ? response.statusCode : null,
        isComplete,
        durationMs: Math.round((performance.now() - startedAtMs) * 10) / 10,
        bytes: written,
        requestId,
        traceId,
        keyId,
      }),
    )
  })
}
