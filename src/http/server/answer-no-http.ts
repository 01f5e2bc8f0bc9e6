import type { Socket } from 'node:net'
import { refusalBody, refusals } from '../../gateway/refusal.ts'
import { createId } from '../../lib/ids.ts'
import { requestIdHeaders } from '../rest/response-headers.ts'

/** Answers bytes that are not HTTP: there is no request yet, only a connection. */
export function answerNoHttp(error: { code?: string | undefined }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [status, message] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'Os cabeçalhos da requisição são grandes demais.']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'A requisição demorou demais para chegar.']
        : ['400 Bad Request', 'A requisição não é HTTP válido.']
  const body = refusalBody(refusals.invalidRequest(message))
  const head = Object.entries({
    ...requestIdHeaders(createId()),
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status}\r\n${head.join('')}\r\n${body}`)
}
