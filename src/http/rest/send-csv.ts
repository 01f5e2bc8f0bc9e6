import type { FastifyReply } from 'fastify'
import { CSV_HEAD, csvRow, type CsvField } from '../../platform/lib/csv.ts'
import { lazily } from '../../platform/lib/lazily.ts'
import { sendDownload } from './send-download.ts'

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
