import type { FastifyReply, FastifyRequest } from 'fastify'
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

const compress = promisify(gzip)
/** Compression gains nothing for an answer that fits into one packet. */
const COMPRESSED_FROM_BYTES = 1_400

/** A JSON text that is ready to be sent any number of times. */
export interface TaggedJson {
  /** As bytes: a text of a megabyte would be encoded anew for each request. */
  readonly bytes: Buffer
  readonly digest: string
  /** Compressed when it is first wanted. */
  readonly gzip: () => Promise<Buffer>
}

export function tagJson(body: unknown): TaggedJson {
  const text = JSON.stringify(body)
  const digest = hash('sha256', text, 'base64url').slice(0, 27)
  let compressed: Promise<Buffer> | undefined
  const bytes = Buffer.from(text)
  return { bytes, digest, gzip: () => (compressed ??= compress(bytes)) }
}

/**
 * Sends JSON with an `ETag`, compressed for clients that accept that; a 304 without a body if the client has this
 * version already (RFC 9110, 13.1.2). Each encoding has a separate tag, as strong tags must.
 */
export async function sendTaggedJson(
  request: FastifyRequest,
  reply: FastifyReply,
  { bytes, digest, gzip: compressed }: TaggedJson,
): Promise<FastifyReply> {
  const isCompressed = bytes.length >= COMPRESSED_FROM_BYTES && takesGzip(request)
  reply.header('etag', isCompressed ? `"${digest}-gzip"` : `"${digest}"`)
  const varies = reply.getHeader('vary')
  reply.header(
    'vary',
    varies === undefined ? 'accept-encoding' : `accept-encoding, ${String(varies)}`,
  )
  const known = (request.headers['if-none-match'] ?? '').split(',').map((each) => each.trim())
  if (known.some((tag) => tag === '*' || plain(tag) === `"${digest}"`))
    return reply.code(304).send()
  reply.type('application/json; charset=utf-8')
  return isCompressed
    ? reply.header('content-encoding', 'gzip').send(await compressed())
    : reply.send(bytes)
}

/** Compares tags of the same content, ignoring its encoding and whether the tag is weak. */
function plain(tag: string): string {
  return tag.replace(/^W\//, '').replace(/-gzip"$/, '"')
}

function takesGzip({ headers }: FastifyRequest): boolean {
  return /(?:^|[,\s])gzip\s*(?:$|,|;\s*q=(?!0(?:\.0*)?\s*(?:$|,)))/i.test(
    headers['accept-encoding'] ?? '',
  )
}
