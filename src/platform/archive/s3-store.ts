/**
 * A bucket of S3, or of a service with its API. Files that are read are copied to this machine first. The operator sets
 * its address, so it may be in a private network.
 */
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { AwsV4Signer } from 'aws4fetch'
import { request } from 'undici'
import { MissingFile, type ArchiveStore } from './archive-store.ts'
import { digestFile } from './event-file.ts'

export interface S3Settings {
  /** The bucket, and a folder in it if wanted: `https://s3.example.com/bucket/folder`. */
  readonly url: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

type Method = 'GET' | 'PUT' | 'DELETE'

const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
/**
 * The longest silence. A whole exchange may last that long plus the time of its file at the lowest rate, because a server
 * that sends a byte now and then is never silent.
 */
const TIMEOUT_MS = 60_000
const BYTES_PER_SECOND_MIN = 500_000
/** The names of a folder: a month has some dozens of files. */
const LIST_BYTES_MAX = 4_194_304
const FAULT_BYTES_MAX = 300

export function openS3Store(
  settings: S3Settings,
  { timeoutMs = TIMEOUT_MS }: { readonly timeoutMs?: number } = {},
): ArchiveStore {
  const root = settings.url.replace(/\/+$/, '')
  const addressOf = (name: string): string => `${root}/${name}`

  async function send(
    method: Method,
    address: string,
    { body, bytes = 0 }: { body?: { path: string; sha256: string }; bytes?: number } = {},
  ) {
    const signer = new AwsV4Signer({
      url: address,
      method,
      service: 's3',
      region: settings.region,
      accessKeyId: settings.accessKeyId,
      secretAccessKey: settings.secretAccessKey,
      headers: { 'x-amz-content-sha256': body?.sha256 ?? EMPTY_SHA256 },
    })
    const { url, headers } = await signer.sign()
    return request(url, {
      method,
      headers: {
        ...Object.fromEntries(headers),
        ...(body ? { 'content-length': String(bytes) } : {}),
      },
      body: body ? createReadStream(body.path) : null,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      signal: AbortSignal.timeout(timeoutMs + Math.ceil((bytes / BYTES_PER_SECOND_MIN) * 1_000)),
    })
  }

  async function sendOrFail(...[method, address, file]: Parameters<typeof send>) {
    const answer = await send(method, address, file)
    if (answer.statusCode < 300 || answer.statusCode === 404) return answer
    const fault = (await text(upTo(answer.body, FAULT_BYTES_MAX))).slice(0, FAULT_BYTES_MAX)
    throw new Error(`${method} ${address}: ${answer.statusCode} ${fault}`)
  }

  return {
    place: root,
    async put(name, localPath) {
      const { bytes, sha256 } = await digestFile(localPath)
      const body = { path: localPath, sha256: sha256.toString('hex') }
      const answer = await sendOrFail('PUT', addressOf(name), { body, bytes })
      await answer.body.dump()
      if (answer.statusCode === 404) throw new Error(`${root}: no such bucket`)
    },
    async take(name, bytes) {
      const answer = await sendOrFail('GET', addressOf(name), { bytes })
      if (answer.statusCode === 404) {
        await answer.body.dump()
        throw new MissingFile(name)
      }
      const dir = await mkdtemp(join(tmpdir(), 'catraca-archive-'))
      const release = () => rm(dir, { recursive: true, force: true })
      const path = join(dir, 'file')
      try {
        await pipeline(upTo(answer.body, bytes), createWriteStream(path))
      } catch (error) {
        await release()
        throw error
      }
      return { path, release }
    },
    async list(folder) {
      const { origin, pathname } = new URL(root)
      const [bucket = '', ...inside] = pathname.split('/').filter(Boolean)
      const prefix = [...inside, folder, ''].join('/')
      const names: string[] = []
      let bytesLeft = LIST_BYTES_MAX
      for (let after: string | undefined; ;) {
        const query = new URLSearchParams({ 'list-type': '2', prefix })
        if (after !== undefined) query.set('start-after', after)
        const answer = await sendOrFail('GET', `${origin}/${bucket}?${query.toString()}`)
        const page = await text(upTo(answer.body, bytesLeft))
        bytesLeft -= Buffer.byteLength(page)
        if (bytesLeft < 0) throw new Error(`${root}: the list of ${prefix} is too long`)
        const keys = [...page.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => key as string)
        // Callers remove what is listed, so the list of a server that ignores the prefix or `start-after` is refused.
        const strange = keys.find((key) => !key.startsWith(prefix) || key <= (after ?? ''))
        if (strange !== undefined)
          throw new Error(`${root}: a list of ${prefix} has ${strange} after ${after ?? 'nothing'}`)
        names.push(...keys.map((key) => key.slice(inside.join('/').length + (inside.length && 1))))
        after = keys.at(-1)
        if (after === undefined || !page.includes('<IsTruncated>true<')) return names
      }
    },
    async remove(name) {
      await (await sendOrFail('DELETE', addressOf(name))).body.dump()
    },
  }
}

/**
 * The body up to the piece that exceeds the limit. An endless answer fills no memory and no disk, and it is longer than
 * the limit, so it never passes for a whole one.
 */
async function* upTo(body: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let left = bytes
  for await (const piece of body) {
    yield piece
    left -= piece.length
    if (left < 0) return
  }
}
