/**
 * Reads the import lines: layers look down only, rooms of one layer do not know each other, and no import leads
 * back to where it began. An import of types counts as any other.
 */
import assert from 'node:assert/strict'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { readSources } from './harness/read-sources.ts'

/** From docs/architecture.md: the wings, and the ones of which each may import. */
const BELOW_MONEY = ['platform', 'customers']
const BELOW_IDENTITY = [...BELOW_MONEY, 'money', 'deliveries']
const BELOW_SITE = [...BELOW_IDENTITY, 'identity', 'gateway', 'http']
const WINGS: Readonly<Record<string, readonly string[]>> = {
  platform: [],
  sandbox: ['platform'],
  customers: ['platform'],
  money: BELOW_MONEY,
  deliveries: [...BELOW_MONEY, 'money'],
  identity: BELOW_IDENTITY,
  gateway: [...BELOW_MONEY, 'money'],
  http: [...BELOW_IDENTITY, 'identity', 'gateway'],
  site: BELOW_SITE,
  app: [...BELOW_SITE, 'site', 'sandbox'],
}
/** The rooms of each wing. One that is not here has no place yet, and fails. */
const LAYERS: Readonly<Record<string, number>> = {
  'platform/lib': 0,
  'platform/db': 1,
  'platform/processes': 1,
  'platform/admission': 1.5,
  'platform/archive': 2,
  'platform/audit-log': 2,
  'platform/events': 2,
  'platform/idempotency': 2,
  'platform/health': 3,
  sandbox: 1,
  customers: 3,
  'customers/legal': 3,
  'customers/stored-responses': 3,
  'customers/batches': 4,
  'customers/prompts': 4,
  'money/catalog': 3,
  'money/ledger': 3,
  'money/usage': 3,
  'money/fx': 3,
  'money/payments': 4,
  'money/public-bills': 4,
  'money/reconciliation': 4,
  'money/months': 5,
  deliveries: 3.5,
  'deliveries/email': 3.7,
  'deliveries/webhooks': 4,
  'deliveries/alerts': 4,
  'deliveries/usage-destinations': 4,
  'identity/personal-data': 4,
  identity: 5,
  'identity/sign-in': 5,
  'gateway/generated-images.ts': 3,
  'gateway/media-of-part.ts': 3,
  'gateway/shield': 4,
  'gateway/providers': 4,
  'gateway/calls': 5,
  'gateway/tracing': 6,
  http: 6,
  site: 7,
}
/** The shell around the layers, which may import any of them. */
const TOP = 8

/** Files of the gateway that do something with a call, and so have no noun that another one needs. */
const ACTS_OF_A_CALL = new Set(
  ['admit', 'hold-money', 'call-upstream', 'charge', 'serve-call', 'reconcile']
    .concat(['chat/begin-stream', 'chat/relay-stream'])
    .map((act) => `src/gateway/calls/${act}.ts`),
)

/** Beside `db/due-rows.ts`, where rows that wait for a worker are locked and claimed. */
const LOCKS_OF_THEIR_OWN = new Set([
  // Deleted, not worked off: a window that a call has locked is in use.
  'src/money/ledger/prune-tasks.ts',
  // Deleted, too: a response that another one has locked is being deleted.
  'src/customers/stored-responses/store-response.ts',
  // The webhooks of one customer hold up no other: a claim counts what runs.
  'src/deliveries/webhooks/lease-attempts.ts',
  // One row that is known by its id, and passed by while another transaction has it.
  'src/deliveries/alerts/lock-against-deletion.ts',
  'src/deliveries/alerts/warn-of-low-balance.ts',
  'src/deliveries/email/queue-mails.ts',
])

interface Import {
  file: string
  target: string
}

function readImports(...patterns: string[]): Import[] {
  return readSources(...patterns).flatMap(({ file, text }) =>
    Array.from(text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g), ([, target]) => ({
      file,
      target: target as string,
    })),
  )
}

/** At least one circle for each knot of files, depth first: from a file to the first that is on the way already. */
function findCircles(lines: readonly Import[]): string[] {
  const targets = new Map<string, Set<string>>()
  for (const { file, target } of lines) {
    if (!target.startsWith('.')) continue
    const path = normalize(join(dirname(file), target))
    targets.set(file, (targets.get(file) ?? new Set()).add(path))
  }
  const circles: string[] = []
  const way: string[] = []
  const done = new Set<string>()
  const visit = (file: string): void => {
    const begin = way.indexOf(file)
    if (begin >= 0) circles.push([...way.slice(begin), file].join(' -> '))
    if (begin >= 0 || done.has(file)) return
    way.push(file)
    for (const target of [...(targets.get(file) ?? [])].sort()) visit(target)
    way.pop()
    done.add(file)
  }
  for (const file of [...targets.keys()].sort()) visit(file)
  return circles
}

