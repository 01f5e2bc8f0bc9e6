/** Catraca's aims, and whether this run met them. */
import { findRow } from './find-row.ts'
import type { Results } from './results.ts'
import { peerName } from './target.ts'

export interface Judgement {
  readonly claim: string
  readonly value: string
  readonly isMet: boolean
}

const RATIO_MIN = 3
const ADDED_MS_MAX = 1.2
const SLOW_STREAM_BYTES_MAX = 400_000_000

/** Only the aims whose figures this run measured. */
export function judgeAims(results: Results): Judgement[] {
  return [
    ...(['plain', 'stream'] as const).flatMap((mode) => {
      const cell = { mode, connections: 64 }
      const ours = findRow(results, 'catraca', cell)
      const peer = findRow(results, peerName, cell)
      if (ours === undefined || peer === undefined) return []
      const ratio = ours.requestsPerSecond / peer.requestsPerSecond
      return [
        {
          claim: `${mode}, 64 connections: at least ${RATIO_MIN}x the requests/s of the peer`,
          value: `${ratio.toFixed(2)}x`,
          isMet: ratio >= RATIO_MIN && ours.failures === 0,
        },
        {
          claim: `${mode}, 64 connections: p99 not above the peer's`,
          value: `${ours.latencyMs.p99.toFixed(2)} ms, peer ${peer.latencyMs.p99.toFixed(2)} ms`,
          isMet: ours.latencyMs.p99 <= peer.latencyMs.p99 && ours.failures === 0,
        },
      ]
    }),
    ...judgeAdded(results, 'plain'),
    ...judgeAdded(results, 'stream'),
    ...judgeSlowStreams(results),
  ]
}

/** Plain: the whole answer. Streamed: its first byte. */
function judgeAdded(results: Results, mode: 'plain' | 'stream'): Judgement[] {
  const cell = { mode, connections: 1 }
  const ours = findRow(results, 'catraca', cell)
  const direct = findRow(results, 'direct', cell)
  if (ours === undefined || direct === undefined) return []
  const added =
    mode === 'plain'
      ? ours.latencyMs.p50 - direct.latencyMs.p50
      : ours.firstByteMs.p50 - direct.firstByteMs.p50
  const what = mode === 'plain' ? 'median added latency' : 'median added time to the first byte'
  return [
    {
      claim: `${mode}, 1 connection: ${what} at most ${ADDED_MS_MAX} ms`,
      value: `${added.toFixed(3)} ms`,
      isMet: added <= ADDED_MS_MAX && ours.failures === 0,
    },
  ]
}

function judgeSlowStreams({ slowStreams }: Results): Judgement[] {
  const ours = slowStreams.catraca
  if (ours === undefined || ours.gatewayBytesMax === null) return []
  const megabytes = Math.round(ours.gatewayBytesMax / 1e6)
  return [
    {
      claim: `${ours.streams} slow streams at once, all complete, in less than 400 MB`,
      value: `${ours.complete} complete, ${megabytes} MB`,
      isMet: ours.complete === ours.streams && ours.gatewayBytesMax < SLOW_STREAM_BYTES_MAX,
    },
  ]
}
