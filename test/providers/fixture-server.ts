/**
 * Plays providers on one port, each in its published wire format, with answers from the files under
 * `fixtures`. By default it plays the weather conversation: tool calls first, then the final answer once the
 * request brings their results.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { PROVIDER_FORMATS, type ProviderFormat } from './provider-formats.ts'

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
  /** A 200 followed by the provider's error event, either first or after half of the answer. */
  | { readonly kind: 'error_first' | 'error_middle' }
  /**
   * Half of the answer, and then the connection breaks, the response ends as if complete, or nothing more
   * arrives.
   */
  | { readonly kind: 'cut_middle' | 'end_middle' | 'hang_middle' }
  /** Never answers. */
  | { readonly kind: 'hang' }

export interface FixtureServer {
  /** Without a path: `http://127.0.0.1:<port>`. */
  readonly url: string
  /** All received requests, in order. */
  readonly requests: RecordedRequest[]
  /**
   * Answers all further requests from the fixture of this name; undefined restores the weather conversation.
   */
  play(fixture: string | undefined): void
  /** Makes all further requests fail in this way; undefined ends the failure. */
  fail(fault: Fault | undefined): void
  close(): Promise<void>
}

/**
 * Google's endpoint that exchanges a service account's signature for a token. Its requests are not recorded.
 */
export const TOKEN_PATH = '/token'
export const TOKEN = 'token-of-account'

const folder = join(import.meta.dirname, './fixtures')

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
    const format = PROVIDER_FORMATS.find((one) => one.matches(path))
    if (!format) return void response.writeHead(404).end()
    if (fault?.kind === 'hang') return
    if (fault?.kind === 'status') {
      const type = { 'content-type': 'application/json', ...fault.headers }
      return void response.writeHead(fault.status, type).end(fault.body)
    }
    const name = fixture ?? (format.hasToolResults(body) ? 'final' : 'tools')
    await deliver(format, name, format.isStream(path, body), fault?.kind, response)
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

const fixtures = new Map<string, Buffer>()

/** Each is sent hundreds of times. */
function readFixture(path: string): Buffer {
  const file = fixtures.get(path) ?? readFileSync(path)
  fixtures.set(path, file)
  return file
}

async function deliver(
  format: ProviderFormat,
  name: string,
  isStream: boolean,
  fault: Exclude<Fault['kind'], 'status' | 'hang'> | undefined,
  response: ServerResponse,
): Promise<void> {
  const file = readFixture(
    join(folder, format.name, `${name}.${isStream ? format.streamFile : 'json'}`),
  )
  const pieces = isStream
    ? format.splitEvents(file)
    : [file.subarray(0, file.length / 2), file.subarray(file.length / 2)]
  response.writeHead(200, { 'content-type': isStream ? format.streamType : 'application/json' })
  const half = pieces.slice(0, Math.floor(pieces.length / 2))
  const sent = fault === undefined ? pieces : fault === 'error_first' ? [] : half
  for (const piece of sent) await write(response, piece)
  if (fault === 'error_first' || fault === 'error_middle') await write(response, format.errorEvent)
  if (fault === 'cut_middle') return void response.destroy()
  if (fault !== 'hang_middle') response.end()
}

/** Writes each piece separately, so that it also arrives separately. */
async function write(response: ServerResponse, piece: Buffer): Promise<void> {
  await new Promise<void>((resolve) => response.write(piece, () => resolve()))
  await new Promise((resolve) => setImmediate(resolve))
}
