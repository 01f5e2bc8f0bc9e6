import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { AnswerNoHttp } from './answer-no-http.ts'
import { refuseWrongHosts } from './refuse-wrong-hosts.ts'

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
