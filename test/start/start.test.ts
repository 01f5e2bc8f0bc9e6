/** The server as a new user starts it: no settings, no database, only the printed commands. */
import assert from 'node:assert/strict'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { decimalBrl, parseBrl } from '../../src/platform/lib/money.ts'
import { isAlive } from '../../src/platform/lib/process-identity.ts'
import { prepareCluster, type PreparedCluster } from '../harness/prepared-cluster.ts'
import { BUNDLE_IMPORTS } from '../harness/bundle-imports.ts'
import { memoryFolder } from '../harness/memory-folder.ts'
import { findFreePort } from '../harness/find-free-port.ts'

const root = join(import.meta.dirname, '../..')
const START_MS_MAX = 40_000
const DEMO_BALANCE = '50'

interface Server {
  readonly process: ChildProcess
  readonly stdout: string
  /** All its output so far: its log and its errors. */
  readonly stderr: () => string
  readonly baseUrl: string
  readonly secret: string
  /** The printed commands, unchanged. */
  readonly commands: readonly string[]
}

let dataDir: string
let port: number
let prepared: PreparedCluster
let server: Server | undefined

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

/** Starts a server on a database without a row: a copy of the prepared cluster, or a cluster that it creates and migrates. */
async function startFresh({ withCluster = true } = {}): Promise<Server> {
  dataDir = await mkdtemp(join(memoryFolder(), 'catraca-start-'))
  // The account that runs the database for root could not open this folder, and the data would go elsewhere.
  await chmod(dataDir, 0o755)
  if (withCluster) await prepared.putInto(dataDir)
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

const spawnServer = (imports = BUNDLE_IMPORTS) => spawnProgram([join(root, 'src/main.ts')], imports)

/** Runs a program until it exits; the last field is its exit code. */
async function run(args: readonly string[]): Promise<[string, string, number]> {
  const child = spawnProgram(args)
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (text) => (stdout += String(text)))
  child.stderr.on('data', (text) => (stderr += String(text)))
  const [code] = (await once(child, 'close')) as [number]
  return [stdout, stderr, code]
}

const reset = (...args: string[]) => run([join(root, 'src/app/cli/main.ts'), 'reset', ...args])