function wingOf(path: string): string {
  const [, wing = '', rest] = path.split('/')
  return rest === undefined ? 'app' : wing
}

/** The innermost room that has a layer, or the whole wing. */
function roomOf(path: string): string {
  const [, wing = '', room = ''] = path.split('/')
  return `${wing}/${room}` in LAYERS ? `${wing}/${room}` : wing
}

function layerOf(path: string): number {
  return wingOf(path) === 'app' ? TOP : (LAYERS[roomOf(path)] ?? Number.NaN)
}

const imports = readImports('src/**/*.ts')
const own = imports.filter(({ target }) => target.startsWith('.'))

test('every folder of src has its layer', () => {
  assert.ok(own.length > 50)
  const homeless = own.map(({ file }) => file).filter((file) => Number.isNaN(layerOf(file)))
  assert.deepEqual([...new Set(homeless)], [])
})

test('imports point to lower layers, and to the wings below, or stay in their room', () => {
  const breaches = own.filter(({ file, target }) => {
    const path = normalize(join(dirname(file), target))
    // The tests beside the code share their helpers with the tests in `test`.
    if (path.startsWith('test/harness/')) return !file.endsWith('.test.ts')
    const [wing, from] = [wingOf(path), wingOf(file)]
    if (wing !== from && !WINGS[from]?.includes(wing)) return true
    const isOwnRoom = roomOf(path) === roomOf(file)
    return !(isOwnRoom || layerOf(path) < layerOf(file) || layerOf(file) === TOP)
  })
  assert.deepEqual(breaches, [])
})

test('no import leads back to where it began, in the server, the dashboard and the benchmarks', () => {
  const all = readImports('{src,web/src,bench}/**/*.{ts,tsx}')
  assert.deepEqual(findCircles(all), [])
})

test('a circle of imports is found, and shown file by file', () => {
  const line = (file: string, target: string): Import => ({ file, target })
  const circle = [line('src/b.ts', './c.ts'), line('src/c.ts', './deep/d.ts')]
  const back = line('src/deep/d.ts', '../b.ts')
  const around = [
    line('src/a.ts', './b.ts'),
    line('src/a.ts', './c.ts'),
    line('src/c.ts', 'node:fs'),
  ]
  assert.deepEqual(findCircles([...around, ...circle]), [])
  assert.deepEqual(findCircles([...around, ...circle, back]), [
    'src/b.ts -> src/c.ts -> src/deep/d.ts -> src/b.ts',
  ])
  assert.deepEqual(findCircles([line('src/a.ts', './a.ts')]), ['src/a.ts -> src/a.ts'])
})

test('own files are imported with their ending, and no barrel and no default export is there', () => {
  assert.deepEqual(
    own.filter(({ target }) => !/\.(ts|json)$/.test(target)),
    [],
  )
  assert.deepEqual(
    own.filter(({ target }) => target.endsWith('/index.ts')),
    [],
  )
  for (const { file, text } of readSources('src/**/*.ts'))
    assert.doesNotMatch(text, /^export default/m, file)
})

test('lib imports nothing but node: modules and itself', () => {
  const others = imports.filter(
    ({ file, target }) =>
      roomOf(file) === 'platform/lib' &&
      !file.endsWith('.test.ts') &&
      !target.startsWith('node:') &&
      !target.startsWith('./'),
  )
  assert.deepEqual(others, [])
})

test('sandbox servers import lib alone, and only what starts them imports them', () => {
  const breaches = own.filter(({ file, target }) => {
    const room = roomOf(file)
    const targetRoom = roomOf(normalize(join(dirname(file), target)))
    if (room === 'sandbox') return targetRoom !== 'sandbox' && targetRoom !== 'platform/lib'
    return targetRoom === 'sandbox' && layerOf(file) !== TOP
  })
  assert.deepEqual(breaches, [])
})

