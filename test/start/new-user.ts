/** A server as a new user starts it: in an empty folder, without settings and without a database. */
import assert from 'node:assert/strict'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { decimalBrl, parseBrl } from '../../src/platform/lib/money.ts'
import { prepareCluster, type PreparedCluster } from '../harness/prepared-cluster.ts'
import { BUNDLE_IMPORTS } from '../harness/bundle-imports.ts'
import { memoryFolder } from '../harness/memory-folder.ts'
import { findFreePort } from '../harness/find-free-port.ts'

export const root = join(import.meta.dirname, '../..')
export const START_MS_MAX = 40_000
export const DEMO_BALANCE = '50'

export interface Server {
  readonly process: ChildProcess
  readonly stdout: string
  /** All its output so far: its log and its errors. */
  readonly stderr: () => string
  readonly baseUrl: string
  readonly secret: string
  /** The printed commands, unchanged. */
  readonly commands: readonly string[]
}

export let dataDir: string
export let port: number
let prepared: PreparedCluster
let server: Server | undefined

/** One server for each test, which ends with it. */
export function prepareStarts(): void {
  before(async () => {
    port = await findFreePort()
    prepared = await prepareCluster({ isMigrated: true })
  })
  after(() => prepared.remove())
  afterEach(async () => {
    if (server) await end(server, 'SIGINT')
    server = undefined
    await rm(dataDir, { recursive: true, force: true })
  })
}

export async function makeDataFolder({ withCluster = true } = {}): Promise<void> {
  dataDir = await mkdtemp(join(memoryFolder(), 'catraca-start-'))
  // The account that runs the database for root could not open this folder, and the data would go elsewhere.
  await chmod(dataDir, 0o755)
  if (withCluster) await prepared.putInto(dataDir)
}

/** Starts a server on a database without a row: a copy of the prepared cluster, or a cluster that it creates and migrates. */
export async function startFresh({ withCluster = true } = {}): Promise<Server> {
  await makeDataFolder({ withCluster })
  await writeFile(join(dataDir, '.env'), `DATA_DIR=.\nPORT=${port}\n`)
  // A new user's first start has none of what the tests' own processes are started with.
  return start(withCluster ? BUNDLE_IMPORTS : [])
}

/** Starts it in the folder of its `.env`, with none of the settings of this process. */
function spawnProgram(args: readonly string[], imports = BUNDLE_IMPORTS) {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '', TEST_BUNDLES_FILE = '' } = process.env
  return spawn(process.execPath, [...imports, ...args], {
    cwd: dataDir,
    env: { PATH, HOME, NODE_COMPILE_CACHE, TEST_BUNDLES_FILE },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

export const spawnServer = (imports = BUNDLE_IMPORTS) =>
  spawnProgram([join(root, 'src/main.ts')], imports)

/** Runs a program until it exits; the last field is its exit code. */
export async function run(args: readonly string[]): Promise<[string, string, number]> {
  const child = spawnProgram(args)
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (text) => (stdout += String(text)))
  child.stderr.on('data', (text) => (stderr += String(text)))
  const [code] = (await once(child, 'close')) as [number]
  return [stdout, stderr, code]
}

export const reset = (...args: string[]) =>
  run([join(root, 'src/app/cli/main.ts'), 'reset', ...args])

export async function start(imports = BUNDLE_IMPORTS): Promise<Server> {
  const child = spawnServer(imports)
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (text) => (stdout += String(text)))
  child.stderr.on('data', (text) => (stderr += String(text)))
  for (const deadline = Date.now() + START_MS_MAX; !/^ {2}curl \S+\/v1\/usage .+$/m.test(stdout);) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL')
      assert.fail(`the server did not come up:\n${stdout}\n${stderr}`)
    }
    await sleep(20)
  }
  const match = (what: RegExp): string => what.exec(stdout)?.[1] ?? assert.fail(`no ${what}`)
  server = {
    process: child,
    stdout,
    stderr: () => stderr,
    baseUrl: match(/^ {2}address {3}(\S+)$/m),
    secret: match(/^ {2}key {7}(\S+)$/m),
    commands: stdout.split('\n\n').filter((part) => part.startsWith('  curl ')),
  }
  return server
}

export async function end(
  { process: child }: Server,
  signal: NodeJS.Signals,
): Promise<number | NodeJS.Signals> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill(signal)
    await once(child, 'exit')
  }
  return child.exitCode ?? (child.signalCode as NodeJS.Signals)
}

/** What a shell prints for a command of the greeting, followed by the status. */
export async function runInShell(
  command: string | undefined,
): Promise<{ status: string; body: string }> {
  assert.ok(command)
  const { stdout } = await promisify(execFile)('bash', [
    '-c',
    `${command.trim()} --silent --show-error --write-out '\\n%{http_code}'`,
  ])
  const cut = stdout.lastIndexOf('\n')
  return { status: stdout.slice(cut + 1), body: stdout.slice(0, cut) }
}

/** The digits as the answer's own text has them: a parsed number could have lost some. */
export function amount(body: string, field: string): string {
  const found = new RegExp(`"${field}":([0-9.]+)[,}]`).exec(body)?.[1]
  return found ?? assert.fail(`no ${field} in ${body}`)
}

export const minus = (from: string, ...amounts: string[]): string =>
  decimalBrl(amounts.reduce((rest, less) => rest - brl(less), brl(from)))

export function brl(text: string): bigint {
  return parseBrl(text) ?? assert.fail(`${text} is no amount`)
}

export async function readUsage({ baseUrl, secret }: Server): Promise<string> {
  const answer = await fetch(`${baseUrl}/usage`, { headers: { authorization: `Bearer ${secret}` } })
  assert.equal(answer.status, 200)
  return answer.text()
}

export function chat(of: Server, body: object): Promise<Response> {
  return fetch(`${of.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${of.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Olá!' }], ...body }),
  })
}

/** Makes a call and returns its cost. */
export async function spend(of: Server): Promise<string> {
  const answer = await chat(of, { model: 'sandbox-chat' })
  assert.equal(answer.status, 200)
  return amount(await answer.text(), 'cost_billed_brl')
}

export const postmaster = (): number =>
  Number(readFileSync(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8').split('\n')[0])
