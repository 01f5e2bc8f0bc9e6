/** One world from creation to end: episodes of faults under load, each settled and compared. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LEASE_SECONDS } from '../../src/money/ledger/lease.ts'
import { applyFault } from './apply-fault.ts'
import type { ClientCall } from './client-call.ts'
import {
  BEFORE_MS,
  isOfService,
  RECOVERY_MS,
  type Counts,
  type Discrepancy,
  type Disturbance,
} from './compare-counts.ts'
import { startLoad } from './load.ts'
import {
  CLOCK_FAULTS,
  createPlanner,
  type Episode,
  type FaultName,
  type Track,
} from './plan-rounds.ts'
import { createPurses } from './purses.ts'
import { createRandom } from './random.ts'
import { isPlanned } from './replace-nodes.ts'
import { settleWorld } from './settle-world.ts'
import { reverseCharge } from './reverse-charge.ts'
import { watchCheckpoints } from './watch-checkpoints.ts'
import { watchPauses } from './watch-pauses.ts'
import { createWorld, type World } from './world.ts'

export interface WorldReport {
  readonly seed: number
  readonly rounds: readonly FaultName[]
  readonly counts: Counts
  readonly discrepancies: readonly Discrepancy[]
  /** The audit was clean while the counts disagreed, or it reported a finding. */
  readonly auditFaults: readonly string[]
  /** How long the audit took to find the charge that was deliberately reversed. */
  readonly foundAfterMs: number | undefined
  readonly settledAfterMs: readonly number[]
  readonly hasDisks: boolean
  readonly hasClock: boolean
  readonly hasPrevious: boolean
  /** Top-ups that were paid at the processor. */
  readonly paidTopUps: number
}

export interface WorldOptions {
  readonly seed: number
  readonly rounds: number
  readonly roundsPerEpisode: number
  readonly log: (line: string) => void
  /** For the clients with plenty of money; `RICH_MODELS` by default. */
  readonly models?: readonly string[]
  /** At the end one charge is deliberately reversed, and the audit must find it. */
  readonly provesAudit?: boolean
  /** A folder for the complete logs of the nodes. */
  readonly logFolder?: string | undefined
  /** Replaces the rounds that are drawn from the seed. */
  readonly plan?: Episode
  /** The load of each episode goes on until it has received so many answers whole; a slow machine takes longer. */
  readonly wholeMin?: number
}

/** Before the first fault of an episode, and after the last one, calls run undisturbed. */
const QUIET_MS = 2_000
/** Less than a lease, for which the holds of any other process wait. */
const AT_ONCE_MS_MAX = 0.75 * LEASE_SECONDS * 1_000
const RECONNECTED_MS_MAX = 10_000
/** A world that does not give them in this time fails its test. */
const WHOLE_MS_MAX = 90_000

export async function runWorld(options: WorldOptions): Promise<WorldReport> {
  const { seed, log } = options
  let stopWatching = (): void => {}
  const world = await createWorld({
    fromPrevious: options.plan?.planned.some(({ fault }) => fault === 'upgrade') ?? true,
  })
  try {
    const purses = await createPurses(world)
    const planner = createPlanner(seed)
    const random = createRandom(seed ^ 0x5eed)
    const calls: ClientCall[] = []
    const checkpoints = watchCheckpoints(world.db)
    const rounds: FaultName[] = []
    const disturbances: Disturbance[] = []
    stopWatching = watchPauses((fromMs, toMs) => {
      disturbances.push({ node: undefined, fromMs, toMs })
      log(`  this machine paused for ${toMs - fromMs} ms`)
    })
    const settledAfterMs: number[] = []
    const auditFaults: string[] = []
    let known = new Set<string>()
    let last: Awaited<ReturnType<typeof settleWorld>> | undefined
    while (rounds.length < options.rounds) {
      const count = Math.min(options.roundsPerEpisode, options.rounds - rounds.length)
      const { planned, tracks } = options.plan ?? planner.nextEpisode(count)
      const load = startLoad(world, random, purses.all, options.models)
      const acts = purses.startActs(random)
      await sleep(QUIET_MS)
      if (planned.length > 0) await runPlanned(world, planned, disturbances, log)
      await Promise.all(tracks.map((track) => runTrack(world, track, disturbances, log)))
      await sleep(QUIET_MS)
      await load.untilWhole(options.wholeMin ?? 0, WHOLE_MS_MAX)
      await Promise.all([load.stop(), acts.stop()])
      calls.push(...load.calls)
      rounds.push(...[planned, ...tracks].flat().map(({ fault }) => fault))
      last = await settleWorld(world, purses, {
        calls,
        checkpoints: checkpoints.seen,
        disturbances,
      })
      settledAfterMs.push(last.settledAfterMs)
      auditFaults.push(...judgeAudit(last), ...findLateWorkers(world, disturbances))
      const fresh = last.discrepancies.filter((each) => !known.has(keyOf(each)))
      known = new Set(last.discrepancies.map(keyOf))
      for (const discrepancy of fresh) log(describe(world, discrepancy))
      const { whole } = last.counts
      log(
        `seed ${seed}: ${rounds.length} rounds, ${calls.length} calls, ${whole} whole, settled after ${(last.settledAfterMs / 1_000).toFixed(0)} s${last.waitedFor && ` (${last.waitedFor})`}, ${fresh.length} new discrepancies, audit ${last.audit.isClean ? 'clean' : 'not clean'}`,
      )
    }
    await checkpoints.stop()
    const { counts, discrepancies } = last as NonNullable<typeof last>
    const foundAfterMs =
      options.provesAudit && !discrepancies.length ? await reverseCharge(world, calls) : undefined
    if (options.provesAudit && discrepancies.length === 0 && foundAfterMs === undefined)
      auditFaults.push('the audit is clean though a delivered answer is free')
    const hasDisks = world.nodes.every(({ disk }) => disk !== undefined)
    return {
      seed,
      rounds,
      counts,
      discrepancies,
      auditFaults,
      foundAfterMs,
      settledAfterMs,
      hasDisks,
      hasClock: world.nodes.some(({ clock }) => clock !== undefined),
      hasPrevious: world.previous !== undefined,
      paidTopUps: purses.all.reduce((sum, { payments }) => sum + (payments?.topUpIds.size ?? 0), 0),
    }
  } finally {
    stopWatching()
    if (options.logFolder) await keepLogs(world, options.logFolder, seed)
    await world.close()
  }
}

