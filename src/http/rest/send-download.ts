import type { FastifyReply } from 'fastify'
import { Readable } from 'node:stream'
import { CSV_HEAD, csvRow, type CsvField } from '../../platform/lib/csv.ts'
import { lazily } from '../../platform/lib/lazily.ts'

/** The number of characters that are sent at a time. */
const CHUNK_CHARS = 64 * 1024
/** A client that reads nothing for this long is gone, or occupies resources that others could use. */
const STALL_MS_MAX = 120_000

/**
 * Sends text as a file, as fast as the client reads it, and resolves when the file is sent. A failure before the
 * first chunk is thrown and can be answered; a later one cuts the connection, because half a file must not look
 * whole. After the client disconnects, no more text is generated.
 *
 * The text comes in batches of small pieces: a promise for each piece would cost more than the piece.
 */
export async function sendDownload(
  reply: FastifyReply,
  file: { type: string; name: string },
  batches: AsyncIterable<Iterable<string>>,
): Promise<void> {
  const chunks = chunksOf(batches)
  const first = await chunks.next()
  reply
    .type(file.type)
    .header('content-disposition', `attachment; filename="${file.name}"`)
    .header('cache-control', 'no-store')
  if (reply.request.method === 'HEAD') {
    await chunks.return(undefined)
    await reply.send('')
    return
  }
  reply.raw.setTimeout(STALL_MS_MAX)
  await reply.send(Readable.from(following(first, chunks)))
}

/** Pieces are joined once: text that grows piece by piece stays many objects while it grows. */
async function* chunksOf(
  batches: AsyncIterable<Iterable<string>>,
): AsyncGenerator<string, undefined> {
  let pieces: string[] = []
  let length = 0
  for await (const batch of batches) {
    for (const piece of batch) {
      pieces.push(piece)
      length += piece.length
      if (length < CHUNK_CHARS) continue
      yield pieces.join('')
      pieces = []
      length = 0
    }
  }
  yield pieces.join('')
  return undefined
}

async function* following(
  first: IteratorResult<string, undefined>,
  chunks: AsyncGenerator<string, undefined>,
): AsyncGenerator<string> {
  try {
    for (let next = first; !next.done; next = await chunks.next()) yield next.value
  } finally {
    await chunks.return(undefined)
  }
}

/** A table as a download, sent by `sendDownload`. Its rows come in batches, each created when it is written. */
export function sendCsv(
  reply: FastifyReply,
  fileName: string,
  columns: readonly string[],
  batches: AsyncIterable<Iterable<readonly CsvField[]>>,
): Promise<void> {
  const file = { type: 'text/csv; charset=utf-8', name: fileName }
  return sendDownload(reply, file, linesOf(columns, batches))
}

async function* linesOf(
  columns: readonly string[],
  batches: AsyncIterable<Iterable<readonly CsvField[]>>,
): AsyncGenerator<Iterable<string>> {
  yield [CSV_HEAD + csvRow(columns)]
  for await (const batch of batches) yield lazily(batch, csvRow)
}
