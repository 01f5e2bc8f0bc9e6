/** Which faults a world gets, and when: drawn from a seed before anything runs. */
import { createRandom, type Random } from './random.ts'
import type { Direction } from './tcp-proxy.ts'
import { NODES, WORKERS, WORKERS_NODE } from './world.ts'

/** Faults of one node, in the order of the report. */
export const NODE_FAULTS = [
  'kill',
  'stop 30 s',
  'stop 90 s',
  'cut',
  'freeze',
  'freeze to the database',
  'freeze from the database',
  'full disk and cut',
  'full disk and freeze',
  'cut and kill',
  'stop and cut',
] as const
/** Faults of single processes of the node that has workers. */
export const WORKER_FAULTS = ['kill worker', 'stop worker', 'kill parent'] as const
/** Faults of all nodes at once. */
export const DATABASE_FAULTS = [
  'database restart',
  'database kill',
  'database unavailable',
  'fail-over',
  'stop and fail-over',
  'switch-over',
  'standby stop',
  'standby stop and fail-over',
  'standby kill',
  'all cut',
  'all frozen',
] as const
export type FaultName =
  | (typeof NODE_FAULTS)[number]
  | (typeof WORKER_FAULTS)[number]
  | (typeof DATABASE_FAULTS)[number]

export interface Round {
  readonly fault: FaultName
  /** Undefined: all nodes. */
  readonly node: number | undefined
  /** After the previous round on the same track. */
  readonly pauseMs: number
  readonly durationMs: number
  /** For a frozen network: connections are reset when it heals, instead of continuing. */
  readonly isReset: boolean
  /** For a full disk: writes break off after this many bytes. */
  readonly bytesLeft: number
  /** For a fault of a worker: its number. */
  readonly worker: number
}

/** The rounds of one track run one after the other; the tracks run in parallel. */
export type Track = readonly Round[]

/** How many cards of each fault are in the deck, which is dealt out before it is shuffled again. */
const NODE_DECK: Record<(typeof NODE_FAULTS)[number], number> = {
  kill: 5,
  'stop 30 s': 3,
  'stop 90 s': 2,
  cut: 3,
  freeze: 2,
  'freeze to the database': 2,
  'freeze from the database': 2,
  'full disk and cut': 2,
  'full disk and freeze': 1,
  'cut and kill': 2,
  'stop and cut': 1,
}
const DATABASE_DECK: Record<(typeof DATABASE_FAULTS)[number], number> = {
  'database restart': 3,
  'database kill': 2,
  'database unavailable': 1,
  'fail-over': 3,
  'stop and fail-over': 1,
  'switch-over': 1,
  'standby stop': 1,
  'standby stop and fail-over': 1,
  'standby kill': 1,
  'all cut': 1,
  'all frozen': 1,
}
const WORKER_DECK: Record<(typeof WORKER_FAULTS)[number], number> = {
  'kill worker': 3,
  'stop worker': 2,
  'kill parent': 1,
}
/** Every fourth round is of a worker or of its parent. */
const WORKER_EVERY = 4
/** Every fifth round is of the database. */
const DATABASE_EVERY = 5

export const DIRECTIONS: Partial<Record<FaultName, readonly Direction[]>> = {
  freeze: ['to_database', 'from_database'],
  'freeze to the database': ['to_database'],
  'freeze from the database': ['from_database'],
  'full disk and freeze': ['to_database', 'from_database'],
  'all frozen': ['to_database', 'from_database'],
}

export interface Planner {
  /** The tracks of the next episode: one for each node, and one for the database. */
  nextEpisode(rounds: number): Track[]
}

export function createPlanner(seed: number): Planner {
  const random = createRandom(seed)
  const nodeFaults = createDeck(random, NODE_DECK)
  const workerFaults = createDeck(random, WORKER_DECK)
  const databaseFaults = createDeck(random, DATABASE_DECK)
  let dealt = 0
  return {
    nextEpisode(rounds) {
      const tracks: Round[][] = Array.from({ length: NODES + 1 }, () => [])
      const loads = tracks.map(() => 0)
      for (let count = 0; count < rounds; count++) {
        dealt += 1
        const isOfDatabase = dealt % DATABASE_EVERY === 0
        // The node whose track ends first, so that no track runs alone for long.
        const least = Math.min(...loads.slice(0, NODES))
        const isOfWorker = !isOfDatabase && dealt % WORKER_EVERY === 0
        const track = isOfDatabase ? NODES : isOfWorker ? WORKERS_NODE : loads.indexOf(least)
        const fault = isOfDatabase ? databaseFaults() : isOfWorker ? workerFaults() : nodeFaults()
        const round = drawRound(random, fault, isOfDatabase ? undefined : track)
        ;(tracks[track] as Round[]).push(round)
        loads[track] = (loads[track] as number) + round.pauseMs + round.durationMs
      }
      return tracks
    },
  }
}

function drawRound(random: Random, fault: FaultName, node: number | undefined): Round {
  return {
    fault,
    node,
    pauseMs: random.between(1_500, 6_000),
    durationMs: durationOf(random, fault),
    isReset: random.next() < 0.5,
    bytesLeft: random.pick([0, 0, 4_096, 8_192]),
    worker: random.between(1, WORKERS),
  }
}

function durationOf(random: Random, fault: FaultName): number {
  switch (fault) {
    case 'stop 30 s':
      return 30_000
    case 'stop 90 s':
      return 90_000
    case 'kill worker':
      return 0
    case 'kill':
    case 'kill parent':
      // Up again before the other nodes notice its death, or long after.
      return random.pick([0, random.between(200, 3_000), random.between(22_000, 40_000)])
    case 'cut and kill':
      return random.between(15_000, 40_000)
    case 'database restart':
      return random.between(0, 4_000)
    case 'database kill':
      return 0
    case 'fail-over':
    case 'stop and fail-over':
    case 'switch-over':
    case 'standby kill':
      // Until the manager has noticed.
      return random.pick([0, random.between(500, 5_000), random.between(8_000, 25_000)])
    case 'standby stop':
    case 'standby stop and fail-over':
      return random.between(1_000, 25_000)
    case 'database unavailable':
    case 'all cut':
    case 'all frozen':
      return random.between(21_000, 32_000)
    default:
      // Around the lease of 20 s, and long after it.
      return random.pick([
        random.between(2_000, 9_000),
        random.between(17_000, 24_000),
        random.between(25_000, 35_000),
        random.between(40_000, 70_000),
      ])
  }
}

function createDeck<Name extends string>(
  random: Random,
  counts: Readonly<Record<Name, number>>,
): () => Name {
  const all = (Object.keys(counts) as Name[]).flatMap((name) =>
    Array.from({ length: counts[name] }, () => name),
  )
  let deck: Name[] = []
  return () => {
    if (deck.length === 0) deck = random.shuffled(all)
    return deck.pop() as Name
  }
}
