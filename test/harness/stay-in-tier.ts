/**
 * Imported before each test file: a file of the tiers `unit` and `database` cannot start a process, and one of
 * the tier `unit` is not told where the database of the run is.
 */
import childProcess from 'node:child_process'
import { readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import type { Tier } from './tiers.ts'

/** `test/run.ts` writes this file: the tier by the path of each test file. */
const tiers = JSON.parse(readFileSync(process.env.TEST_TIERS_FILE ?? '', 'utf8')) as Record<
  string,
  Tier
>
const file = process.argv[1] ?? ''
const tier = tiers[file]
if (tier === 'unit') delete process.env.TEST_DATABASE_URL
if (tier === 'unit' || tier === 'database') {
  for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'])
    Object.assign(childProcess, {
      [name]: () => {
        throw new Error(
          `${file} is of the tier "${tier}", where no test starts a process: see test/harness/tiers.ts`,
        )
      },
    })
  syncBuiltinESMExports()
}