test('the acts of a call take the nouns of a call from call.ts, never from each other', () => {
  const breaches: string[] = []
  for (const { file, text } of readSources('src/gateway/calls/**/*.ts')) {
    for (const [, isType, names = '', target = ''] of text.matchAll(
      /^(?:import|export)( type)? \{([^}]*)\} from '([^']*)'/gm,
    )) {
      const path = normalize(join(dirname(file), target))
      if (!ACTS_OF_A_CALL.has(path)) continue
      if (isType || /\btype /.test(names)) breaches.push(`${file}: ${names.trim()} of ${path}`)
    }
  }
  assert.deepEqual(breaches, [])
})

test('providers know no database and no money, and only config.ts reads the environment', () => {
  const breaches = own.filter(
    ({ file, target }) =>
      roomOf(file) === 'gateway/providers' && /\/(db|customers|money)\/|money/.test(target),
  )
  assert.deepEqual(breaches, [])
  for (const { file, text } of readSources('src/**/*.ts')) {
    if (file.endsWith('.test.ts')) continue
    // The shells hand the environment to config.ts and read nothing of it.
    const rest = text
      .replaceAll('loadConfig(process.env, process.cwd())', '')
      .replaceAll('readEnvironment(folder, process.env)', '')
    assert.doesNotMatch(rest, /process\.env/, file)
  }
})

test('rows that wait for a worker are claimed in one place', () => {
  const files = readSources('src/**/*.ts').filter(({ text }) => /skip\s+locked/i.test(text))
  assert.deepEqual(
    new Set(files.map(({ file }) => file)),
    new Set(['src/platform/db/due-rows.ts', ...LOCKS_OF_THEIR_OWN]),
  )
})

test('an act owns its audit row: neither http nor the command line writes one', () => {
  const writers: string[] = []
  for (const { file, text } of readSources('src/{http,site,app/cli}/**/*.ts')) {
    if (/\baudited\b(?!\.ts)|audit_log'\)|\brecordEvent\b/.test(text)) writers.push(file)
  }
  assert.deepEqual(writers, [])
})

/** What every resource uses; any other folder of `http` is a resource, named after the noun of its addresses. */
const HTTP_PLUMBING = new Set(['rest', 'server', 'dashboard'])
/** Folders by caller or by kind of file, which spread one resource over many of them. */
const HTTP_BUCKETS = new Set(['admin', 'self-service', 'public', 'contract', 'openai', 'inbound'])
const SERVER_IMPORTS_MAX = 15

const httpFolderOf = (path: string): string =>
  /^src\/(?:http|site)\/([^/]+)\//.exec(path)?.[1] ?? ''
const httpImports = own
  .filter(({ file }) => /^src\/(?:http|site|app)\//.test(file))
  .map(({ file, target }) => ({ file, path: normalize(join(dirname(file), target)) }))

test('http has a folder for each resource, and the server registers them all', () => {
  const folders = new Set(httpImports.map(({ file }) => httpFolderOf(file)).filter(Boolean))
  const resources = [...folders].filter((folder) => !HTTP_PLUMBING.has(folder)).sort()
  assert.ok(resources.length > 20)
  assert.deepEqual(
    resources.filter((folder) => HTTP_BUCKETS.has(folder)),
    [],
  )
  const registered = httpImports
    .filter(({ file, path }) => file === 'src/app/resources.ts' && path.endsWith('-routes.ts'))
    .map(({ path }) => httpFolderOf(path))
  assert.deepEqual([...new Set(registered)].sort(), resources)
  const imported = new Set(httpImports.map(({ path }) => path))
  const forgotten = readSources('src/{http,site}/**/*-routes.ts').map(({ file }) => file)
  assert.deepEqual(
    forgotten.filter((file) => !imported.has(file)),
    [],
  )
})

test('no resource of http knows the routes of another, and the plumbing knows no resource', () => {
  const breaches = httpImports.filter(({ file, path }) => {
    const [from, to] = [httpFolderOf(file), httpFolderOf(path)]
    if (from === to || from === '' || to === '' || HTTP_PLUMBING.has(to)) return false
    if (HTTP_PLUMBING.has(from)) return true
    return path.endsWith('-routes.ts')
  })
  assert.deepEqual(breaches, [])
})

test('the server imports few files, and routes by their list alone', () => {
  const those = httpImports.filter(({ file }) => file === 'src/app/create-server.ts')
  assert.ok(those.length <= SERVER_IMPORTS_MAX, `${those.length} imports`)
  const routes = those.filter(({ path }) => path.endsWith('-routes.ts'))
  assert.deepEqual(routes, [])
})
