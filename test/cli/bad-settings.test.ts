// deep: every setting with bad values
/**
 * Whatever an operator writes into a setting: a sentence that names the setting, or a start; never the stack of an error,
 * which is for faults of the program.
 */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { parseEnv } from 'node:util'
import { ConfigError, loadConfig } from '../../src/app/config/config.ts'
import { effort } from '../harness/effort.ts'
import fc, { anyCharacter } from '../harness/fast-check.ts'
import { runCliProcess } from '../harness/run-cli-process.ts'
import { runCli } from '../harness/run-cli.ts'
import { createTestDatabase, type TestDatabase } from '../harness/test-database.ts'

const root = join(import.meta.dirname, '../..')
const STACK = /^\s+at .*(:\d+:\d+|<anonymous>|node:)|\\n {4}at /m

let database: TestDatabase
let folder: string
/** Values by kind, each wrong for most variables. */
let values: readonly string[]
let names: readonly string[]

before(async () => {
  database = await createTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'catraca-settings-'))
  const [file, list] = [join(folder, 'a-file'), join(folder, 'list.json')]
  await writeFile(file, 'no JSON')
  await writeFile(list, '[]')
  const texts = [
    ' ',
    'x',
    '-1',
    '0',
    '1.5',
    '1e99',
    '9'.repeat(20),
    'NaN',
    'true',
    '[]',
    '{',
    '"',
    "'",
  ]
  const odd = [
    'ção',
    'a\nb',
    'a,,b',
    ',',
    '💥'.repeat(3_000),
    '$HOME',
    '%',
    '%E0%A4%A',
    '../..',
    '~',
  ]
  const addresses = [
    'http://',
    'https://[',
    'http://u:p@127.0.0.1:1/v1',
    'file:///x',
    'smtp://',
    '::/0',
    'postgres://[',
    'postgres://127.0.0.1:1/x',
    'postgres://%zz@127.0.0.1:1/%',
    'postgresql://',
    'postgres://nobody:x@nowhere.invalid/x',
    'a@b',
    'a@b.c',
    'Name <',
    '1.2.3.4.5',
    '10.0.0.0/99',
  ]
  const paths = ['/proc/x', '/dev/null', file, join(file, 'below'), list, folder]
  values = [...texts, ...odd, ...addresses, ...paths, join(folder, 'none')]
  const example = await readFile(join(root, '.env.example'), 'utf8')
  names = Object.keys(parseEnv(example.replaceAll(/^# (?=[A-Z][A-Z0-9_]*=)/gm, '')))
})
after(async () => {
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

const sound = (): Record<string, string> => ({
  DATABASE_URL: database.databaseUrl,
  DATA_DIR: join(folder, 'data'),
})

/** Undefined if the configuration refuses the value. */
function taken(name: string, value: string): Record<string, string> | undefined {
  const environment = { ...sound(), [name]: value }
  try {
    loadConfig(environment, folder)
    return environment
  } catch (error) {
    assert.ok(error instanceof ConfigError, `${name}=${value}: ${String(error)}`)
    assert.ok(error.faults.length > 0)
    return undefined
  }
}

async function assertNoStack(args: readonly string[], environment: Record<string, string>) {
  const { code, stdout, stderr } = await runCli(args, environment)
  const title = `${args.join(' ')} with ${JSON.stringify(environment)}: ${stderr}`
  assert.doesNotMatch(stdout + stderr, STACK, title)
  if (code !== 0) assert.notEqual(stdout + stderr, '', title)
}

test('every variable refuses values or takes them, and never fails in another way', () => {
  for (const name of names) for (const value of values) taken(name, value)
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.string({ unit: anyCharacter }), (name, value) => {
      taken(name, value)
    }),
    { numRuns: effort({ ordinary: 2_000, full: 100_000 }) },
  )
})

test('the variables that lead to files and to the database never end a command with a stack', async () => {
  for (const name of ['DATABASE_URL', 'PRICE_DATA_FILE', 'CATRACA_CONFIG'])
    for (const value of values) {
      const environment = taken(name, value)
      if (!environment) continue
      for (const args of [['doctor'], ['prices', 'check']]) await assertNoStack(args, environment)
    }
})

test('a folder that cannot hold the embedded database is named, by every command', async () => {
  for (const dataDir of values.filter((value) => value.startsWith('/') && value !== folder)) {
    const environment = { DATA_DIR: join(dataDir, 'data') }
    // A folder that can be made is made, and a database in it.
    if (dataDir === join(folder, 'none')) continue
    for (const args of [['doctor'], ['customer', 'list'], ['reset', '--yes']])
      await assertNoStack(args, environment)
  }
})

test('any variable with any value that it takes: commands do their work or say what is wrong', async () => {
  const commands = fc.constantFrom(['doctor'], ['prices', 'check'], ['customer', 'list'], ['audit'])
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...names.filter((name) => name !== 'CATRACA_MODE')),
      fc.constantFrom(...values),
      commands,
      async (name, value, args) => {
        const environment = taken(name, value)
        if (environment) await assertNoStack(args, environment)
      },
    ),
    { numRuns: effort({ ordinary: 60, full: 3_000 }) },
  )
})

test('a server that cannot start with a setting says which one, without a stack', async () => {
  const starts: Record<string, string>[] = []
  for (const name of ['HOST', 'DATABASE_URL', 'DATA_DIR'])
    for (const value of values) {
      const isFolder = name === 'DATA_DIR' && !/^\/(proc|dev)\/|a-file/.test(value)
      const isHere = name === 'HOST' && ['0', ' '].includes(value)
      const environment = isFolder || isHere ? undefined : taken(name, value)
      if (environment) starts.push({ LOG_LEVEL: 'info', PORT: '0', ...environment })
    }
  const share = effort({ ordinary: 6, full: starts.length })
  const chosen = fc.sample(fc.shuffledSubarray(starts, { minLength: share, maxLength: share }), 1)
  for (const environment of chosen[0] ?? []) {
    const { code, stderr } = await runCliProcess([], environment, 'src/main.ts')
    const title = `${JSON.stringify(environment)}: ${stderr}`
    assert.notEqual(code, 0, title)
    assert.match(stderr, /Catraca could not start: .*(HOST|DATABASE_URL|DATA_DIR)/, title)
    assert.doesNotMatch(stderr, STACK, title)
  }
})
