/**
 * `npm test`: starts the real PostgreSQL that the tests run against, runs every `*.test.ts` by
 * `node:test`, and stops it. `npm test -- src/ledger` runs only the files whose path holds that text.
 */
import { spawn } from 'node:child_process'
import { chmod, glob, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '../src/db/embedded.ts'

const wanted = process.argv.slice(2)
const root = join(import.meta.dirname, '..')
const files: string[] = []
for await (const file of glob(['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/*.test.ts'], {
  cwd: root,
})) {
  if (wanted.length === 0 || wanted.some((text) => file.includes(text))) files.push(file)
}
files.sort()

const dataDir = await mkdtemp(join(tmpdir(), 'catraca-test-'))
// Closed to the account that runs the database for root, it would go elsewhere and stay there.
await chmod(dataDir, 0o755)
const database = await startEmbedded({ dataDir, log: () => {} })
// Two files at a time: many of them start servers of their own.
const runner = spawn(
  process.execPath,
  ['--test', '--test-concurrency=2', '--test-timeout=300000', ...files],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      TEST_DATABASE_URL: database.databaseUrl,
      // A hundred servers are started, all of the same files: compiled once, a start takes half the time.
      NODE_COMPILE_CACHE: join(dataDir, 'compiled'),
    },
  },
)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => runner.kill(signal))
const code = await new Promise<number>((resolve) => runner.on('exit', (code) => resolve(code ?? 1)))
await database.stop()
await rm(dataDir, { recursive: true, force: true })
process.exit(code)
