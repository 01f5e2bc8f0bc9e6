/**
 * `npm test`: runs the tests of ordinary behaviour by `node:test`, and fails above a limit of processor time. It leaves
 * out each file whose first line is `// deep: <why>`: `npm run test:deep` runs those, and `npm run test:all` all.
 * `npm run test:unit` and the others run one tier (`harness/tiers.ts`), `npm test -- src/money/ledger` the files whose
 * path holds that text, and `--watch` runs a file again when it or anything that it imports changes. A PostgreSQL starts
 * where one of the files needs it.
 */
import { chmod, glob, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { parseArgs } from 'node:util'
import { BUNDLE_IMPORTS } from './harness/bundle-imports.ts'
import { bundleLibraries } from './harness/bundle-libraries.ts'
import { bundlePrograms } from './harness/bundle-programs.ts'
import { effort } from './harness/effort.ts'
import { groupFiles } from './harness/group-files.ts'
import { readCpuSeconds } from './harness/read-cpu-seconds.ts'
import { readRecordedFiles } from './harness/record-file.ts'
import { startSharedDatabase } from './harness/shared-database.ts'
import { createTierReader, TIERS, type Placed, type Tier } from './harness/tiers.ts'

/**
 * These take longest and begin first, so that at the end no core is idle while one of them runs alone. Those that wait
 * for most of their time stand beside those that compute.
 */
const LONG = [
  'test/faults/faults.test.ts',
  'test/postgres/backup.test.ts',
  'test/crash/crash.test.ts',
  'test/http/chat-streams.test.ts',
  'test/start/endings.test.ts',
  'test/start/start.test.ts',
  'test/ledger/commits-in-doubt.test.ts',
  'test/db/embedded.test.ts',
  'test/crash/silent-node.test.ts',
  'test/upgrade/upgrade.test.ts',
  'test/http/chat-errors.test.ts',
  'test/ceiling/ceiling.test.ts',
  'test/http/awkward-requests.test.ts',
  'test/http/contract-fuzz.test.ts',
  'test/http/fuzz.test.ts',
  'test/http/tenant-isolation.test.ts',
  'test/http/usage-exports.test.ts',
  'test/crash/kill-between-steps.test.ts',
  'test/http/routing.test.ts',
  'test/model/model.test.ts',
  'test/http/transcriptions.test.ts',
  'test/http/format-matrix.test.ts',
  'test/http/work-of-failed-calls.test.ts',
]
const { values: options, positionals: wanted } = parseArgs({
  options: {
    tier: { type: 'string' },
    all: { type: 'boolean', default: false },
    /** Only what `npm test` leaves out. */
    deep: { type: 'boolean', default: false },
    watch: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
/**
 * On two cores: many files wait, for a disk or for what happens after a second. With five, answers on a slow machine came
 * later than the time limits that some tests set. A browser does not wait.
 */
const FILES_AT_ONCE = options.tier === 'browser' ? 2 : 4
/** In memory, that much must be free. */
const SMALL_FOLDER_BYTES = 256 * 1024 * 1024
const DATABASES_BYTES = 1.5 * 1024 * 1024 * 1024
const SLOWEST_SHOWN = 15
/** Machines differ by a factor of four, and the slowest file takes a minute on a fast one. */
const TEST_MS_MAX = effort({ ordinary: 900_000, full: 10_800_000 })
/** Of processor time: what a newcomer waits for. The aim is 300; a machine that does other work counts some more. */
const ORDINARY_CPU_SECONDS_MAX = 600
/** Servers as a user starts them, and the command line. */
const ORDINARY_PROCESSES = /^test\/(start|cli)\//
/** A file that never ends is no test that takes too long: nothing else would end the run. */
const RUN_MS_MAX = effort({ ordinary: 2_700_000, full: 14_400_000 })

const TESTS = [
  'src/**/*.test.ts',
  'test/**/*.test.ts',
  'bench/{,peers/,reads/,soak/,web/}*.test.ts',
]
/** `npm run test:web` and `npm run test:clients` run those that need more, and `npm run web:pictures` those two. */
const APART: Readonly<Record<string, string[]>> = {
  browser: ['test/web/*.browser.ts'],
  pictures: ['test/web/{,story-}pictures.ts'],
  clients: ['test/clients/{agents,python}/*.client.ts'],
}

const isOrdinary =
  !options.all && !options.deep && options.tier === undefined && wanted.length === 0
const root = join(import.meta.dirname, '..')
/** What `npm test` leaves out. */
let deepFiles = 0
const files = await findFiles(options.tier)
if (files.length === 0) throw new Error(`no test file for "${process.argv.slice(2).join(' ')}"`)

/** All that the tests write anywhere; `os.tmpdir()` is this folder for them. */
const folder = await makeFolder(await findFolderOfTests(files))
process.env.TMPDIR = process.env.TEMP = process.env.TMP = folder
// In the watch mode, a file that changes runs again without the others.
const started = groupFiles(files, {
  root,
  folder,
  groups: options.watch ? 0 : FILES_AT_ONCE,
  alone: LONG,
})
const tiersFile = join(folder, 'tiers.json')
await writeFile(
  tiersFile,
  JSON.stringify(Object.fromEntries(started.map(({ path, tier }) => [path, tier]))),
)
process.env.TEST_TIERS_FILE = tiersFile
const recordFile = join(folder, 'files.jsonl')
await writeFile(recordFile, '')
process.env.TEST_RECORD_FILE = recordFile
// A hundred servers are started, all of the same files: compiled once, a start takes half the time.
process.env.NODE_COMPILE_CACHE = join(root, 'node_modules/.cache/catraca-tests')
process.env.TEST_BUNDLES_FILE = await writeBundles(files)
const memoryFolder = await makeFolder((await findMemory(DATABASES_BYTES)) ?? folder)
process.env.TEST_MEMORY_FOLDER = memoryFolder
// `npm run mutants` starts one for all of its runs.
const database =
  files.some(({ needsDatabase }) => needsDatabase) && !process.env.TEST_DATABASE_URL
    ? await startSharedDatabase(memoryFolder, process.env.TEST_DATABASE_THROUGH)
    : undefined
Object.assign(process.env, database?.environment)

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
    ...BUNDLE_IMPORTS,
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
for (const event of ['test:pass', 'test:fail'] as const)
  tests.on(event, ({ name, details }) => {
    if (details.type === 'suite' && files.some(({ file }) => file === name))
      secondsByFile.set(name, details.duration_ms / 1_000)
  })
/** Files of which a test was skipped, as on a machine without the program that it needs. */
const skipped = new Set<string>()
tests.on('test:pass', ({ skip, file }) => {
  if (skip !== undefined && file !== undefined) skipped.add(relative(root, file))
})
tests.on('test:fail', ({ todo }) => (hasFailed ||= todo === undefined || todo === false))
const printed = tests.compose(new spec())
printed.pipe(process.stdout)
await finished(printed)
printLongest('by the clock', secondsByFile)
const recorded = readRecordedFiles(recordFile).map((file) => ({
  ...file,
  name: relative(root, file.path),
}))
printLongest(
  'of CPU, without the database',
  new Map(recorded.map(({ name, cpuSeconds = 0 }) => [name, cpuSeconds])),
)
failWithoutTests()
for (const tier of TIERS) {
  const count = files.filter((file) => file.tier === tier).length
  if (count > 0) process.stdout.write(`${String(count).padStart(6)} files of the tier "${tier}"\n`)
}
const withoutDatabase = readCpuSeconds()
await database?.stop()
const cpuSeconds = readCpuSeconds()
if (cpuSeconds !== undefined && withoutDatabase !== undefined)
  process.stdout.write(
    `${cpuSeconds.toFixed(1).padStart(6)} s of CPU, the database ${(cpuSeconds - withoutDatabase).toFixed(1)} s of them\n`,
  )
if (isOrdinary && cpuSeconds !== undefined && cpuSeconds > ORDINARY_CPU_SECONDS_MAX) {
  process.stdout.write(`the limit of npm test is ${ORDINARY_CPU_SECONDS_MAX} s of CPU\n`)
  hasFailed = true
}
if (isOrdinary)
  process.stdout.write(
    `left out: ${deepFiles} files whose first line is "// deep: <why>"; npm run test:deep runs them, npm run test:all runs all\n`,
  )
for (const made of [memoryFolder, folder]) await rm(made, { recursive: true, force: true })
process.exit(hasFailed ? 1 : 0)

/** A shared process once lost the tests of later files without a failure. */
function failWithoutTests(): void {
  if (options.watch || stopping.signal.aborted) return
  const tested = new Set(recorded.filter(({ tests = 0 }) => tests > 0).map(({ name }) => name))
  for (const { path, files } of started)
    for (const file of files) {
      if (path === join(root, file) || tested.has(file) || skipped.has(file)) continue
      process.stdout.write(`no test of ${file} ran in the process that it shared\n`)
      hasFailed = true
    }
}

/** Returns a file with the URL of the bundle for each specifier of an import or of a program. */
async function writeBundles(files: readonly Placed[]): Promise<string> {
  const ofProcesses = options.watch ? 0 : files.filter(({ tier }) => tier === 'processes').length
  const bundles = { ...(await bundleLibraries(root)), ...(await bundlePrograms(root, ofProcesses)) }
  const file = join(folder, 'bundles.json')
  await writeFile(file, JSON.stringify(bundles))
  return file
}

function printLongest(title: string, seconds: ReadonlyMap<string, number>): void {
  const known = [...seconds].filter(([file]) => !file.startsWith('..'))
  if (known.length > 0) process.stdout.write(`seconds ${title}:\n`)
  for (const [file, count] of known.toSorted(([, a], [, b]) => b - a).slice(0, SLOWEST_SHOWN))
    process.stdout.write(`${count.toFixed(1).padStart(6)} s  ${file}\n`)
}

async function makeFolder(parent: string): Promise<string> {
  const made = await mkdtemp(join(parent, 'catraca-test-'))
  // Closed to the account that runs the database for root, it would go elsewhere and stay there.
  await chmod(made, 0o755)
  return made
}

/** No test of these tiers depends on what a sync takes. */
async function findFolderOfTests(files: readonly Placed[]): Promise<string> {
  const isSmall = files.every(({ tier }) => tier === 'unit' || tier === 'sockets')
  return (isSmall ? await findMemory(SMALL_FOLDER_BYTES) : undefined) ?? tmpdir()
}

/**
 * The system's folder in memory, if so many bytes are free there. A database is cloned from its template for each file,
 * 770 files, which takes 20 ms of processor time in memory, and 200 to 600 ms on the disk.
 */
async function findMemory(bytes: number): Promise<string | undefined> {
  const memory = '/dev/shm'
  if (process.platform !== 'linux') return undefined
  const free = await statfs(memory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  )
  return free > bytes ? memory : undefined
}

/** In the order in which they begin: the long ones, then those of the highest tier. */
async function findFiles(wantedTier: string | undefined): Promise<Placed[]> {
  const read = createTierReader(root)
  const found: Placed[] = []
  const patterns = APART[wantedTier ?? ''] ?? TESTS
  // The clients of `test/clients/agents` are installed there.
  for await (const file of glob(patterns, { cwd: root, exclude: ['**/node_modules'] })) {
    const placed = read(file)
    // A file beside the code never becomes slow unnoticed.
    if (file.startsWith('src/') && placed.tier !== 'unit' && placed.tier !== 'sockets')
      throw new Error(
        `${file} is of the tier "${placed.tier}" by its imports. A test beside the code needs neither a database nor a process: move it into test/`,
      )
    // Nor does `npm test`.
    const mayStart = placed.isDeep || ORDINARY_PROCESSES.test(file) || patterns !== TESTS
    if (placed.tier === 'processes' && !mayStart)
      throw new Error(`${file} starts processes: its first line must be "// deep: <why>"`)
    const isWanted = wanted.length === 0 || wanted.some((text) => file.includes(text))
    if (placed.isDeep) deepFiles++
    if ((isOrdinary && placed.isDeep) || (options.deep && !placed.isDeep)) continue
    if (isWanted && isOf(wantedTier, placed.tier)) found.push(placed)
  }
  const rank = ({ file, tier }: Placed): number =>
    LONG.includes(file) ? LONG.indexOf(file) : LONG.length + TIERS.length - TIERS.indexOf(tier)
  return found.toSorted((a, b) => rank(a) - rank(b) || (a.file < b.file ? -1 : 1))
}

function isOf(wantedTier: string | undefined, tier: Tier): boolean {
  if (wantedTier === undefined || wantedTier in APART) return true
  if (!(TIERS as readonly string[]).includes(wantedTier))
    throw new Error(`no tier "${wantedTier}"; there are ${TIERS.join(', ')}`)
  return tier === wantedTier
}
