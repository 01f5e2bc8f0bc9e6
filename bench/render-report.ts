/** The results as Markdown. */
import type { Mode } from './chat-request.ts'
import { findRow } from './find-row.ts'
import { judgeAims } from './judge-aims.ts'
import type { Results, Row } from './results.ts'
import { median } from './summarise-rounds.ts'
import { peerName } from './target.ts'

const MEGABYTE = 1_000_000

export function renderReport(results: Results): string {
  const { options, machine } = results
  const sections = [
    `# Catraca benchmark, ${results.at}`,
    `${machine.processors}, ${Math.round(machine.memoryBytes / 1e9)} GB, ${machine.platform}, ` +
      `Node ${machine.node}, commit ${machine.commit}; write with fdatasync ` +
      `${machine.fdatasyncMs} ms. Load generator, upstream, gateway and database share the ` +
      `processors. Median of ${options.rounds} rounds of ${options.seconds} s, targets in turn; ` +
      'closed loop. "+" is the percentile less that of direct at the same connections; memory is ' +
      `the gateway's peak (and the database's). ${renderNoise(results)}`,
    ...options.modes.map((mode) => renderMode(results, mode)),
    renderSlowStreams(results),
    renderReconciliation(results),
    renderJudgements(results),
    ...Object.entries(results.unavailable).map(([name, why]) => `Not measured: ${name} (${why}).`),
    results.faults.length === 0
      ? 'No request failed.'
      : `**Faults**\n\n${results.faults.map((fault) => `- ${fault}`).join('\n')}`,
  ]
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`
}

/** The figures of a machine with other work to do mean little. */
function renderNoise({ rows }: Results): string {
  const busy = rows.flatMap((row) => row.rounds.map((round) => round.busyBefore))
  if (busy.length === 0) return ''
  const percent = (share: number) => `${Math.round(share * 100)} %`
  return (
    `Before the measurements the processors were ${percent(median(busy))} busy ` +
    `(median; most: ${percent(Math.max(...busy))}).`
  )
}

function renderMode(results: Results, mode: Mode): string {
  const isStream = mode === 'stream'
  const head = [
    'connections',
    'target',
    'requests/s',
    'spread',
    `x ${peerName}`,
    'p50 ms',
    'p95',
    'p99',
    '+p50 ms',
    '+p95',
    '+p99',
    ...(isStream ? ['first byte p50 ms', 'p99', '+p50 ms', '+p99'] : []),
    'memory MB',
    'CPU µs/request',
  ]
  const rows = results.rows.filter((row) => row.mode === mode)
  const lines = [...rows]
    .sort((a, b) => a.connections - b.connections)
    .map((row) => renderRow(results, row, isStream))
  return table(isStream ? '## Streamed' : '## Plain', head, lines)
}

function renderRow(results: Results, row: Row, isStream: boolean): string[] {
  const direct = findRow(results, 'direct', row)
  const peer = findRow(results, peerName, row)
  const added = (of: (row: Row) => number) =>
    direct === undefined || direct === row ? '' : ms(of(row) - of(direct))
  const ratio =
    peer === undefined ? '' : (row.requestsPerSecond / peer.requestsPerSecond).toFixed(2)
  return [
    String(row.connections),
    row.target,
    String(Math.round(row.requestsPerSecond)),
    `${Math.round(row.spread * 100)} %`,
    ratio,
    ...[row.latencyMs.p50, row.latencyMs.p95, row.latencyMs.p99].map(ms),
    added((r) => r.latencyMs.p50),
    added((r) => r.latencyMs.p95),
    added((r) => r.latencyMs.p99),
    ...(isStream
      ? [
          ms(row.firstByteMs.p50),
          ms(row.firstByteMs.p99),
          added((r) => r.firstByteMs.p50),
          added((r) => r.firstByteMs.p99),
        ]
      : []),
    withDatabase(megabytes(row.gatewayBytesMax), megabytes(row.databaseBytes)),
    withDatabase(row.gatewayCpuUs, row.databaseCpuUs),
  ]
}

function renderSlowStreams(results: Results): string {
  const entries = Object.entries(results.slowStreams)
  if (entries.length === 0) return ''
  const head = ['target', 'streams', 'complete', 'at once', 'seconds', 'memory before', 'peak MB']
  const lines = entries.map(([name, slow]) => [
    name,
    String(slow.streams),
    String(slow.complete),
    String(slow.concurrentMax),
    String(slow.seconds),
    String(megabytes(slow.gatewayBytesBefore) ?? ''),
    withDatabase(megabytes(slow.gatewayBytesMax), megabytes(slow.databaseBytesMax)),
  ])
  return table('## Slow streams', head, lines)
}

function renderReconciliation({ reconciliation }: Results): string {
  if (reconciliation === null) return ''
  const { clientAnswers, upstreamAnswers, charges, openHolds, isSound } = reconciliation
  const head = ['answers to the client', "the upstream's count", 'charges', 'open holds', 'audit']
  const line = [clientAnswers, upstreamAnswers, charges, openHolds].map(String)
  return table('## The books', head, [[...line, isSound ? 'sound' : 'BREACHED']])
}

function renderJudgements(results: Results): string {
  const judgements = judgeAims(results)
  if (judgements.length === 0) return ''
  const lines = judgements.map((one) => [one.claim, one.value, one.isMet ? 'yes' : 'NO'])
  return table('## Aims', ['aim', 'measured', 'met'], lines)
}

function table(title: string, head: readonly string[], lines: readonly string[][]): string {
  const rows = [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`)
  return `${title}\n\n${rows.join('\n')}`
}

function ms(value: number): string {
  return value.toFixed(3)
}

function megabytes(bytes: number | null): number | null {
  return bytes === null ? null : Math.round(bytes / MEGABYTE)
}

function withDatabase(gateway: number | null, database: number | null): string {
  if (gateway === null) return ''
  return database === null ? String(gateway) : `${gateway} (+${database})`
}
