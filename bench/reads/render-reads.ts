/** The results as Markdown, with missed goals in bold. */
import type { ExportRow, MemoryRow, ReadRow, ReadsResults } from './reads-results.ts'

export const P50_MS_MAX = 50
export const P99_MS_MAX = 200
export const EXPORT_BYTES_MAX = 60_000_000

const MEGABYTE = 1_000_000

export function isOverGoal({ latencyMs }: ReadRow): boolean {
  return latencyMs.p50 > P50_MS_MAX || latencyMs.p99 > P99_MS_MAX
}

export function renderReads(results: ReadsResults): string {
  const { machine, history, rows, exports, memory, faults, options } = results
  const over = rows.filter(isOverGoal)
  const sections = [
    `# Catraca, the customer's reads, ${results.at}`,
    `${machine.processors}, ${Math.round(machine.memoryBytes / 1e9)} GB, ${machine.platform}, Node ${machine.node}, ` +
      `commit ${machine.commit}. ${whole(history.events)} usage events of ${whole(options.customers)} customers in ` +
      `${(history.databaseBytes / 1e9).toFixed(1)} GB; the heavy customer has ${whole(history.heavyEvents)}, the ordinary one ` +
      `${whole(history.ordinaryEvents)}. ${soundness(history.isSound)} ${options.calls} calls each, client, server and ` +
      'database on the same processors.',
    `## Reads: ${rows.length - over.length} of ${rows.length} within ${P50_MS_MAX} ms (p50) and ${P99_MS_MAX} ms (p99)`,
    table(
      [
        'operation',
        '',
        'caller',
        'at once',
        'KB',
        'p50 ms',
        'p95',
        'p99',
        'max',
        'CPU ms, server',
        'database',
        'busy before',
      ],
      rows.map(readCells),
    ),
    exports.length > 0 ? '## Exports' : '',
    exports.length > 0
      ? table(
          ['export', 'caller', 'first byte p50 ms', 'p99', 'rows', 'seconds', 'rows/s', 'MB'],
          exports.map(exportCells),
        )
      : '',
    memory.length > 0 ? `## Memory of an export, at most ${EXPORT_BYTES_MAX / MEGABYTE} MB` : '',
    memory.length > 0
      ? table(
          ['export', 'reader', 'rows', 'seconds', 'rows/s', 'before MB', 'more MB', 'left over'],
          memory.map(memoryCells),
        )
      : '',
    faults.length === 0
      ? 'No request failed.'
      : `**Faults**\n\n${faults.map((fault) => `- ${fault}`).join('\n')}`,
  ]
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`
}

function readCells(row: ReadRow): string[] {
  const { p50, p95, p99, max } = row.latencyMs
  return [
    row.path,
    shortLabel(row.label),
    row.caller,
    String(row.connections),
    (row.bytes / 1000).toFixed(1),
    marked(p50, P50_MS_MAX),
    p95.toFixed(1),
    marked(p99, P99_MS_MAX),
    max.toFixed(1),
    row.serverCpuMs?.toFixed(1) ?? '',
    row.databaseCpuMs?.toFixed(1) ?? '',
    `${Math.round(row.busyBefore * 100)} %`,
  ]
}

function exportCells(row: ExportRow): string[] {
  return [
    shortUrl(row.url),
    row.caller,
    row.firstByteMs.p50.toFixed(1),
    row.firstByteMs.p99.toFixed(1),
    whole(row.rows),
    row.seconds.toFixed(1),
    whole(row.rows / row.seconds),
    (row.bytes / MEGABYTE).toFixed(1),
  ]
}

function memoryCells(row: MemoryRow): string[] {
  const more = row.peakBytes - row.beforeBytes
  const text = (more / MEGABYTE).toFixed(1)
  return [
    shortUrl(row.url),
    row.reader,
    `${whole(row.rows)}${row.isWhole ? '' : ' (cut)'}`,
    row.seconds.toFixed(1),
    whole(row.rows / row.seconds),
    (row.beforeBytes / MEGABYTE).toFixed(1),
    more > EXPORT_BYTES_MAX ? `**${text}**` : text,
    String(row.leftOver),
  ]
}

function soundness(isSound: boolean | null): string {
  if (isSound === null) return 'The audit was left out.'
  return isSound ? 'The audit holds.' : '**The audit found a breach.**'
}

function marked(ms: number, max: number): string {
  return ms > max ? `**${ms.toFixed(1)}**` : ms.toFixed(1)
}

/** Replaces ids, which mean nothing to the reader. */
function shortLabel(label: string): string {
  return label.replace(/[0-9a-f]{8}-[0-9a-f-]{20,}/, (id) => `${id.slice(0, 4)}…`)
}

function shortUrl(url: string): string {
  return url.length > 60 ? `${url.slice(0, 57)}…` : url
}

function whole(number: number): string {
  return Math.round(number).toLocaleString('en-US')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