/** Far enough from the faults before and after it that no call is excused. */
async function runPlanned(
  world: World,
  planned: Track,
  disturbances: Disturbance[],
  log: (line: string) => void,
): Promise<void> {
  const lastMs = Math.max(0, ...disturbances.map(({ toMs }) => toMs))
  await sleep(Math.max(0, lastMs + RECOVERY_MS - Date.now()))
  await runTrack(world, planned, disturbances, log)
  await sleep(BEFORE_MS)
}

async function runTrack(
  world: World,
  track: Track,
  disturbances: Disturbance[],
  log: (line: string) => void,
): Promise<void> {
  for (const round of track) {
    await sleep(round.pauseMs)
    const startedAt = new Date()
    await applyFault(world, round)
    if (!isOfClock(round.fault))
      disturbances.push({
        node: round.node,
        fromMs: startedAt.getTime(),
        toMs: Date.now(),
        isPlanned: isPlanned(round.fault) || round.fault === 'restart',
      })
    const place = round.node === undefined ? 'all' : `node ${round.node}`
    log(
      `  ${startedAt.toISOString().slice(11, 23)} ${place}: ${round.fault}, ${((Date.now() - startedAt.getTime()) / 1_000).toFixed(1)} s${round.isReset ? ', reset' : ''}`,
    )
  }
}

function isOfClock(fault: FaultName): boolean {
  return (CLOCK_FAULTS as readonly string[]).includes(fault)
}

/** The holds of a killed worker wait for no lease, unless the database was away. */
function findLateWorkers({ killedWorkers }: World, disturbances: readonly Disturbance[]): string[] {
  return killedWorkers.splice(0).flatMap(({ killedAtMs, resolvedAtMs }) => {
    const tookMs = resolvedAtMs - killedAtMs
    const isDisturbed = disturbances.some(
      ({ node, fromMs, toMs }) =>
        node === undefined && fromMs < resolvedAtMs && toMs + RECONNECTED_MS_MAX > killedAtMs,
    )
    return isDisturbed || tookMs < AT_ONCE_MS_MAX
      ? []
      : [`the holds of a killed worker were open for ${tookMs} ms`]
  })
}

/** Clean when all counts agree, and not clean when they disagree. */
function judgeAudit({ audit, discrepancies }: Awaited<ReturnType<typeof settleWorld>>): string[] {
  const ofMoney = discrepancies.filter((each) => !isOfService(each))
  if (!audit.isClean && ofMoney.length === 0) return [`only the audit fails: ${audit.text}`]
  if (!audit.isClean) return [`the audit fails: ${audit.text}`]
  return ofMoney.length > 0 ? ['the audit is clean while the counts differ'] : []
}

async function keepLogs(world: World, folder: string, seed: number): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const node of world.nodes)
    await writeFile(join(folder, `${seed}-node-${node.index}.log`), node.logLines('').join('\n'))
}

function keyOf({ rule, requestId, detail }: Discrepancy): string {
  return `${rule} ${requestId ?? detail}`
}

/** With the lines of the nodes' logs that name the call or its hold. */
function describe(world: World, { rule, requestId, detail }: Discrepancy): string {
  const names = requestId === undefined ? [] : [requestId, ...(detail.match(HOLD_ID) ?? [])]
  const lines = world.nodes.flatMap((node) =>
    names.flatMap((name) =>
      node.logLines(name).map((line) => `      node ${node.index} ${withoutStack(line)}`),
    ),
  )
  return [`  DIFFERENCE ${rule}: ${detail}`, ...new Set(lines)].join('\n')
}

function withoutStack(line: string): string {
  return line.replace(/,"stack":"(?:[^"\\]|\\.)*"/g, '')
}

const HOLD_ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g
