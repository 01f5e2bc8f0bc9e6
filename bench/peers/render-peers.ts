/** The comparison as Markdown, for one part of docs/benchmarks.md. */
import { join } from 'node:path'
import type { Disturbed, PeerResult, PeersResults, Turns } from './peer.ts'
import { STREAM_EVENTS_MIN } from './plan.ts'

export const docsPath = join(import.meta.dirname, '../../docs/benchmarks.md')

const BEGIN = '<!-- npm run bench:peers writes from here -->'
const END = '<!-- to here -->'
/** What a cloud asks for an hour of one processor, roughly; the ratios do not depend on it. */
const USD_PER_PROCESSOR_HOUR = 0.04
const PACED_STREAMS = 400

export function replaceSection(text: string, section: string): string {
  const from = text.indexOf(BEGIN)
  const until = text.indexOf(END)
  if (from < 0 || until < from) throw new Error('the docs have no place for the comparison')
  return `${text.slice(0, from + BEGIN.length)}\n\n${section}\n\n${text.slice(until)}`
}

export function renderPeers(results: PeersResults): string {
  const { at, machine, isQuick, minutes, unavailable } = results
  return [
    isQuick ? '**A quick run, or a part of one: figures not to believe.**' : '',
    `${at.slice(0, 10)}, commit ${machine.commit}, ${machine.processors}, Node.js ${machine.node}, a durable write of ${machine.fdatasyncMs} ms, ${minutes} minutes.`,
    renderCosts(results),
    whatIsFaster(results),
    renderTrouble(results),
    renderKills(results),
    renderMissing(unavailable),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** At 64 connections, but for the columns that say so. */
function renderCosts({ peers, throughput, prompts, paced }: PeersResults): string {
  const lines = peers.map((peer) => {
    const plain = cellOf(throughput, peer, 'plain', 64)
    const stream = cellOf(throughput, peer, 'stream', 64)
    const large = prompts.findLast(({ target }) => target === peer.name)
    const event = paced.find((row) => row.target === peer.name && row.streams === PACED_STREAMS)
    const cpuUs = plain && sum(plain)
    return [
      `${peer.name} ${peer.version}`.trim(),
      whole(plain?.requestsPerSecond),
      ratio(plain),
      whole(stream?.requestsPerSecond),
      ratio(stream),
      whole(cpuUs),
      cpuUs ? ((cpuUs / 3600) * USD_PER_PROCESSOR_HOUR).toFixed(4) : '',
      decimal(cellOf(throughput, peer, 'plain', 1)?.latencyMs.p50, 2),
      decimal(cellOf(throughput, peer, 'stream', 1)?.firstByteMs.p50, 2),
      whole(large?.requestsPerSecond),
      decimal(event && sum(event), 1),
    ]
  })
  const tokens = Math.max(0, ...prompts.map(({ promptTokens }) => promptTokens)) / 1000
  return table(
    [
      'gateway',
      'plain/s',
      'Catraca ×',
      'streams/s',
      'Catraca ×',
      'µs a call',
      'US$ a million',
      'p50 of one',
      'its first byte',
      `${tokens}k tokens/s`,
      'µs an event',
    ],
    lines,
  )
}

/** Says where others are faster, and what they do less. */
function whatIsFaster({ peers, throughput }: PeersResults): string {
  const faster = peers.filter(({ name }) =>
    throughput.some(
      ({ target, connections, catracaBy }) =>
        target === name &&
        name !== 'catraca' &&
        connections === 64 &&
        parseFloat(catracaBy ?? '9') < 1,
    ),
  )
  if (faster.length === 0) return ''
  const list = faster.map(({ name, checks }) => `${name} (checks ${checks})`).join(', ')
  const billing = faster.filter(({ bills }) => bills !== 'nothing').map(({ name }) => name)
  const why = billing.length === 0 ? 'none of them bills' : `of them ${billing.join(', ')} bill`
  return `Faster than Catraca at 64 connections: ${list}; ${why}.`
}

function renderTrouble(results: PeersResults): string {
  const { peers, paced, blocking, wrongKeys, failOver } = results
  const lines = peers.map(({ name, checks, bills, coldStartMs, memoryBytes, databaseBytes }) => {
    const isOwn = ({ target }: { readonly target: string }): boolean => target === name
    const streams = paced.findLast(
      (row) =>
        isOwn(row) && row.eventsPerSecond >= row.streams * STREAM_EVENTS_MIN && row.failures === 0,
    )
    const slow = blocking.find(isOwn)
    const flood = wrongKeys.find(isOwn)
    const dead = failOver.find(isOwn)
    return [
      name,
      bills === 'nothing' ? checks : `${checks}; bills ${bills}`,
      streams ? `${streams.streams} (${decimal(streams.firstByteMs.p99, 0)})` : '',
      change(slow),
      change(flood),
      dead ? `${dead.failures} (${decimal(dead.latencyMs.p50, 1)})` : '',
      decimal(coldStartMs / 1000, 1),
      `${megabytes(memoryBytes)}${databaseBytes ? ` + ${megabytes(databaseBytes)}` : ''}`,
    ]
  })
  return table(
    [
      'gateway',
      'checks',
      'streams held (first byte p99)',
      'p99, beside a slow upstream',
      'beside wrong keys',
      'dead route: failed (p50)',
      'cold start s',
      'memory MB',
    ],
    lines,
  )
}

function renderKills({ kills }: PeersResults): string {
  if (kills.length === 0) return ''
  const lines = kills.map((kill) => [
    kill.target,
    `${kill.before.delivered} / ${kill.before.charged}`,
    ...[kill.answeredByUpstream, kill.delivered, kill.charged, kill.free, kill.chargedTwice].map(
      String,
    ),
    `${kill.secondsToBooks} s${kill.isSound === null ? '' : kill.isSound ? ', audit sound' : ', audit BROKEN'}`,
  ])
  return table(
    [
      'kill -9 under load',
      'before: delivered / charged',
      'upstream answered',
      'delivered',
      'charged',
      '**free**',
      '**charged twice**',
      'books',
    ],
    lines,
  )
}

function renderMissing(unavailable: PeersResults['unavailable']): string {
  const reasons = [...new Set(Object.values(unavailable))].map((reason) => {
    const names = Object.keys(unavailable).filter((name) => unavailable[name] === reason)
    return `${names.join(', ')} (${reason})`
  })
  return reasons.length === 0 ? '' : `Not measured: ${reasons.join('; ')}.`
}

function cellOf(
  rows: readonly Turns[],
  { name }: PeerResult,
  mode: string,
  connections: number,
): Turns | undefined {
  return rows.find(
    (row) => row.target === name && row.mode === mode && row.connections === connections,
  )
}

function sum(row: Pick<Turns, 'gatewayCpuUs' | 'databaseCpuUs'>): number | undefined {
  return row.gatewayCpuUs === null ? undefined : row.gatewayCpuUs + (row.databaseCpuUs ?? 0)
}

/** Two digits of each number are enough. */
function ratio(row: Turns | undefined): string {
  if (row === undefined || row.target === 'catraca') return ''
  return (row.catracaBy ?? '').replaceAll(/(\.\d\d)\d+/g, '$1').replace(' to ', '–')
}

/** A histogram without a value has only zeros. */
function change(row: Disturbed | undefined): string {
  if (!row) return ''
  const { p99 } = row.besideMs
  return `${decimal(row.aloneMs.p99, 1)} → ${p99 === 0 ? 'none answered' : decimal(p99, 1)}`
}

function whole(value: number | undefined): string {
  return value === undefined ? '' : Math.round(value).toLocaleString('en')
}

function decimal(value: number | undefined, digits: number): string {
  return value === undefined ? '' : value.toFixed(digits)
}

function megabytes(bytes: number | null): string {
  return bytes === null ? '' : String(Math.round(bytes / 1e6))
}

function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const rows = [head, ...lines].map((cells) => `| ${cells.join(' | ')} |`)
  return rows.toSpliced(1, 0, `|${'---|'.repeat(head.length)}`).join('\n')
}
