/** The gateways of one run, started one after another, with a tally of the answers that each delivered. */
import type { Mode } from '../chat-request.ts'
import { checkRequests, checkTarget } from '../check-target.ts'
import { measureTarget, type Conversation, type Measurement } from '../measure-target.ts'
import type { BenchRun } from '../open-bench-run.ts'
import { measurePaced } from '../paced/measure-paced.ts'
import type { PacedResult } from '../paced/load.ts'
import { pinnedTo } from '../pinned-to.ts'
import type { Processes } from '../processes.ts'
import { report } from '../report.ts'
import type { AnyTarget } from '../target.ts'
import type { UpstreamCount } from '../upstream.ts'
import type { Peer, PeerPlan } from './peer.ts'

export interface RunningPeer extends Peer {
  readonly plan: PeerPlan
  readonly coldStartMs: number
  readonly bodyBytes: Record<Mode, number>
}

export interface Load extends Partial<Conversation> {
  readonly mode?: Mode
  readonly connections: number
  readonly seconds: number
  /** In place of the peer's own. */
  readonly path?: string | undefined
  readonly headers?: AnyTarget['headers'] | undefined
}

export interface PeersBench {
  readonly peers: readonly RunningPeer[]
  readonly unavailable: Readonly<Record<string, string>>
  /** What went wrong so far. */
  readonly faults: string[]
  load(peer: RunningPeer, load: Load): Promise<Measurement>
  stream(peer: RunningPeer, streams: number, seconds: number): Promise<PacedResult>
  /** Whole answers that clients of this peer got so far. */
  delivered(peer: Peer): number
  readUpstream(): Promise<UpstreamCount>
}

const WARM_UP_SECONDS = 0.2
const PACED_WARM_UP_SECONDS = 3

export async function openPeers(
  { processes, upstreamPort, latePort, folder, countUrl }: BenchRun,
  plans: readonly PeerPlan[],
  cpus: { readonly target: string; readonly client: string },
): Promise<PeersBench> {
  const clients = pinnedTo(processes, cpus.client)
  const { timed, lastStartMs } = timeStarts(pinnedTo(processes, cpus.target))
  const surroundings = { processes: timed, upstreamPort, latePort, folder }
  const peers: RunningPeer[] = []
  const unavailable: Record<string, string> = {}
  const faults: string[] = []
  const tally = new Map<string, number>()
  const add = (name: string, answers: number): unknown =>
    tally.set(name, (tally.get(name) ?? 0) + answers)

  for (const plan of plans) {
    const started = await plan.start(surroundings).catch(reasonOf)
    if ('kind' in started) {
      unavailable[plan.name] = started.reason
      report(`${plan.name}: skipped: ${started.reason}`)
      continue
    }
    const askedAt = performance.now()
    const bodyBytes = await checkTarget(started).catch(reasonOf)
    if ('kind' in bodyBytes) {
      unavailable[plan.name] = bodyBytes.reason
      report(`${plan.name}: skipped: ${bodyBytes.reason}`)
      continue
    }
    add(plan.name, checkRequests)
    const coldStartMs = Math.round(lastStartMs() + performance.now() - askedAt)
    peers.push({ ...started, plan, bodyBytes, coldStartMs })
    report(plan.name, started.version, `cold start ${coldStartMs} ms`)
  }

  return {
    peers,
    unavailable,
    faults,

    async load(peer, { mode = 'plain', connections, seconds, path, headers, ...conversation }) {
      const target = { ...peer, path: path ?? peer.path, headers: headers ?? peer.headers }
      const { body, isRefused = false } = conversation
      const measured = await measureTarget(
        clients,
        // The keys of callers would replace other headers.
        headers ? { ...target, callers: [{}] } : target,
        isRefused ? { plain: 0, stream: 0 } : peer.bodyBytes,
        { mode, connections },
        { quietMsMax: 0, warmupSeconds: WARM_UP_SECONDS, seconds },
        ...(body === undefined ? [] : [{ body, endOfEvents: '[DONE]', isRefused }]),
      )
      if (!isRefused) add(peer.name, measured.answersInAll)
      return measured
    },

    async stream(peer, streams, seconds) {
      const how = { streams, seconds, warmupSeconds: PACED_WARM_UP_SECONDS }
      const result = await measurePaced(clients, peer, how)
      add(peer.name, result.complete)
      return result
    },

    delivered: ({ name }) => tally.get(name) ?? 0,
    readUpstream: async () => (await (await fetch(countUrl)).json()) as UpstreamCount,
  }
}

function reasonOf(error: unknown): { kind: 'unavailable'; reason: string } {
  const { message } = error as Error
  return { kind: 'unavailable', reason: message.replaceAll(/\s+/g, ' ').slice(0, 200) }
}

/** The same processes; `lastStartMs` is how long the last one took to be ready. */
function timeStarts(processes: Processes): { timed: Processes; lastStartMs: () => number } {
  let lastMs = 0
  const timed: Processes = {
    ...processes,
    async start(command) {
      const startedAt = performance.now()
      const running = await processes.start(command)
      lastMs = performance.now() - startedAt
      return running
    },
  }
  return { timed, lastStartMs: () => lastMs }
}
