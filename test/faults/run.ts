/**
 * `npm run proof -- --rounds 200 --seed 1 --worlds 2`: rounds of faults in parallel worlds. World `i` has the seed
 * `seed + i` and its share of the rounds. Exits 1 when counts disagree, the audit is not clean or a world ends with an
 * error, and prints the command that repeats each such world alone.
 */
import { parseArgs } from 'node:util'
import { renderRounds } from './render-rounds.ts'
import { runWorld, type WorldReport } from './run-world.ts'
import { closeWorlds } from './world.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '52' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    worlds: { type: 'string', default: '1' },
    logs: { type: 'string' },
    episode: { type: 'string', default: '13' },
  },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void closeWorlds().finally(() => process.exit(1)))
const worlds = Number(values.worlds)
const seed = Number(values.seed)
const rounds = Math.ceil(Number(values.rounds) / worlds)
const startedAtMs = Date.now()
process.stdout.write(`seed ${seed}, ${values.rounds} rounds in ${worlds} worlds\n`)
const seeds = Array.from({ length: worlds }, (_, index) => seed + index)
const ended = await Promise.all(seeds.map(proveWorld))
const reports = ended.filter((report) => report !== undefined)
const faults = reports.flatMap(({ auditFaults }) => auditFaults)
const failed = seeds.filter((_, index) => {
  const report = ended[index]
  return !report || report.auditFaults.length + report.discrepancies.length > 0
})
if (reports.length > 0)
  process.stdout.write(
    `\n${faults.map((fault) => `${fault}\n`).join('')}\n${renderRounds(reports)}\n`,
  )
process.stdout.write(`\n${((Date.now() - startedAtMs) / 60_000).toFixed(1)} minutes\n`)
for (const each of failed)
  process.stdout.write(
    `repeat: npm run proof -- --seed ${each} --worlds 1 --rounds ${rounds} --episode ${values.episode}\n`,
  )
process.exit(failed.length > 0 ? 1 : 0)

/** Undefined for a world that ended with an error, so that the others go on. */
async function proveWorld(worldSeed: number): Promise<WorldReport | undefined> {
  const log = (line: string): void => void process.stdout.write(`[${worldSeed}] ${line}\n`)
  try {
    return await runWorld({
      seed: worldSeed,
      rounds,
      roundsPerEpisode: Number(values.episode),
      provesAudit: true,
      logFolder: values.logs,
      log,
    })
  } catch (error) {
    log(`ended with an error: ${error instanceof Error ? error.stack : String(error)}`)
    return undefined
  }
}
