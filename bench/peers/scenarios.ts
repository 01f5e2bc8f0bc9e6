/** The loads that public benchmarks of gateways use, each through every gateway. */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  bodyFor,
  deadFirstModel,
  lateModel,
  promptBody,
  requestBodies,
  type Mode,
} from '../chat-request.ts'
import type { Measurement } from '../measure-target.ts'
import { describeRatios } from '../ratios.ts'
import { report } from '../report.ts'
import { summariseRounds } from '../summarise-rounds.ts'
import type { Load, PeersBench, RunningPeer } from './open-peers.ts'
import type { PeersResults, Turns } from './peer.ts'
import { STREAM_EVENTS_MIN, type Plan } from './plan.ts'

const CELLS: readonly { readonly mode: Mode; readonly connections: number }[] = [
  { mode: 'plain', connections: 1 },
  { mode: 'stream', connections: 1 },
  { mode: 'plain', connections: 64 },
  { mode: 'stream', connections: 64 },
]

export async function warmUp(bench: PeersBench, { warmUpSeconds: seconds }: Plan): Promise<void> {
  for (const peer of bench.peers)
    for (const { mode, connections } of CELLS.slice(1))
      await bench.load(peer, { mode, connections, seconds: connections === 1 ? 1 : seconds })
}

export async function measureThroughput(bench: PeersBench, plan: Plan): Promise<Turns[]> {
  const rows: Turns[] = []
  for (const cell of CELLS)
    rows.push(...(await inTurns(bench, plan.turns, () => ({ ...cell, seconds: plan.turnSeconds }))))
  return rows
}

export async function measurePrompts(
  bench: PeersBench,
  plan: Plan,
): Promise<PeersResults['prompts']> {
  const rows: PeersResults['prompts'][number][] = []
  for (const promptTokens of plan.promptTokens) {
    const load = { body: promptBody(promptTokens), connections: 16, seconds: 1 }
    for (const row of await inTurns(bench, plan.promptTurns, () => load))
      rows.push({ ...row, promptTokens })
  }
  return rows
}

export async function measureStreams(
  bench: PeersBench,
  plan: Plan,
): Promise<PeersResults['paced']> {
  const rows: PeersResults['paced'][number][] = []
  for (const peer of bench.peers)
    for (const streams of plan.streams) {
      const result = await bench.stream(peer, streams, plan.pacedSeconds)
      rows.push({ ...result, target: peer.name, streams })
      report(`${streams} paced streams`, peer.name, `${result.eventsPerSecond} events/s`)
      if (result.failures > 0) bench.faults.push(faultOf(peer, `${streams} streams`, result))
      // It is not tried with more.
      if (result.eventsPerSecond < streams * STREAM_EVENTS_MIN) break
    }
  return rows
}

/** Eight callers of a fast upstream, alone, and while fifty wait for a slow one. */
export async function measureBlocking(bench: PeersBench): Promise<PeersResults['blocking']> {
  const slow: Load = { body: bodyFor(lateModel), connections: 50, seconds: 3 }
  const rows = []
  for (const peer of bench.peers) rows.push((await disturb(bench, peer, slow)).row)
  return rows
}

/** Eight callers with a right key, alone, and beside sixteen with a wrong one. */
export async function measureWrongKeys(bench: PeersBench): Promise<PeersResults['wrongKeys']> {
  const rows: PeersResults['wrongKeys'][number][] = []
  for (const peer of bench.peers) {
    if (!peer.wrongKey) continue
    const headers = { ...peer.headers, ...peer.wrongKey }
    const flood: Load = {
      body: requestBodies.plain,
      isRefused: true,
      headers,
      connections: 16,
      seconds: 3,
    }
    const { row, beside } = await disturb(bench, peer, flood)
    rows.push({ ...row, refusalsPerSecond: beside.requestsPerSecond })
  }
  return rows
}

export async function measureFailOver(bench: PeersBench): Promise<PeersResults['failOver']> {
  const body = bodyFor(deadFirstModel)
  return inTurns(
    bench,
    1,
    ({ failOver = {} }) => ({ ...failOver, body, connections: 16, seconds: 2 }),
    bench.peers.filter(({ failOver }) => failOver),
  )
}

/** Another target begins in each turn, so that none always follows the same one. */
async function inTurns(
  bench: PeersBench,
  turns: number,
  loadOf: (peer: RunningPeer) => Load,
  peers = bench.peers,
): Promise<Turns[]> {
  const measured = new Map<string, Measurement[]>(peers.map(({ name }) => [name, []]))
  for (let turn = 0; turn < turns; turn += 1)
    for (let at = 0; at < peers.length; at += 1) {
      const peer = peers[(at + turn) % peers.length] as RunningPeer
      const one = await bench.load(peer, loadOf(peer))
      if (one.failures > 0) bench.faults.push(faultOf(peer, 'load', one))
      measured.get(peer.name)?.push(one)
    }
  const ours = measured.get('catraca')
  return peers.map((peer) => {
    const { mode = 'plain', connections } = loadOf(peer)
    const own = measured.get(peer.name) ?? []
    const { rounds, ...row } = summariseRounds(peer.name, { mode, connections }, own)
    report(`${mode} ${connections}`, peer.name, `${row.requestsPerSecond}/s`)
    const rates = rounds.map(({ requestsPerSecond }) => requestsPerSecond)
    const ratios = ours?.map((one, turn) => one.requestsPerSecond / (rates[turn] ?? NaN))
    return {
      ...row,
      rates,
      catracaBy: ratios?.every(Number.isFinite) ? describeRatios(ratios) : null,
    }
  })
}

async function disturb(bench: PeersBench, peer: RunningPeer, disturbance: Load) {
  const normal: Load = { connections: 8, seconds: 2 }
  const alone = await bench.load(peer, normal)
  const [beside, disturbed] = await Promise.all([
    bench.load(peer, disturbance),
    sleep(800).then(() => bench.load(peer, normal)),
  ])
  for (const one of [alone, beside, disturbed])
    if (one.failures > 0) bench.faults.push(faultOf(peer, 'disturbed', one))
  report('disturbed', peer.name, `p99 ${alone.latencyMs.p99} ms, ${disturbed.latencyMs.p99} ms`)
  const failures = alone.failures + beside.failures + disturbed.failures
  const row = {
    target: peer.name,
    aloneMs: alone.latencyMs,
    besideMs: disturbed.latencyMs,
    failures,
  }
  return { row, beside }
}

function faultOf(
  { name }: RunningPeer,
  what: string,
  one: { readonly failures: number; readonly firstFailure: string | null },
): string {
  const fault = `${name}, ${what}: ${one.failures} failures: ${one.firstFailure?.slice(0, 200)}`
  report(fault)
  return fault
}
