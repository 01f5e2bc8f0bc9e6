/**
 * Faults of nodes, networks, the database and disks under load, with three counts that must agree: the
 * upstream's usage, the clients' answers, the ledger's charges. An ordinary run has a few rounds;
 * `TEST_EFFORT=full` runs them all.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFullEffort, seedOr } from '../harness/effort.ts'
import type { FaultName, Round, Track } from './plan-rounds.ts'
import { renderRounds } from './render-rounds.ts'
import { runWorld, type WorldReport } from './run-world.ts'

const WORLDS = 4
const ROUNDS = 50
/** Fewer answers would prove little. */
const WHOLE_MIN = 51
const seed = seedOr(14)
const log: string[] = []

const WORKER_ROUNDS: readonly Round[] = [
  round('kill worker', 2, 0, 1),
  round('stop worker', 2, 4_000, 2),
  round('kill worker', 2, 0, 2),
  round('kill parent', 2, 0),
]

/** The longest round outlasts a lease and the interval at which nodes look for silent ones. */
const FEW: readonly Track[] = [
  [round('cut', 0, 38_000)],
  [round('kill', 1, 0), round('full disk and freeze', 1, 6_000)],
  [round('freeze from the database', 2, 6_000), round('stop and cut', 2, 5_000), ...WORKER_ROUNDS],
  [round('fail-over', undefined, 500), round('database restart', undefined, 500)],
]

function round(fault: FaultName, node: number | undefined, durationMs: number, worker = 1): Round {
  return { fault, node, durationMs, pauseMs: 1_500, isReset: false, bytesLeft: 4_096, worker }
}

async function runWorlds(): Promise<WorldReport[]> {
  const take = (line: string): void => void log.push(line)
  if (!isFullEffort) {
    const rounds = FEW.flat().length
    const models = ['quick', 'slow']
    const wholeMin = WHOLE_MIN
    return [
      await runWorld({
        seed,
        rounds,
        roundsPerEpisode: rounds,
        log: take,
        plan: FEW,
        models,
        wholeMin,
      }),
    ]
  }
  return Promise.all(
    Array.from({ length: WORLDS }, (_, index) =>
      runWorld({ seed: seed + index, rounds: ROUNDS, roundsPerEpisode: 13, log: take }),
    ),
  )
}

test('under every fault, each answer is charged once, nobody overspends, and the audit is right', async () => {
  const reports = await runWorlds()
  const faults = reports.flatMap(({ auditFaults, discrepancies }) => [
    ...discrepancies.map(({ rule, detail }) => `${rule}: ${detail}`),
    ...auditFaults,
  ])
  const whole = reports.reduce((sum, { counts }) => sum + counts.whole, 0)
  assert.deepEqual(faults, [], `seed ${seed}\n${log.join('\n')}`)
  assert.ok(whole >= WHOLE_MIN, `only ${whole} answers were received whole`)
  process.stdout.write(`${renderRounds(reports).replaceAll(/^/gm, '# ')}\n`)
})
