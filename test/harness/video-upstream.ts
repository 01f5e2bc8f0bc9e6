/** An upstream with `/videos` that does what a test says, and records its requests. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface VideoRequest {
  /** `POST`, `GET`, `DELETE`, or `CONTENT` for the file. */
  readonly kind: string
  readonly path: string
  readonly text: string
  readonly authorization: string | undefined
}

export type AnswerVideo = (response: ServerResponse, request: VideoRequest) => void

export interface VideoUpstream {
  /** With the version segment. */
  readonly baseUrl: string
  readonly requests: VideoRequest[]
  /** What each kind of request gets from now on; undefined: a sound answer. */
  readonly play: Partial<Record<string, AnswerVideo>>
  close(): Promise<void>
}

export const FILE = Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 7) % 256))

export const say =
  (body: unknown, status = 200): AnswerVideo =>
  (response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(typeof body === 'string' ? body : JSON.stringify(body))

const SOUND: Readonly<Record<string, AnswerVideo>> = {
  POST: say({ id: 'vid_zephyr', object: 'video', status: 'queued', progress: 0 }),
  GET: say({ id: 'vid_zephyr', object: 'video', status: 'completed', progress: 100 }),
  DELETE: say({ id: 'vid_zephyr', deleted: true }),
  CONTENT: (response) =>
    void response.writeHead(200, { 'content-type': 'text/html', server: 'zephyr' }).end(FILE),
}

export async function startVideoUpstream(): Promise<VideoUpstream> {
  const requests: VideoRequest[] = []
  const play: Partial<Record<string, AnswerVideo>> = {}
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const path = String(request.url)
      const kind = path.endsWith('/content') ? 'CONTENT' : String(request.method)
      const { authorization } = request.headers
      const seen = { kind, path, text: Buffer.concat(chunks).toString(), authorization }
      requests.push(seen)
      const answer = play[kind] ?? SOUND[kind]
      answer?.(response, seen)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    play,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A catalog with a model `film` over this upstream, at 0.1 USD a second, and twice that in 1920x1080. */
export function videoConfig({ baseUrl }: VideoUpstream): object {
  return {
    upstreams: [
      { id: 'up', kind: 'openai-compatible', base_url: baseUrl, breaker: { failures: 0 } },
    ],
    models: [
      {
        id: 'film',
        category: 'video',
        markup_multiplier: '1.25',
        routes: [{ upstream: 'up', model: 'film' }],
        prices: { video_seconds: { default: '0.1', '1920x1080': '0.2' } },
        video: { seconds: [8, 4], sizes: ['1280x720', '1920x1080'] },
      },
    ],
  }
}
