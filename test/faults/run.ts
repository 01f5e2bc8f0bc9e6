/**
 * `node test/faults/run.ts --rounds 200 --seed 1 --worlds 3`: rounds of faults in parallel worlds. World `i`
 * has the seed `seed + i` and its share of the rounds; to repeat one world, give its own seed, `--worlds 1`
 * and its share as `--rounds`. Exits 1 when counts disagree or the audit is not clean.
 */
import { parseArgs } from 'node:util'
import { renderRounds } from './render-rounds.ts'
import { runWorld } from './run-world.ts'
import { closeWorlds } from './world.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    worlds: { type: 'string', default: '3' },
    logs: { type: 'string' },
    episode: { type: 'string', default: '15' },
  },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void closeWorlds().finally(() => process.exit(1)))
const worlds = Number(values.worlds)
const seed = Number(values.seed)
const startedAtMs = Date.now()
process.stdout.write(`seed ${seed}, ${values.rounds} rounds in ${worlds} worlds\n`)
const reports = await Promise.all(
  Array.from({ length: worlds }, (_, index) =>
    runWorld({
      seed: seed + index,
      rounds: Math.ceil(Number(values.rounds) / worlds),
      roundsPerEpisode: Number(values.episode),
      provesAudit: true,
      logFolder: values.logs,
      log: (line) => process.stdout.write(`[${seed + index}] ${line}\n`),
    }),
  ),
)
const faults = reports.flatMap(({ auditFaults }) => auditFaults)
const discrepancies = reports.flatMap((report) => report.discrepancies)
process.stdout.write(
  `\n${faults.map((fault) => `${fault}\n`).join('')}\n${renderRounds(reports)}\n`,
)
process.stdout.write(`\n${((Date.now() - startedAtMs) / 60_000).toFixed(1)} minutes\n`)
process.exit(faults.length + discrepancies.length > 0 ? 1 : 0)
