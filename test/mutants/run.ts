/**
 * `npm run mutants`: makes small mistakes in the SQL and TypeScript of money, keys and limits, and removes the customer
 * from queries everywhere, one at a time in a copy of the tree. A mistake that no test finds fails the run, unless
 * `equivalents.ts` gives the reason why nothing can find it.
 *
 *     npm run mutants                                  a sample of ten minutes
 *     npm run mutants -- --minutes=60 --seed=2         another, longer one
 *     npm run mutants -- --all --kind=tenant           every query without its customer
 *     npm run mutants -- --all --only=src/money/ledger/sql   those whose file contains the text
 *
 * StrykerJS was looked at first: it neither changes SQL, where most of the money is, nor drives `node:test` but by
 * whole files or a command (stryker-js#5421), which would start a database for each mutant. Here one serves them all.
 * Not tried: the order and the absence of locks, which only schedules show (`test/payments/payments-over-three-nodes`, `test/faults`).
 */
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { startSharedDatabase } from '../harness/shared-database.ts'
import { EQUIVALENTS, type Equivalent } from './equivalents.ts'
import { makeMutants, type Mutant } from './make-mutants.ts'
import { createNearestTests } from './nearest-tests.ts'

const { values: options } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '10' },
    kind: { type: 'string' },
    only: { type: 'string' },
    /** `2/3` is the second third: they can run beside each other. */
    share: { type: 'string', default: '1/1' },
    seed: { type: 'string', default: '1' },
  },
})
/** Few first: most mutants die in them. */
const AT_ONCE = [3, 6]
/** A mutant that turns for ever is found by that. */
const TESTS_MS_MAX = 300_000

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join('/dev/shm', 'catraca-mutants-'))
execFileSync('chmod', ['755', folder])
const tree = join(folder, 'tree')
const all = makeMutants(root)
const isSame = (mutant: Mutant, { file, line, becomes }: Equivalent): boolean =>
  mutant.file === file && mutant.line === line && mutant.becomes === becomes
const stale = EQUIVALENTS.filter((listed) => !all.some((mutant) => isSame(mutant, listed)))
for (const { file, line } of stale) console.log(`LISTED, BUT NO MUTANT  ${file}: ${line}`)
const nearest = createNearestTests(root)
const isSound = new Map<string, boolean>()
const survivors: Mutant[] = []
let killed = 0
let listed = 0
let untried = 0
let isEnding = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => (isEnding = true))
const endsAt = options.all ? Infinity : Date.now() + Number(options.minutes) * 60_000
const chosen = choose()

copyTree()
const database = await startSharedDatabase(folder, undefined)
try {
  for (const mutant of chosen) {
    const isListed = EQUIVALENTS.some((equivalent) => isSame(mutant, equivalent))
    const isFound = !isListed && !isEnding && Date.now() < endsAt && (await isKilled(mutant))
    if (isListed) listed++
    else if (isEnding || Date.now() > endsAt) untried++
    else if (isFound) killed++
    else survivors.push(mutant)
  }
} finally {
  await database.stop()
  rmSync(folder, { recursive: true, force: true })
}
console.log(
  `${all.length} mutants, ${chosen.length} wanted, ${untried} of them not tried: ${killed} killed, ${listed} listed as equivalent, ${survivors.length} survived`,
)
process.exit(survivors.length + stale.length > 0 ? 1 : 0)

function choose(): Mutant[] {
  const wanted = all
    .filter(
      ({ file, kind }) => file.includes(options.only ?? '') && kind === (options.kind ?? kind),
    )
    .map((mutant) => ({ mutant, place: digest(`${options.seed} ${mutant.file} ${mutant.text}`) }))
    .toSorted((one, other) => (one.place < other.place ? -1 : 1))
    .map(({ mutant }) => mutant)
  const [part = 1, parts = 1] = options.share.split('/').map(Number)
  return wanted.filter((_, place) => place % parts === part - 1)
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** What is in the tree now, committed or not, and the built dashboard, which some tests open. */
function copyTree(): void {
  const list = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root })
  for (const file of [...list.toString().trim().split('\n'), 'web/dist']) {
    mkdirSync(dirname(join(tree, file)), { recursive: true })
    cpSync(join(root, file), join(tree, file), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'))
}

async function isKilled(mutant: Mutant): Promise<boolean> {
  const { file, kind, line, becomes } = mutant
  const begun = Date.now()
  const tests = nearest(mutant)
  let killer: string | undefined
  for (let from = 0, group = 0; from < tests.length && !killer; group++) {
    const until = from + (AT_ONCE[group] ?? tests.length)
    killer = await findKiller(mutant, tests.slice(from, until))
    from = until
  }
  const seconds = ((Date.now() - begun) / 1_000).toFixed(0)
  console.log(`${killer ? 'killed  ' : 'SURVIVED'} ${seconds.padStart(3)} s  ${file} (${kind})`)
  console.log(`    ${line}\n => ${becomes}\n    ${killer ?? tests.slice(0, 3).join(' ')}`)
  return killer !== undefined
}

/** A test that fails without the mutant, too, proves nothing. */
async function findKiller(mutant: Mutant, tests: readonly string[]): Promise<string | undefined> {
  const { file, source, text } = mutant
  const used = tests.filter((test) => isSound.get(test) !== false)
  if (used.length === 0) return undefined
  writeFileSync(join(tree, file), text)
  const failure = await findFailure(used)
  writeFileSync(join(tree, file), source)
  await dropDatabases(file)
  const unknown = failure === undefined ? [] : used.filter((test) => !isSound.has(test))
  if (unknown.length === 0) return failure
  const areSound = (await findFailure(unknown)) === undefined
  for (const test of unknown)
    isSound.set(test, areSound || (await findFailure([test])) === undefined)
  const unsound = unknown.filter((test) => !isSound.get(test))
  for (const test of unsound) console.log(`FAILS WITHOUT A MUTANT, NOT USED  ${test}`)
  return unsound.length === 0 ? failure : findKiller(mutant, used)
}

/** The first test that fails ends the run. */
function findFailure(tests: readonly string[]): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const child = spawn(process.execPath, ['test/run.ts', ...tests], {
    cwd: tree,
    env: { ...process.env, ...database.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  let failure: string | undefined
  const endSoon = (why: string): void => {
    if (failure === undefined) child.kill('SIGTERM')
    failure ??= why
  }
  const deadline = setTimeout(() => endSoon('takes too long'), TESTS_MS_MAX)
  for (const output of [child.stdout, child.stderr])
    output.on('data', (bytes: Buffer) => {
      said += bytes.toString()
      const failed = /✖ .*|^no test of .*/m.exec(said)
      if (failed) endSoon(failed[0])
    })
  child.on('close', (code) => {
    clearTimeout(deadline)
    resolve(failure ?? (code === 0 ? undefined : `ends with ${code}: ${said.slice(-300)}`))
  })
  return promise
}

/** A run that was ended early leaves its own. Another text of the functions has a template of its own. */
async function dropDatabases(file: string): Promise<void> {
  const client = new pg.Client({ connectionString: database.environment.TEST_DATABASE_URL })
  await client.connect()
  const left = file.endsWith('.sql') ? 'test_|template_' : 'test_'
  const { rows } = await client.query<{ drop: string }>(
    `select format('drop database %I with (force)', datname) as drop from pg_database
    where datname ~ $1 and not datistemplate`,
    [`^(${left})`],
  )
  for (const { drop } of rows) await client.query(drop)
  await client.end()
}
