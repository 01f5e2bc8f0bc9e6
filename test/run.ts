/**
 * `npm test`: runs every `*.test.ts` by `node:test`. `npm run test:unit` and the others run one tier
 * (`harness/tiers.ts`), `npm test -- src/ledger` the files whose path holds that text, and `--watch` runs a file
 * again when it or anything that it imports changes. A PostgreSQL starts where one of the files needs it.
 */
import { chmod, glob, mkdtemp, readFile, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { parseArgs } from 'node:util'
import { startEmbedded } from '../src/db/embedded.ts'
import { bundleLibraries } from './harness/bundle-libraries.ts'
import { effort } from './harness/effort.ts'
import { LIBRARY_IMPORTS } from './harness/library-imports.ts'
import { createTierReader, TIERS, type Placed, type Tier } from './harness/tiers.ts'

/** These take longest and begin first, so that at the end no core is idle while one of them runs alone. */
const LONG = [
  'test/crash/crash.test.ts',
  'test/upgrade/upgrade.test.ts',
  'test/faults/faults.test.ts',
  'test/http/chat-streams.test.ts',
  'test/start/start.test.ts',
  'test/adversary/ledger-doubts.test.ts',
  'test/model/model.test.ts',
  'test/adversary/leaving-clients.test.ts',
  'test/http/tenant-isolation.test.ts',
  'test/http/fuzz.test.ts',
  'test/crash/kill-between-steps.test.ts',
  'test/http/contract-fuzz.test.ts',
  'test/db/embedded.test.ts',
  'test/crash/silent-node.test.ts',
  'test/http/transcriptions.test.ts',
  'test/http/routing.test.ts',
  'test/http/injected-errors.test.ts',
]
/** On two cores: many files wait, for a disk or for what happens after a second. */
const FILES_AT_ONCE = 4
const UNIT_FOLDER_BYTES = 256 * 1024 * 1024
const SLOWEST_SHOWN = 15
const TEST_MS_MAX = effort({ ordinary: 300_000, full: 10_800_000 })
/** A file that never ends is no test that takes too long: nothing else would end the run. */
const RUN_MS_MAX = effort({ ordinary: 1_800_000, full: 14_400_000 })

const TESTS = ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/{,reads/,web/}*.test.ts']
/** `npm run test:web` runs those that need a browser, and `npm run web:pictures` that one. */
const WITH_BROWSER: Readonly<Record<string, string[]>> = {
  browser: ['test/web/*.browser.ts'],
  pictures: ['test/web/pictures.ts'],
}

const root = join(import.meta.dirname, '..')
const { values: options, positionals: wanted } = parseArgs({
  options: { tier: { type: 'string' }, watch: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const files = await findFiles(options.tier)
if (files.length === 0) throw new Error(`no test file for "${process.argv.slice(2).join(' ')}"`)

/** All that the tests write anywhere; `os.tmpdir()` is this folder for them. */
const folder = await mkdtemp(join(await findFastTmpdir(files), 'catraca-test-'))
// Closed to the account that runs the database for root, it would go elsewhere and stay there.
await chmod(folder, 0o755)
process.env.TMPDIR = process.env.TEMP = process.env.TMP = folder
const started = files.map(({ file, tier }) => ({ path: join(root, file), tier }))
const tiersFile = join(folder, 'tiers.json')
await writeFile(
  tiersFile,
  JSON.stringify(Object.fromEntries(started.map(({ path, tier }) => [path, tier]))),
)
process.env.TEST_TIERS_FILE = tiersFile
// A hundred servers are started, all of the same files: compiled once, a start takes half the time.
process.env.NODE_COMPILE_CACHE = join(root, 'node_modules/.cache/catraca-tests')
process.env.TEST_LIBRARIES_FILE = await bundleLibraries(root)
const database = files.some(({ needsDatabase }) => needsDatabase)
  ? await startEmbedded({
      dataDir: join(folder, 'database'),
      log: () => {},
      // Tests that crash a database start a separate one.
      settings: { fsync: 'off', full_page_writes: 'off' },
    })
  : undefined
if (database) process.env.TEST_DATABASE_URL = database.databaseUrl

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())
const signals = [stopping.signal]
if (!options.watch) signals.push(AbortSignal.timeout(RUN_MS_MAX))
let hasFailed = false
const tests = run({
  files: started.map(({ path }) => path),
  cwd: root,
  concurrency: FILES_AT_ONCE,
  timeout: TEST_MS_MAX,
  watch: options.watch,
  execArgv: [
    ...LIBRARY_IMPORTS,
    // Not `--test-force-exit`, which loses the report of a last test now and then.
    ...['stay-in-tier', 'end-after-tests'].flatMap((name) => [
      '--import',
      import.meta.resolve(`./harness/${name}.ts`),
    ]),
  ],
  signal: AbortSignal.any(signals),
})
const secondsByFile = new Map<string, number>()
tests.on('test:summary', ({ file, duration_ms }) => {
  if (file === undefined) return
  const name = relative(root, file)
  secondsByFile.set(name, Math.max(secondsByFile.get(name) ?? 0, duration_ms / 1_000))
})
tests.on('test:fail', ({ todo }) => (hasFailed ||= todo === undefined || todo === false))
const printed = tests.compose(new spec())
printed.pipe(process.stdout)
await finished(printed)
for (const [file, seconds] of [...secondsByFile]
  .toSorted(([, a], [, b]) => b - a)
  .slice(0, SLOWEST_SHOWN))
  process.stdout.write(`${seconds.toFixed(1).padStart(6)} s  ${file}\n`)
for (const tier of TIERS) {
  const count = files.filter((file) => file.tier === tier).length
  if (count > 0) process.stdout.write(`${String(count).padStart(6)} files of the tier "${tier}"\n`)
}
await database?.stop()
const cpuSeconds = await readCpuSeconds()
if (cpuSeconds !== undefined)
  process.stdout.write(`${cpuSeconds.toFixed(1).padStart(6)} s of CPU\n`)
await rm(folder, { recursive: true, force: true })
process.exit(hasFailed ? 1 : 0)

/**
 * User and system time of this process and of all that have ended below it, in seconds; a loaded machine changes it
 * less than the time of the clock. Processes that lost their parent are not in it. Undefined where there is no `/proc`.
 */
async function readCpuSeconds(): Promise<number | undefined> {
  const stat = await readFile('/proc/self/stat', 'utf8').catch(() => undefined)
  // proc(5): utime, stime, cutime and cstime, in ticks of 10 ms; the name before them may contain spaces.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields?.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) / 100, 0)
}

/** In memory where that is easy and enough: no unit test depends on what a sync takes. */
async function findFastTmpdir(files: readonly Placed[]): Promise<string> {
  const memory = '/dev/shm'
  if (process.platform !== 'linux' || files.some(({ tier }) => tier !== 'unit')) return tmpdir()
  const free = await statfs(memory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  )
  return free > UNIT_FOLDER_BYTES ? memory : tmpdir()
}

/** In the order in which they begin: the long ones, then those of the highest tier. */
async function findFiles(wantedTier: string | undefined): Promise<Placed[]> {
  const read = createTierReader(root)
  const found: Placed[] = []
  for await (const file of glob(WITH_BROWSER[wantedTier ?? ''] ?? TESTS, { cwd: root })) {
    const placed = read(file)
    // A file beside the code never becomes slow unnoticed.
    if (file.startsWith('src/') && placed.tier !== 'unit')
      throw new Error(
        `${file} is of the tier "${placed.tier}" by its imports. A test beside the code is a unit test: move it into test/`,
      )
    const isWanted = wanted.length === 0 || wanted.some((text) => file.includes(text))
    if (isWanted && isOf(wantedTier, placed.tier)) found.push(placed)
  }
  const rank = ({ file, tier }: Placed): number =>
    LONG.includes(file) ? LONG.indexOf(file) : LONG.length + TIERS.length - TIERS.indexOf(tier)
  return found.toSorted((a, b) => rank(a) - rank(b) || (a.file < b.file ? -1 : 1))
}

function isOf(wantedTier: string | undefined, tier: Tier): boolean {
  if (wantedTier === undefined || wantedTier in WITH_BROWSER) return true
  if (!(TIERS as readonly string[]).includes(wantedTier))
    throw new Error(`no tier "${wantedTier}"; there are ${TIERS.join(', ')}`)
  return tier === wantedTier
}
