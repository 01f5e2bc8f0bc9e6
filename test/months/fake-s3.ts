/** A bucket that checks each signature as S3 does, and whose objects a test may change. */
import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { S3Settings } from '../../src/platform/archive/s3-store.ts'

export interface FakeS3 {
  readonly settings: S3Settings
  /** By path, `/bucket/folder/name`. */
  readonly objects: Map<string, Buffer>
  /** As a server that knows no `prefix` and no `start-after`. */
  listsAll: boolean
  /** After its answer it goes on: a byte now and then, or as much as is read. */
  more: 'drips' | 'floods' | undefined
  /** Those that it answers. */
  reads: number
  close(): void
}

const SECRET = 'the secret of the bucket'

export async function startFakeS3(): Promise<FakeS3> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const body = Buffer.concat(pieces)
      const { status, content } = isSigned(request, body)
        ? answer(fake, request, body)
        : { status: 403, content: 'SignatureDoesNotMatch' }
      response.writeHead(status)
      const isRead = request.method === 'GET'
      if (isRead) fake.reads += 1
      if (isRead && fake.more) Readable.from(endless(content ?? '', fake)).pipe(response)
      else response.end(content)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const fake: FakeS3 = {
    settings: {
      url: `http://127.0.0.1:${port}/bucket/folder`,
      region: 'sa-east-1',
      accessKeyId: 'key',
      secretAccessKey: SECRET,
    },
    objects: new Map(),
    listsAll: false,
    more: undefined,
    reads: 0,
    close: () => void server.close(),
  }
  return fake
}

async function* endless(content: string | Buffer, fake: FakeS3) {
  yield content
  while (fake.more) {
    if (fake.more === 'drips') await sleep(10)
    yield Buffer.alloc(fake.more === 'drips' ? 1 : 65_536, ' ')
  }
}

const KEYS_OF_PAGE = 2

function answer(
  { objects, listsAll }: FakeS3,
  request: IncomingMessage,
  body: Buffer,
): { status: number; content?: string | Buffer } {
  const { pathname, searchParams } = new URL(request.url as string, 'http://s3')
  if (searchParams.get('list-type') === '2') {
    const keys = [...objects.keys()]
      .map((path) => path.replace('/bucket/', ''))
      .filter((key) => listsAll || key.startsWith(searchParams.get('prefix') as string))
      .filter((key) => listsAll || key > (searchParams.get('start-after') ?? ''))
      .toSorted()
    const page = keys.slice(0, KEYS_OF_PAGE).map((key) => `<Contents><Key>${key}</Key></Contents>`)
    const isTruncated = `<IsTruncated>${keys.length > KEYS_OF_PAGE}</IsTruncated>`
    return {
      status: 200,
      content: `<ListBucketResult>${isTruncated}${page.join('')}</ListBucketResult>`,
    }
  }
  if (request.method === 'PUT') objects.set(pathname, body)
  if (request.method === 'DELETE') return { status: objects.delete(pathname) ? 204 : 404 }
  const content = objects.get(pathname)
  return content ? { status: 200, content } : { status: 404, content: '<Code>NoSuchKey</Code>' }
}

const sha256 = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest()

/** Signature version 4, from its description. */
function isSigned(request: IncomingMessage, body: Buffer): boolean {
  const parsed =
    /^AWS4-HMAC-SHA256 Credential=key\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? '',
    )
  if (!parsed || request.headers['x-amz-content-sha256'] !== sha256(body)) return false
  const [, date = '', region = '', names = '', signature] = parsed
  const { pathname, searchParams } = new URL(request.url as string, 'http://s3')
  const query = [...searchParams]
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .toSorted()
    .join('&')
  const headers = names
    .split(';')
    .map((name) => `${name}:${String(request.headers[name]).trim()}\n`)
  const canonical = [request.method, pathname, query, headers.join(''), names, sha256(body)].join(
    '\n',
  )
  const scope = `${date}/${region}/s3/aws4_request`
  const text = `AWS4-HMAC-SHA256\n${String(request.headers['x-amz-date'])}\n${scope}\n${sha256(canonical)}`
  const key = [region, 's3', 'aws4_request'].reduce<Buffer>(
    (key, part) => hmac(key, part),
    hmac(`AWS4${SECRET}`, date),
  )
  return hmac(key, text).toString('hex') === signature
}
