/** Runs generated schedules on several worlds at once, and shrinks a failing one to a few steps. */
import fc from '../harness/fast-check.ts'
import { audit } from '../../src/money/ledger/audit/audit.ts'
import { schedules, type Vocabulary } from './generate-schedule.ts'
import { PromiseBroken, runSchedule } from './run-schedule.ts'
import { describeSchedule, type Schedule } from './steps.ts'
import { watchMachine, type MachineWatch } from './watch-machine.ts'
import { openWorld, type World } from './world.ts'

/** Schedules that run at once, each in a separate world. */
const WORLDS = 4
/** Nodes are concurrent: while it shrinks, a schedule passes when it passed this often. */
const SHRINK_REPEATS = 8
/** How often a schedule is repeated that fails while the machine pauses; the last failure counts. */
const PAUSED_MAX = 20
/** The audit reads all rows of a world, so it costs as much as many schedules. */
const AUDIT_EVERY = Number(process.env.MODEL_AUDIT_EVERY ?? 250)

/**
 * The breach stays in the rows of the world, so it cannot be shrunk: any schedule since the last audit may have
 * caused it.
 */
class AuditBreached extends PromiseBroken {}

export interface Exploration {
  readonly vocabulary: Vocabulary
  readonly count: number
  readonly seed: number
  readonly worlds?: number
  readonly prepare?: string | undefined
  /** The path of an earlier failure, to run only that schedule. */
  readonly path?: string | undefined
  readonly shrinkMsMax?: number
  readonly stopsAtFirst?: boolean
  /** Ignores other breaches. */
  readonly only?: RegExp
  /** Called after every thousand schedules. */
  readonly progress?: (ran: number) => void
  /** Once aborted, no further schedule begins, and the run reports what it has. */
  readonly signal?: AbortSignal
}

export interface Failure {
  readonly seed: number
  readonly path: string
  readonly schedule: Schedule
  readonly message: string
}

export interface Explored {
  readonly ran: number
  /** The messages of failures that were repeated because the machine paused. */
  readonly paused: readonly string[]
  readonly failures: readonly Failure[]
}

export async function explore(exploration: Exploration): Promise<Explored> {
  const worlds = exploration.path === undefined ? (exploration.worlds ?? WORLDS) : 1
  const each = Math.ceil(exploration.count / worlds)
  const found = { any: false }
  const counted = { schedules: 0, paused: [] as string[] }
  const machine = await watchMachine(process.env.TEST_DATABASE_URL as string)
  const explored = await Promise.all(
    Array.from({ length: worlds }, (_, index) =>
      exploreIn(
        { ...exploration, count: each, seed: exploration.seed + index },
        { found, counted, machine },
      ),
    ),
  ).finally(() => machine.close())
  return {
    ran: explored.reduce((sum, { ran }) => sum + ran, 0),
    paused: counted.paused,
    failures: explored.flatMap(({ failure }) => (failure ? [failure] : [])),
  }
}

interface Shared {
  readonly found: { any: boolean }
  readonly counted: { schedules: number; readonly paused: string[] }
  readonly machine: MachineWatch
}

async function exploreIn(
  exploration: Exploration,
  { found, counted, machine }: Shared,
): Promise<{ ran: number; failure?: Failure }> {
  const { vocabulary, count, seed, prepare, path, shrinkMsMax = 30_000 } = exploration
  const world = await openWorld({ prepare })
  let message = ''
  let isBreach = false
  let shrinkUntilMs = Number.POSITIVE_INFINITY
  let ran = 0
  /** fast-check cannot be stopped: its next schedule waits for ever. */
  const stopped = Promise.withResolvers<undefined>()
  const stop = (): Promise<void> => {
    stopped.resolve(undefined)
    return new Promise(() => {})
  }

  async function tryOnce(schedule: Schedule, pausesLeft = PAUSED_MAX): Promise<boolean> {
    const startedAtMs = performance.now()
    ran += 1
    counted.schedules += 1
    if (counted.schedules % 1_000 === 0) exploration.progress?.(counted.schedules)
    try {
      await runSchedule(world, schedule)
      const breach = ran % AUDIT_EVERY === 0 ? await findBreach(world) : undefined
      if (breach !== undefined) throw new AuditBreached(breach)
      return true
    } catch (error) {
      isBreach = error instanceof AuditBreached
      const hasPaused = !isBreach && machine.hasPausedSince(startedAtMs)
      // Others are of the harness: a node that cannot start on a machine that pauses.
      if (!(error instanceof PromiseBroken) && !hasPaused) throw error
      message = (error as Error).message
      const isWanted = exploration.only?.test(message) ?? true
      await world.restart()
      if (!isWanted) return true
      if (!hasPaused || pausesLeft === 0) return false
      counted.paused.push(message)
      ran -= 1
      return tryOnce(schedule, pausesLeft - 1)
    }
  }

  try {
    const checked = fc.check(
      fc.asyncProperty(schedules(vocabulary), async (schedule) => {
        const isShrinking = Number.isFinite(shrinkUntilMs)
        if (isShrinking && performance.now() > shrinkUntilMs) return
        if (!isShrinking && found.any && exploration.stopsAtFirst) return stop()
        if (exploration.signal?.aborted) return stop()
        // fast-check goes on with the neighbours of a path whose schedule passes.
        if (path !== undefined && ran > 0) return
        for (let left = isShrinking || path !== undefined ? SHRINK_REPEATS : 1; left > 0; left--) {
          if (await tryOnce(schedule)) continue
          // A failed audit is not shrunk: its rows come from many schedules.
          if (!isShrinking) shrinkUntilMs = isBreach ? 0 : performance.now() + shrinkMsMax
          found.any = true
          throw new Error(message)
        }
      }),
      { numRuns: count, seed, ...(path === undefined ? {} : { path, endOnFailure: true }) },
    )
    const details = await Promise.race([checked, stopped.promise])
    if (!details?.failed) {
      const breach = await findBreach(world)
      if (breach === undefined) return { ran }
      return {
        ran,
        failure: { seed, path: '', schedule: { customers: [], rounds: [] }, message: breach },
      }
    }
    const [schedule] = details.counterexample ?? []
    if (!schedule) throw details.errorInstance
    const failure = {
      seed: details.seed,
      path: details.counterexamplePath ?? '',
      schedule,
      message: (details.errorInstance as Error | null)?.message ?? message,
    }
    return { ran, failure }
  } finally {
    await world.close()
  }
}

/** Checks the rows of all schedules of a world together with the audit that operators run. */
async function findBreach({ database }: World): Promise<string | undefined> {
  const { checks } = await audit(database.db)
  const breaches = checks.filter(({ ok }) => !ok)
  if (breaches.length === 0) return undefined
  const text = (_: string, value: unknown): unknown =>
    typeof value === 'bigint' ? String(value) : value
  return `the audit fails: ${JSON.stringify(breaches, text)}`
}

export function describeFailure({ seed, path, schedule, message }: Failure): string {
  return `TEST_SEED=${seed} MODEL_PATH=${path}\n${describeSchedule(schedule)}\n${message}`
}
