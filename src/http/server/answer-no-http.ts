import type { Socket } from 'node:net'
import { plainIp } from '../../customers/ip-allowlist.ts'
import { ipSubject } from '../../gateway/calls/limits.ts'
import { refusalBody, refusals } from '../../gateway/calls/refusal.ts'
import { createId } from '../../platform/lib/ids.ts'
import type { HttpParts } from '../rest/parts.ts'
import { limitHeaders, requestIdHeaders } from '../rest/response-headers.ts'
import { endAfterAnswer } from './serve-in-turn.ts'

export type AnswerNoHttp = (error: { code?: string | undefined }, socket: Socket) => void

/**
 * Answers bytes that are not HTTP: there is no request yet, only a connection. The limits shown are those of the
 * connection's address, which is the proxy's behind one. Nothing is counted: each such answer ends its connection.
 */
export function createAnswerNoHttp(deps: Pick<HttpParts, 'config' | 'limits'>): AnswerNoHttp {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    // An answer that is under way was charged: bytes behind its request do not take its place.
    if (error.code?.startsWith('HPE_') && endAfterAnswer(socket)) return
    const [status, message] =
      error.code === 'HPE_HEADER_OVERFLOW'
        ? ['431 Request Header Fields Too Large', 'Os cabeçalhos da requisição são grandes demais.']
        : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
          ? ['408 Request Timeout', 'A requisição demorou demais para chegar.']
          : ['400 Bad Request', 'A requisição não é HTTP válido.']
    const body = refusalBody(refusals.invalidRequest(message))
    const address = ipSubject(
      plainIp(socket.remoteAddress ?? ''),
      deps.config.requestsPerMinutePerIp,
    )
    const head = Object.entries({
      ...requestIdHeaders(createId(), undefined),
      ...limitHeaders(deps.limits.lastKnown(address)),
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    }).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.end(`HTTP/1.1 ${status}\r\n${head.join('')}\r\n${body}`)
  }
}
