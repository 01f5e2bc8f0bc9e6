/** A server that records its requests and answers as a test scripts. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Resolves when the client closes the connection before the answer has ended. */
  readonly gone: Promise<void>
}

export interface ScriptedServer {
  /** Without a path: `http://127.0.0.1:<port>`. */
  readonly url: string
  /** All received requests, in order. */
  readonly received: Received[]
  close(): Promise<void>
}

export async function startScriptedServer(
  answer: (received: Received, response: ServerResponse) => void,
): Promise<ScriptedServer> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const gone = new Promise<void>((resolve) => {
        response.once('close', () => {
          if (!response.writableFinished) resolve()
        })
      })
      const text = Buffer.concat(chunks).toString('utf8')
      const one = { path: request.url ?? '', headers: request.headers, text, gone }
      received.push(one)
      answer(one, response)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export function answerJson(response: ServerResponse, status: number, body: unknown): void {
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(typeof body === 'string' ? body : JSON.stringify(body))
}
