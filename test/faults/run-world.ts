/** One world from its making to its end: episodes of faults under load, each settled and compared. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { applyFault } from './apply-fault.ts'
import type { ClientCall } from './client-call.ts'
import type { Counts, Difference, Disturbance } from './compare-counts.ts'
import { startLoad } from './load.ts'
import { createPlanner, type FaultName, type Track } from './plan-rounds.ts'
import { createPurses } from './purses.ts'
import { createRandom } from './random.ts'
import { settleWorld } from './settle-world.ts'
import { takeChargeBack } from './take-charge-back.ts'
import { watchCheckpoints } from './watch-checkpoints.ts'
import { createWorld, type World } from './world.ts'

export interface WorldReport {
  readonly seed: number
  readonly rounds: readonly FaultName[]
  readonly counts: Counts
  readonly differences: readonly Difference[]
  /** The audit said that all is well while counts differed, or found a fault. */
  readonly auditFaults: readonly string[]
  /** How long the audit took to find a charge that was taken back on purpose. */
  readonly foundAfterMs: number | undefined
  readonly settledAfterMs: readonly number[]
  readonly hasDisks: boolean
}

export interface WorldOptions {
  readonly seed: number
  readonly rounds: number
  readonly roundsPerEpisode: number
  readonly log: (line: string) => void
  /** Of the clients with plenty of money; `RICH_MODELS` if not given. */
  readonly models?: readonly string[]
  /** At the end a charge is taken back on purpose, and the audit must find it. */
  readonly provesAudit?: boolean
  /** A folder for the logs of the nodes, whole. */
  readonly logFolder?: string | undefined
  /** In place of those drawn from the seed. */
  readonly plan?: readonly Track[]
}

/** Before the first fault of an episode, and after the last one, calls run undisturbed. */
const QUIET_MS = 2_000

export async function runWorld(options: WorldOptions): Promise<WorldReport> {
  const { seed, log } = options
  const world = await createWorld()
  try {
    const purses = await createPurses(world.db)
    const planner = createPlanner(seed)
    const random = createRandom(seed ^ 0x5eed)
    const calls: ClientCall[] = []
    const checkpoints = watchCheckpoints(world.db)
    const rounds: FaultName[] = []
    const disturbances: Disturbance[] = []
    const settledAfterMs: number[] = []
    const auditFaults: string[] = []
    let known = new Set<string>()
    let last: Awaited<ReturnType<typeof settleWorld>> | undefined
    while (rounds.length < options.rounds) {
      const count = Math.min(options.roundsPerEpisode, options.rounds - rounds.length)
      const tracks = options.plan ?? planner.nextEpisode(count)
      const load = startLoad(world, random, purses.all, options.models)
      const acts = purses.startActs(random)
      await sleep(QUIET_MS)
      await Promise.all(tracks.map((track) => runTrack(world, track, disturbances, log)))
      await sleep(QUIET_MS)
      await Promise.all([load.stop(), acts.stop()])
      calls.push(...load.calls)
      rounds.push(...tracks.flat().map(({ fault }) => fault))
      last = await settleWorld(world, purses, {
        calls,
        checkpoints: checkpoints.seen,
        disturbances,
      })
      settledAfterMs.push(last.settledAfterMs)
      auditFaults.push(...judgeAudit(last))
      const fresh = last.differences.filter((each) => !known.has(keyOf(each)))
      known = new Set(last.differences.map(keyOf))
      for (const difference of fresh) log(tell(world, difference))
      const { whole } = last.counts
      log(
        `seed ${seed}: ${rounds.length} rounds, ${calls.length} calls, ${whole} whole, settled after ${(last.settledAfterMs / 1_000).toFixed(0)} s, ${fresh.length} new differences, audit ${last.audit.isClean ? 'clean' : 'not clean'}`,
      )
    }
    await checkpoints.stop()
    const { counts, differences } = last as NonNullable<typeof last>
    const foundAfterMs =
      options.provesAudit && !differences.length ? await takeChargeBack(world, calls) : undefined
    if (options.provesAudit && differences.length === 0 && foundAfterMs === undefined)
      auditFaults.push('the audit is clean though a delivered answer is free')
    const hasDisks = world.nodes.every(({ disk }) => disk !== undefined)
    return {
      seed,
      rounds,
      counts,
      differences,
      auditFaults,
      foundAfterMs,
      settledAfterMs,
      hasDisks,
    }
  } finally {
    if (options.logFolder) await keepLogs(world, options.logFolder, seed)
    await world.close()
  }
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
    disturbances.push({ node: round.node, fromMs: startedAt.getTime(), toMs: Date.now() })
    const place = round.node === undefined ? 'all' : `node ${round.node}`
    log(
      `  ${startedAt.toISOString().slice(11, 23)} ${place}: ${round.fault}, ${((Date.now() - startedAt.getTime()) / 1_000).toFixed(1)} s${round.isReset ? ', reset' : ''}`,
    )
  }
}

/** Clean where nothing differs, and not clean where something does. */
function judgeAudit({ audit, differences }: Awaited<ReturnType<typeof settleWorld>>): string[] {
  if (!audit.isClean && differences.length === 0) return [`the audit fails alone: ${audit.text}`]
  if (!audit.isClean) return [`the audit fails: ${audit.text}`]
  return differences.length > 0 ? ['the audit is clean while the counts differ'] : []
}

async function keepLogs(world: World, folder: string, seed: number): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const node of world.nodes)
    await writeFile(join(folder, `${seed}-node-${node.index}.log`), node.logLines('').join('\n'))
}

function keyOf({ rule, requestId, detail }: Difference): string {
  return `${rule} ${requestId ?? detail}`
}

/** With the lines of the nodes' logs that name the call or its hold. */
function tell(world: World, { rule, requestId, detail }: Difference): string {
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
