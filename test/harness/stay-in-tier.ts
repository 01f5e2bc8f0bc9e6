/**
 * Imported before each test file: a file of the tiers `unit` and `database` cannot start a process, and one of the tier
 * `unit` does not receive the address of the run's database.
 */
import childProcess from 'node:child_process'
import { readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import type { Tier } from './tiers.ts'

/** `test/run.ts` writes this file: the tier by the path that each test process begins with. */
const tiers = JSON.parse(readFileSync(process.env.TEST_TIERS_FILE ?? '', 'utf8')) as Record<
  string,
  Tier
>
const tier = tiers[process.argv[1] ?? '']
if (tier === 'unit') delete process.env.TEST_DATABASE_URL
if (tier === 'unit' || tier === 'database') {
  for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'])
    Object.assign(childProcess, {
      [name]: () => {
        throw new Error(
          `a test of the tier "${tier}" starts no process: test/harness/tiers.ts says what makes a tier`,
        )
      },
    })
  syncBuiltinESMExports()
}
