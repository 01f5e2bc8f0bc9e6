/**
 * `npm test`: starts the real PostgreSQL that the tests run against, runs every `*.test.ts` by
 * `node:test`, and stops it. `npm test -- src/ledger` runs only the files whose path holds that text.
 */
import { chmod, glob, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { startEmbedded } from '../src/db/embedded.ts'
import { effort } from './harness/effort.ts'

/** These take longest and begin first, so that at the end no core is idle while one of them runs alone. */
const LONG = [
  'test/crash/crash.test.ts',
  'test/faults/faults.test.ts',
  'test/crash/kill-between-steps.test.ts',
  'test/db/embedded.test.ts',
  'test/http/contract-fuzz.test.ts',
  'test/start/start.test.ts',
  'test/http/tenant-isolation.test.ts',
  'test/http/routing.test.ts',
  'test/http/chat-streams.test.ts',
  'test/http/fuzz.test.ts',
  'test/http/injected-errors.test.ts',
]
/** On two cores: many files wait, for a disk or for what happens after a second. */
const FILES_AT_ONCE = 3
const SLOWEST_SHOWN = 15
const TEST_MS_MAX = effort({ ordinary: 300_000, full: 10_800_000 })
/** A file that never ends is no test that takes too long: nothing else would end the run. */
const RUN_MS_MAX = effort({ ordinary: 1_800_000, full: 14_400_000 })

/** `npm run test:web` runs those that need a browser, and `npm run web:pictures` that one. */
const kinds: { readonly [kind: string]: string[]; ordinary: string[] } = {
  ordinary: ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/{,reads/,web/}*.test.ts'],
  browser: ['test/web/*.browser.ts'],
  pictures: ['test/web/pictures.ts'],
}
const wanted = process.argv.slice(2)
const root = join(import.meta.dirname, '..')
const found: string[] = []
for await (const file of glob(kinds[process.env.TEST_KIND ?? ''] ?? kinds.ordinary, {
  cwd: root,
})) {
  if (wanted.length === 0 || wanted.some((text) => file.includes(text))) found.push(file)
}
found.sort()
const long = LONG.filter((file) => found.includes(file))
const files = [...long, ...found.filter((file) => !long.includes(file))]

const dataDir = await mkdtemp(join(tmpdir(), 'catraca-test-'))
// Closed to the account that runs the database for root, it would go elsewhere and stay there.
await chmod(dataDir, 0o755)
const database = await startEmbedded({ dataDir, log: () => {} })
process.env.TEST_DATABASE_URL = database.databaseUrl
// A hundred servers are started, all of the same files: compiled once, a start takes half the time.
process.env.NODE_COMPILE_CACHE = join(dataDir, 'compiled')

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())
let hasFailed = files.length === 0
const tests = run({
  files: files.map((file) => join(root, file)),
  cwd: root,
  concurrency: FILES_AT_ONCE,
  timeout: TEST_MS_MAX,
  // Not `--test-force-exit`, which loses the report of a last test now and then.
  execArgv: ['--import', import.meta.resolve('./harness/end-after-tests.ts')],
  signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(RUN_MS_MAX)]),
})
const secondsByFile: [file: string, seconds: number][] = []
tests.on('test:summary', ({ file, duration_ms }) => {
  if (file !== undefined) secondsByFile.push([relative(root, file), duration_ms / 1_000])
})
tests.on('test:fail', ({ todo }) => (hasFailed ||= todo === undefined || todo === false))
const told = tests.compose(new spec())
told.pipe(process.stdout)
await finished(told)
for (const [file, seconds] of secondsByFile
  .toSorted(([, a], [, b]) => b - a)
  .slice(0, SLOWEST_SHOWN))
  process.stdout.write(`${seconds.toFixed(1).padStart(6)} s  ${file}\n`)
await database.stop()
await rm(dataDir, { recursive: true, force: true })
process.exit(hasFailed ? 1 : 0)
