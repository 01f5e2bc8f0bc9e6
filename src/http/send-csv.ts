import type { FastifyReply } from 'fastify'
import { Readable } from 'node:stream'
import { CSV_HEAD, csvRow, type CsvField } from '../lib/csv.ts'

/** Rows are sent as they come, this many characters at a time. */
const CHUNK_CHARS = 64 * 1024

/** A table as a download. Where `rows` fails midway the connection is cut: half a table must not look whole. */
export function sendCsv(
  reply: FastifyReply,
  fileName: string,
  columns: readonly string[],
  rows: AsyncIterable<readonly CsvField[]>,
): FastifyReply {
  return reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${fileName}"`)
    .header('cache-control', 'no-store')
    .send(Readable.from(chunks(columns, rows)))
}

async function* chunks(
  columns: readonly string[],
  rows: AsyncIterable<readonly CsvField[]>,
): AsyncGenerator<string> {
  let text = CSV_HEAD + csvRow(columns)
  for await (const row of rows) {
    text += csvRow(row)
    if (text.length < CHUNK_CHARS) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}