async function start(imports = BUNDLE_IMPORTS): Promise<Server> {
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

async function end(
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
async function runInShell(command: string | undefined): Promise<{ status: string; body: string }> {
  assert.ok(command)
  const { stdout } = await promisify(execFile)('bash', [
    '-c',
    `${command.trim()} --silent --show-error --write-out '\\n%{http_code}'`,
  ])
  const cut = stdout.lastIndexOf('\n')
  return { status: stdout.slice(cut + 1), body: stdout.slice(0, cut) }
}

/** The digits as the answer's own text has them: a parsed number could have lost some. */
function amount(body: string, field: string): string {
  const found = new RegExp(`"${field}":([0-9.]+)[,}]`).exec(body)?.[1]
  return found ?? assert.fail(`no ${field} in ${body}`)
}

const minus = (from: string, ...amounts: string[]): string =>
  decimalBrl(amounts.reduce((rest, less) => rest - brl(less), brl(from)))

function brl(text: string): bigint {
  return parseBrl(text) ?? assert.fail(`${text} is no amount`)
}

async function readUsage({ baseUrl, secret }: Server): Promise<string> {
  const answer = await fetch(`${baseUrl}/usage`, { headers: { authorization: `Bearer ${secret}` } })
  assert.equal(answer.status, 200)
  return answer.text()
}

function chat(of: Server, body: object): Promise<Response> {
  return fetch(`${of.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${of.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Olá!' }], ...body }),
  })
}

/** Makes a call and returns its cost. */
async function spend(of: Server): Promise<string> {
  const answer = await chat(of, { model: 'sandbox-chat' })
  assert.equal(answer.status, 200)
  return amount(await answer.text(), 'cost_billed_brl')
}

const postmaster = (): number =>
  Number(readFileSync(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8').split('\n')[0])

test('the first start prints an address, a key and a command that works and is charged exactly', async () => {
  const first = await startFresh({ withCluster: false })
  assert.equal(first.baseUrl, `http://127.0.0.1:${port}/v1`)
  assert.match(first.secret, /^sk-svc-[A-Za-z0-9]{38}$/)
  for (const page of ['', 'mailbox']) {
    const address = first.baseUrl.replace('v1', page)
    assert.ok(first.stdout.includes(` ${address}\n`), address)
    assert.equal((await fetch(address)).headers.get('content-type')?.split(';')[0], 'text/html')
  }
  // The printed address opens the mailbox to this browser; nothing else does, on this machine either.
  const mailbox = /http:\S+\/mailbox\?token=\S+/.exec(first.stdout)?.[0] ?? ''
  const opened = await fetch(mailbox, { redirect: 'manual' })
  const cookie = opened.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  assert.equal(opened.status, 303)
  const at = first.baseUrl.replace('v1', 'mailbox')
  assert.equal((await fetch(at)).status, 403)
  assert.equal((await fetch(at, { headers: { cookie } })).status, 200)
  const [chatCommand, usageCommand] = first.commands
  assert.equal(amount((await runInShell(usageCommand)).body, 'balance_brl'), DEMO_BALANCE)

  const { status, body } = await runInShell(chatCommand)
  assert.equal(status, '200', body)
  const completion = JSON.parse(body) as { model: string; choices: unknown[] }
  assert.equal(completion.model, 'gpt-4o-mini')
  assert.equal(completion.choices.length, 1)
  const cost = amount(body, 'cost_billed_brl')
  assert.ok(brl(cost) > 0n)

  const usage = await runInShell(usageCommand)
  assert.equal(usage.status, '200')
  assert.equal(amount(usage.body, 'balance_brl'), minus(DEMO_BALANCE, cost))
  assert.equal(amount(usage.body, 'total_spent_brl'), cost)
  assert.equal(amount(usage.body, 'total_topped_up_brl'), DEMO_BALANCE)
})

test('Ctrl-C stops the server and its database with code 0, and the next start has the key and the balance', async () => {
  const first = await startFresh()
  const cost = await spend(first)
  const database = postmaster()
  assert.equal(await end(first, 'SIGINT'), 0)
  assert.equal(first.stderr(), '', 'a clean stop reports no failure')
  assert.equal(isAlive(database), false)

  const second = await start()
  assert.equal(second.secret, first.secret)
  assert.equal(amount(await readUsage(second), 'balance_brl'), minus(DEMO_BALANCE, cost))
  assert.equal(
    amount(await readUsage(second), 'total_topped_up_brl'),
    DEMO_BALANCE,
    'the demo money is given once',
  )
  const more = await spend(second)
  assert.equal(amount(await readUsage(second), 'balance_brl'), minus(DEMO_BALANCE, cost, more))
})

test('beside a running server, a command takes the same .env and names its database, and a second server names the taken port', async () => {
  await startFresh()
  const [stdout, stderr, code] = await run([join(root, 'src/app/cli/main.ts'), 'customer', 'list'])
  assert.equal(code, 0)
  assert.equal(stderr, `sandbox mode, the embedded database in ${join(dataDir, 'postgres')}\n`)
  assert.match(stdout, /demo@example\.com/)

  assert.match((await reset('--yes'))[1], /^reset: a server uses .*\. Stop it first\n$/)

  const second = await run([join(root, 'src/main.ts')])
  assert.deepEqual([second[0], second[2]], ['', 1])
  assert.match(
    second[1],
    new RegExp(`^[^\\n]*port ${port} [^\\n]*: PORT=${port + 1} npm start\\n$`),
  )
})

test('a reset removes all that a server wrote, and no other file, but only if that is confirmed', async () => {
  const first = await startFresh()
  await spend(first)
  await end(first, 'SIGINT')
  const written = await readdir(dataDir)
  assert.match((await reset())[1], /If that is meant: reset --yes\n$/)
  assert.deepEqual(await readdir(dataDir), written)
  assert.equal((await reset('--yes'))[2], 0)
  assert.deepEqual(await readdir(dataDir), ['.env'])
  assert.equal((await reset('--yes'))[0], 'nothing to remove\n')
})

test('after a kill the next start has the key, the balance and every charge', async () => {
  const first = await startFresh()
  const cost = await spend(first)
  assert.equal(await end(first, 'SIGKILL'), 'SIGKILL')

  const second = await start()
  assert.equal(second.secret, first.secret)
  assert.equal(amount(await readUsage(second), 'balance_brl'), minus(DEMO_BALANCE, cost))

  const database = postmaster()
  second.process.kill('SIGKILL')
  process.kill(database, 'SIGKILL')
  await end(second, 'SIGKILL')
  const third = await start()
  assert.equal(amount(await readUsage(third), 'balance_brl'), minus(DEMO_BALANCE, cost))
  const more = await spend(third)
  assert.equal(amount(await readUsage(third), 'balance_brl'), minus(DEMO_BALANCE, cost, more))
  const last = postmaster()
  assert.equal(await end(third, 'SIGINT'), 0)
  assert.equal(isAlive(last), false, 'the killed servers do not count as users of the database')
})

test('Ctrl-C while an answer streams lets it end, charges it, and accepts no more calls', async () => {
  const first = await startFresh()
  const answer = await chat(first, {
    model: 'sandbox-slow',
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 40,
  })
  assert.equal(answer.status, 200)
  assert.ok(answer.body)
  const chunks = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = (await chunks.read()).value ?? ''
  const exited = once(first.process, 'exit')
  // npm forwards the Ctrl-C that the terminal has already sent.
  first.process.kill('SIGINT')
  first.process.kill('SIGINT')
  for (const deadline = Date.now() + 30_000; ; await sleep(20)) {
    const isRefused = await fetch(`${first.baseUrl}/healthz`).then(
      () => false,
      () => true,
    )
    if (isRefused) break
    assert.ok(Date.now() < deadline, 'new connections are refused')
  }
  for (let part = await chunks.read(); !part.done; part = await chunks.read()) text += part.value
  assert.ok(text.endsWith('data: [DONE]\n\n'), text.slice(-200))
  assert.match(text, /"finish_reason":"(stop|length)"/)
  assert.deepEqual(await exited, [0, null])

  const second = await start()
  const usage = await readUsage(second)
  const cost = amount(usage, 'cost_billed_brl')
  assert.ok(brl(cost) > 0n)
  assert.equal(amount(text, 'cost_billed_brl'), cost, 'the stream told what was charged')
  assert.match(usage, /"model_id":"sandbox-slow"/)
  assert.match(usage, /"usage_kind":"exact"/)
  assert.equal(amount(usage, 'balance_brl'), minus(DEMO_BALANCE, cost))
})

test('SIGTERM to `npm start` ends the server, and npm with it', async () => {
  dataDir = await mkdtemp(join(memoryFolder(), 'catraca-start-'))
  await chmod(dataDir, 0o755)
  await prepared.putInto(dataDir)
  const npm = spawn('npm', ['start'], {
    cwd: root,
    env: { ...process.env, DATA_DIR: dataDir, PORT: String(port) },
    stdio: 'ignore',
  })
  const exited = once(npm, 'exit')
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/livez`).then(
      () => true,
      () => false,
    )
  for (const deadline = Date.now() + START_MS_MAX; !(await answers()); await sleep(50))
    assert.ok(Date.now() < deadline, 'the server comes up')
  const database = postmaster()
  npm.kill('SIGTERM')
  await exited
  // A server that did not get the signal would answer on.
  const isLeft = await answers()
  assert.equal(isLeft, false)
  assert.equal(isAlive(database), false, 'the database is stopped before npm ends')
})

test('Ctrl-C during the start leaves nothing running', async () => {
  const first = await startFresh()
  await end(first, 'SIGINT')
  const child = spawnServer()
  const exited = once(child, 'exit')
  // Its database runs, and may already answer.
  const database = await untilPostmaster()
  child.kill('SIGINT')
  await exited
  const isLeft = isAlive(database)
  if (isLeft) process.kill(database, 'SIGQUIT')
  while (isAlive(database)) await sleep(20)
  assert.equal(isLeft, false, 'the database that was starting is stopped')
})

async function untilPostmaster(): Promise<number> {
  for (const deadline = Date.now() + START_MS_MAX; ; await sleep(2)) {
    try {
      if (postmaster() > 0) return postmaster()
    } catch {
      assert.ok(Date.now() < deadline, 'the database starts')
    }
  }
}
