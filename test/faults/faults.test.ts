// deep: rounds of faults over several nodes
/**
 * Faults of nodes, networks, the database and disks under load, with three counts that must agree: the
 * upstream's usage, the clients' answers, the ledger's charges. An ordinary run has a few rounds;
 * `TEST_EFFORT=full` runs them all.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFullEffort, seedOr } from '../harness/effort.ts'
import type { Episode, FaultName, Round } from './plan-rounds.ts'
import { renderRounds } from './render-rounds.ts'
import { runWorld, type WorldReport } from './run-world.ts'

const WORLDS = 4
const ROUNDS = 50
/** Fewer answers would prove little. */
const WHOLE_MIN = 51
const seed = seedOr(14)
const log: string[] = []

/** The longest round outlasts a lease and the interval at which nodes look for silent ones. */
const FEW: Episode = {
  planned: [round('rolling restart', undefined, 0)],
  tracks: [
    [round('cut', 0, 28_000)],
    [round('kill', 1, 0), round('full disk and freeze', 1, 4_000), round('clock step', 1, 4_000)],
    [
      round('stop and cut', 2, 3_000),
      round('kill worker', 2, 0),
      round('stop worker', 2, 3_000, 2),
      round('kill parent', 2, 0),
    ],
    [round('fail-over', undefined, 500)],
  ],
}
const FEW_ROUNDS = FEW.planned.length + FEW.tracks.flat().length

function round(fault: FaultName, node: number | undefined, durationMs: number, worker = 1): Round {
  return {
    fault,
    node,
    durationMs,
    pauseMs: 1_000,
    isReset: false,
    bytesLeft: 4_096,
    worker,
    offsetsSeconds: [-90, 1_200],
  }
}

async function runWorlds(): Promise<WorldReport[]> {
  const take = (line: string): void =>
    void log.push(`${new Date().toISOString().slice(11, 19)} ${line}`)
  if (!isFullEffort) {
    return [
      await runWorld({
        seed,
        rounds: FEW_ROUNDS,
        roundsPerEpisode: FEW_ROUNDS,
        log: take,
        plan: FEW,
        models: ['quick', 'quick', 'slow'],
        wholeMin: WHOLE_MIN,
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
  const during = reports.reduce((sum, { counts }) => sum + counts.duringReplacement, 0)
  const isExcused = log.some((line) => line.includes('this machine paused'))
  assert.ok(during > 0 || isExcused, 'no call went through the balancer while nodes were replaced')
  process.stdout.write(`${renderRounds(reports).replaceAll(/^/gm, '# ')}\n`)
})
