/** What the comparison knows of each gateway, and the figures that it gives of it. */
import type { Latencies } from '../histogram.ts'
import type { PacedResult } from '../paced/load.ts'
import type { Machine, Row } from '../results.ts'
import type { AnyTarget, Surroundings, Unavailable } from '../target.ts'

type Headers = Readonly<Record<string, string>>

export interface Peer extends AnyTarget {
  /** Of the program that runs. */
  readonly version: string
  /** Where a wrong key is refused: the headers of a caller with one. */
  readonly wrongKey?: Headers
  /** How a call asks for the model whose first route is dead, beside naming it. Not where no route is a second one. */
  readonly failOver?: { readonly path?: string; readonly headers?: Headers }
  /** Only of one that bills: what it has charged so far, as its own books say. */
  readBooks?(): Promise<Books>
  /** Only of one that bills: starts it again on its data, on any port, after its process was killed. */
  restart?(): Promise<unknown>
}

export interface Books {
  readonly charged: number
  /** Nothing is still open that will be charged or released. */
  readonly isComplete: boolean
  /** Where the books can be proved from their rows. */
  readonly isSound?: boolean
}

export type StartPeer = (surroundings: Surroundings) => Promise<Peer | Unavailable>

export interface PeerPlan {
  readonly name: string
  /** What it does for each call, in the words of the table. */
  readonly checks: string
  readonly bills: string
  readonly start: StartPeer
}

/** The medians of a target's turns. */
export type Turns = Omit<Row<string>, 'rounds'> & {
  /** Requests/s of each turn. */
  readonly rates: readonly number[]
  /** Catraca's requests/s by this target's in each turn: median, and the range of the middle half. */
  readonly catracaBy: string | null
}

export interface PeersResults {
  readonly at: string
  readonly isQuick: boolean
  readonly minutes: number
  readonly machine: Machine
  /** The processors of a target with its database, and of the load with the upstream. */
  readonly cpus: { readonly target: string; readonly client: string }
  readonly peers: readonly PeerResult[]
  readonly unavailable: Readonly<Record<string, string>>
  readonly throughput: readonly Turns[]
  readonly prompts: readonly (Turns & { readonly promptTokens: number })[]
  readonly paced: readonly (PacedResult & { readonly target: string; readonly streams: number })[]
  /** Calls to a fast upstream, alone and beside fifty that wait for a slow one. */
  readonly blocking: readonly Disturbed[]
  /** Calls with a right key, alone and beside a flood with a wrong one. */
  readonly wrongKeys: readonly (Disturbed & { readonly refusalsPerSecond: number })[]
  readonly failOver: readonly Turns[]
  readonly kills: readonly Kill[]
  readonly faults: readonly string[]
}

export interface PeerResult extends Pick<PeerPlan, 'name' | 'checks' | 'bills'> {
  readonly version: string
  /** From the start of its process to its first whole answer. */
  readonly coldStartMs: number
  /** At the end of the run, before any kill. */
  readonly memoryBytes: number | null
  readonly databaseBytes: number | null
}

export interface Disturbed {
  readonly target: string
  readonly aloneMs: Latencies
  readonly besideMs: Latencies
  readonly failures: number
}

/** The counts of a load in whose middle the gateway was killed. */
export interface Kill {
  readonly target: string
  readonly answeredByUpstream: number
  /** Whole answers that clients got. */
  readonly delivered: number
  readonly charged: number
  /** Delivered and not charged. */
  readonly free: number
  /** Charged beyond what the upstream answered. */
  readonly chargedTwice: number
  /** Of all calls of the run before. */
  readonly before: { readonly delivered: number; readonly charged: number }
  /** From the start after the kill until nothing was open in the books. */
  readonly secondsToBooks: number
  readonly isSound: boolean | null
}
