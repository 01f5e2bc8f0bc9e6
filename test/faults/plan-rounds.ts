/** Which faults a world gets, and when: drawn from a seed before anything runs. */
import { createRandom, type Random } from './random.ts'
import type { Direction } from './tcp-proxy.ts'
import { CLOCK_NODE, NODES, WORKERS, WORKERS_NODE } from './world.ts'

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
  'restart',
] as const
/** The clock of one node is set, once or twice. No fault for its calls: all rules hold meanwhile. */
export const CLOCK_FAULTS = ['clock step'] as const
/** All nodes, one after the other, as an operator does it: the balancer loses no call. */
export const PLANNED_FAULTS = [
  'rolling restart',
  'rolling reload',
  'upgrade',
  'rollback and upgrade',
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
export const ALL_FAULTS = [
  ...NODE_FAULTS,
  ...CLOCK_FAULTS,
  ...WORKER_FAULTS,
  ...DATABASE_FAULTS,
  ...PLANNED_FAULTS,
] as const
export type FaultName = (typeof ALL_FAULTS)[number]

export interface Round {
  readonly fault: FaultName
  /** Undefined: all nodes. */
  readonly node: number | undefined
  /** After the previous round on the same track. */
  readonly pauseMs: number
  readonly durationMs: number
  /** For a frozen network: connections are reset when it heals, instead of continuing. For a clock: it is right again. */
  readonly isReset: boolean
  /** For a full disk: writes break off after this many bytes. */
  readonly bytesLeft: number
  /** For a fault of a worker: its number. */
  readonly worker: number
  /** For a clock: how far it is from the true time in the first and in the second half of the fault, in seconds. */
  readonly offsetsSeconds: readonly [number, number]
}

/** The rounds of one track run one after the other; the tracks run in parallel. */
export type Track = readonly Round[]

export interface Episode {
  /** Runs before the others, far from any fault. */
  readonly planned: Track
  readonly tracks: readonly Track[]
}

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
  restart: 2,
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
/** After the upgrade, with which a world begins. */
const PLANNED_DECK: Record<Exclude<(typeof PLANNED_FAULTS)[number], 'upgrade'>, number> = {
  'rolling restart': 2,
  'rolling reload': 1,
  'rollback and upgrade': 1,
}
/** Every seventh round is of a clock. */
const CLOCK_EVERY = 7
const CLOCK_SECONDS_MAX = 2_700
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
  /** One planned round, and the tracks: one for each node, and one for the database. */
  nextEpisode(rounds: number): Episode
}

export function createPlanner(seed: number): Planner {
  const random = createRandom(seed)
  const nodeFaults = createDeck(random, NODE_DECK)
  const workerFaults = createDeck(random, WORKER_DECK)
  const databaseFaults = createDeck(random, DATABASE_DECK)
  const plannedFaults = createDeck(random, PLANNED_DECK)
  let dealt = 0
  let isUpgraded = false

  function nextRound(loads: readonly number[]): Round {
    dealt += 1
    if (dealt % DATABASE_EVERY === 0) return drawRound(random, databaseFaults(), undefined)
    if (dealt % CLOCK_EVERY === 0) return drawRound(random, 'clock step', CLOCK_NODE)
    if (dealt % WORKER_EVERY === 0) return drawRound(random, workerFaults(), WORKERS_NODE)
    // The node whose track ends first, so that no track runs alone for long.
    const node = loads.indexOf(Math.min(...loads.slice(0, NODES)))
    return drawRound(random, nodeFaults(), node)
  }

  return {
    nextEpisode(rounds) {
      const tracks: Round[][] = Array.from({ length: NODES + 1 }, () => [])
      const loads = tracks.map(() => 0)
      const planned = drawRound(random, isUpgraded ? plannedFaults() : 'upgrade', undefined)
      isUpgraded = true
      for (let count = 1; count < rounds; count++) {
        const round = nextRound(loads)
        const track = round.node ?? NODES
        ;(tracks[track] as Round[]).push(round)
        loads[track] = (loads[track] as number) + round.pauseMs + round.durationMs
      }
      return { planned: [planned], tracks }
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
    offsetsSeconds: [drawOffset(random), drawOffset(random)],
  }
}

/** Around the lease, around a minute, or far beyond both, in both directions. */
function drawOffset(random: Random): number {
  const seconds = random.pick([
    random.between(5, 30),
    random.between(50, 70),
    random.between(300, CLOCK_SECONDS_MAX),
  ])
  return random.next() < 0.5 ? seconds : -seconds
}

function durationOf(random: Random, fault: FaultName): number {
  switch (fault) {
    case 'stop 30 s':
      return 30_000
    case 'stop 90 s':
      return 90_000
    case 'kill worker':
      return 0
    case 'restart':
      return random.between(0, 3_000)
    case 'clock step':
      return random.between(8_000, 40_000)
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
