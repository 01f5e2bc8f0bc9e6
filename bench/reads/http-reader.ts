/** Reads answers over kept-alive connections, and returns the times of their first and last byte. */
import { Agent, request, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { credentialHeaders } from '../../test/harness/ask.ts'

export interface Reading {
  readonly firstByteMs: number
  readonly ms: number
  readonly bytes: number
  readonly rows: number
  readonly isWhole: boolean
}

export interface ReadingOptions {
  /** When it stops reading and disconnects: after the first byte, or after this many milliseconds. */
  readonly until?: 'first byte' | number
  /** Limits the reading speed. */
  readonly bytesPerSecond?: number
}

export interface HttpReader {
  /** The body of a small answer. Throws for any status but 200. */
  readJson(url: string): Promise<unknown>
  read(url: string, options?: ReadingOptions): Promise<Reading>
  close(): void
}

/** Each row of an export contains exactly one of these. */
const ROW_MARKS = { csv: Buffer.from('\r\n'), json: Buffer.from('"created_at"') }

/** Operators' answers are read in the caller's login session, all others with the key. */
export function createHttpReader(
  baseUrl: string,
  { secret, session }: { readonly secret: string; readonly session: string },
  connections: number,
): HttpReader {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })

  async function open(url: string): Promise<IncomingMessage> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = credentialHeaders(url.startsWith('/admin/') ? session : secret)
      request(`${baseUrl}${url}`, { agent, headers })
        .on('response', resolve)
        .on('error', reject)
        .end()
    })
    if (response.statusCode === 200) return response
    const text = (await response.setEncoding('utf8').toArray()).join('')
    throw new Error(`GET ${url} answered ${response.statusCode}: ${text.slice(0, 300)}`)
  }

  return {
    async readJson(url) {
      const response = await open(url)
      return JSON.parse((await response.setEncoding('utf8').toArray()).join(''))
    },
    async read(url, options = {}) {
      const startedAt = performance.now()
      const response = await open(url)
      const isCsv = /csv/.test(response.headers['content-type'] ?? '')
      const mark = isCsv ? ROW_MARKS.csv : ROW_MARKS.json
      const counted = await readBody(response, mark, startedAt, options)
      // The first line of a CSV names its columns.
      const rows = isCsv ? Math.max(0, counted.rows - 1) : counted.rows
      return { ...counted, rows, ms: performance.now() - startedAt }
    },
    close: () => agent.destroy(),
  }
}

async function readBody(
  response: IncomingMessage,
  mark: Buffer,
  startedAt: number,
  { until, bytesPerSecond }: ReadingOptions,
): Promise<Omit<Reading, 'ms'>> {
  let firstByteMs = 0
  let bytes = 0
  let rows = 0
  let tail: Buffer = Buffer.alloc(0)
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (bytes === 0) firstByteMs = performance.now() - startedAt
    bytes += chunk.length
    const text = tail.length > 0 ? Buffer.concat([tail, chunk]) : chunk
    rows += countOf(text, mark)
    tail = text.subarray(Math.max(0, text.length - mark.length + 1))
    const isEnough =
      until === 'first byte' || (until !== undefined && performance.now() - startedAt > until)
    if (isEnough) return { firstByteMs, bytes, rows, isWhole: false }
    if (bytesPerSecond !== undefined) await sleep((chunk.length / bytesPerSecond) * 1000)
  }
  return { firstByteMs, bytes, rows, isWhole: response.complete }
}

function countOf(text: Buffer, mark: Buffer): number {
  let count = 0
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + mark.length)) count += 1
  return count
}
