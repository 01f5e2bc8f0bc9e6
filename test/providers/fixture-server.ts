/**
 * Providers on one port, each in its published wire format, answering from the files under `fixtures`.
 * Without further word it plays the weather conversation: tool calls first, then, where the request
 * brings their results, the final answer.
 */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { WIRES, type Wire } from './wires.ts'

export interface RecordedRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: any
  /** Resolves when the client closes the connection before the answer has ended. */
  readonly gone: Promise<void>
}

export type Fault =
  | {
      readonly kind: 'status'
      readonly status: number
      readonly body: string
      readonly headers?: Record<string, string>
    }
  /** A 200, and then the provider's error event first, or after half of the answer. */
  | { readonly kind: 'error_first' | 'error_middle' }
  /** Half of the answer, and then the connection breaks, the answer ends as if whole, or nothing more. */
  | { readonly kind: 'cut_middle' | 'end_middle' | 'hang_middle' }
  /** No answer at all. */
  | { readonly kind: 'hang' }

export interface FixtureServer {
  /** Without a path: `http://127.0.0.1:<port>`. */
  readonly url: string
  /** All that came, in order. */
  readonly requests: RecordedRequest[]
  /** Answers all further requests from the files of this name; undefined: the weather conversation. */
  play(fixture: string | undefined): void
  /** Lets all further requests go wrong; undefined: none. */
  fail(fault: Fault | undefined): void
  close(): Promise<void>
}

/** Where Google changes the signature of a service account for a token. Not recorded. */
export const TOKEN_PATH = '/token'
export const TOKEN = 'token-of-account'

const folder = join(import.meta.dirname, 'fixtures')

export async function startFixtureServer(): Promise<FixtureServer> {
  const requests: RecordedRequest[] = []
  let fixture: string | undefined
  let fault: Fault | undefined

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const path = request.url ?? ''
    const text = Buffer.concat(chunks).toString('utf8')
    if (path === TOKEN_PATH) {
      const token = { access_token: TOKEN, expires_in: 3600, token_type: 'Bearer' }
      const type = { 'content-type': 'application/json' }
      return void response.writeHead(200, type).end(JSON.stringify(token))
    }
    const body: unknown = JSON.parse(text)
    const gone = new Promise<void>((resolve) => {
      response.once('close', () => {
        if (!response.writableFinished) resolve()
      })
    })
    requests.push({ path, headers: request.headers, body, gone })
    const wire = WIRES.find((one) => one.matches(path))
    if (!wire) return void response.writeHead(404).end()
    if (fault?.kind === 'hang') return
    if (fault?.kind === 'status') {
      const type = { 'content-type': 'application/json', ...fault.headers }
      return void response.writeHead(fault.status, type).end(fault.body)
    }
    const name = fixture ?? (wire.hasToolResults(body) ? 'final' : 'tools')
    await deliver(wire, name, wire.isStream(path, body), fault?.kind, response)
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    play: (name) => void (fixture = name),
    fail: (wanted) => void (fault = wanted),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function deliver(
  wire: Wire,
  name: string,
  isStream: boolean,
  fault: Exclude<Fault['kind'], 'status' | 'hang'> | undefined,
  response: ServerResponse,
): Promise<void> {
  const file = await readFile(
    join(folder, wire.name, `${name}.${isStream ? wire.streamFile : 'json'}`),
  )
  const pieces = isStream
    ? wire.splitEvents(file)
    : [file.subarray(0, file.length / 2), file.subarray(file.length / 2)]
  response.writeHead(200, { 'content-type': isStream ? wire.streamType : 'application/json' })
  const half = pieces.slice(0, Math.floor(pieces.length / 2))
  const sent = fault === undefined ? pieces : fault === 'error_first' ? [] : half
  for (const piece of sent) await write(response, piece)
  if (fault === 'error_first' || fault === 'error_middle') await write(response, wire.errorEvent)
  if (fault === 'cut_middle') return void response.destroy()
  if (fault !== 'hang_middle') response.end()
}

/** Each piece leaves on its own, so that it also arrives on its own. */
async function write(response: ServerResponse, piece: Buffer): Promise<void> {
  await new Promise<void>((resolve) => response.write(piece, () => resolve()))
  await new Promise((resolve) => setImmediate(resolve))
}
