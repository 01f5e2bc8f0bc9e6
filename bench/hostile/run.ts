/**
 * `npm run bench:hostile -- --seconds 600`: hostile traffic beside normal calls. Measures normal calls alone for a
 * sixth of the time, and then beside large bodies, deep JSON, slow readers, wrong keys, half requests and answers of
 * upstreams without an end. Exits 1 when the median of normal calls more than doubles, the gateway's memory exceeds
 * `--memory-mb`, or a normal call is refused. The attackers and their upstream run at the lowest priority, because they
 * would be other machines; normal calls have an upstream of their own.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { findFreePort } from '../../test/harness/find-free-port.ts'
import { readProcessUsage } from '../process-usage.ts'
import { createProcesses, type Processes } from '../processes.ts'
import { report } from '../report.ts'
import { median } from '../summarise-rounds.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    'memory-mb': { type: 'string', default: '1024' },
    'median-factor': { type: 'string', default: '2' },
    /** Names of attacks in `attack.ts`, between commas. */
    only: { type: 'string' },
  },
})
const SECONDS = Number(values.seconds)
const MB = 1024 * 1024
const CALLERS = 4
const PAUSE_MS = 20
const WARM_UP_SECONDS = 5
const LOWEST_PRIORITY = 19
const root = join(import.meta.dirname, '../..')

interface NormalCalls {
  readonly ms: number[]
  readonly refused: string[]
}

interface Started {
  readonly port: number
  readonly pid: number
  readonly normal: string
  readonly poor: string
  readonly rich: string
}

async function start(processes: Processes, folder: string): Promise<Started> {
  const [port, upstreamPort, hostilePort] = [
    await findFreePort(),
    await findFreePort(),
    await findFreePort(),
  ]
  spawnUpstream(processes, folder, upstreamPort, 0)
  spawnUpstream(processes, folder, hostilePort, LOWEST_PRIORITY)
  const configPath = join(folder, 'catraca.config.json')
  writeFileSync(configPath, JSON.stringify(configOf(upstreamPort, hostilePort)))
  const env = {
    PORT: String(port),
    HOST: '127.0.0.1',
    DATA_DIR: join(folder, 'data'),
    CATRACA_CONFIG: configPath,
    DATABASE_URL: undefined,
    // Addresses are not what protects here: all are on this machine.
    RATE_LIMIT_PER_IP: '100000000',
    REST_RATE_LIMIT_PER_KEY: '100000000',
    REST_RATE_LIMIT_PER_IP: '100000000',
    LOG_LEVEL: 'error',
  }
  const server = await processes.start({
    name: 'catraca',
    command: process.execPath,
    args: [
      '--min-semi-space-size=24',
      '--max-semi-space-size=24',
      '--heap-growing-percent=60',
      join(root, 'src/main.ts'),
    ],
    env,
    cwd: root,
    readyUrl: `http://127.0.0.1:${port}/v1/healthz`,
  })
  const cli = async (...args: string[]): Promise<Record<string, string>> => {
    const program = join(root, 'src/cli/main.ts')
    const command = { name: 'cli', command: process.execPath, args: [program, ...args, '--json'] }
    const finished = await processes.run({ ...command, env, cwd: root }, 60_000)
    if (finished.code !== 0) throw new Error(finished.stderr + finished.stdout)
    return JSON.parse(finished.stdout) as Record<string, string>
  }
  const customer = async (name: string, amountBrl: string, perMinute: string): Promise<string> => {
    const { id = '' } = await cli('customer', 'create', '--name', name)
    if (amountBrl !== '0') await cli('customer', 'credit', id, '--amount-brl', amountBrl)
    const limit = ['--requests-per-minute', perMinute]
    const { secret = '' } = await cli('key', 'create', id, '--name', name, ...limit)
    return secret
  }
  return {
    port,
    pid: server.pid,
    normal: await customer('normal', '10000', '100000000'),
    // The limits of a key that anybody gets.
    poor: await customer('poor', '0', '120'),
    rich: await customer('rich', '10000', '600'),
  }
}

function configOf(upstreamPort: number, hostilePort: number): object {
  const routesOf = (model: string): object => ({
    routes: [{ upstream: model === 'good' ? 'bench' : 'hostile', model }],
  })
  const chats = ['good', 'short', 'endless', 'huge'].map((id) => ({
    id,
    category: 'llm',
    vendor: 'bench',
    prices: { input: '0.01', output: '0.01' },
    context_tokens: 100_000_000,
    max_output_tokens: 100,
    ...routesOf(id),
  }))
  const vectors = {
    id: 'vectors',
    category: 'embedding',
    vendor: 'bench',
    prices: { input: '0.01' },
    context_tokens: 8_000,
    embedding: { dimensions: 1_024 },
    ...routesOf('vectors'),
  }
  const upstream = (id: string, at: number): object => ({
    id,
    kind: 'openai-compatible',
    base_url: `http://127.0.0.1:${at}/v1`,
    breaker: { failures: 0 },
  })
  const upstreams = [upstream('bench', upstreamPort), upstream('hostile', hostilePort)]
  return { upstreams, models: [...chats, vectors] }
}

function spawnUpstream(processes: Processes, folder: string, port: number, priority: number): void {
  const program = join(import.meta.dirname, 'upstream.ts')
  const args = ['-n', String(priority), process.execPath, program, String(port)]
  const command = { name: 'upstream', command: 'nice', args }
  // It ends with all the others.
  void processes.run({ ...command, cwd: folder }, (SECONDS * 2 + 600) * 1_000)
}

async function callNormally({ port, normal }: Started, seconds: number): Promise<NormalCalls> {
  const result: NormalCalls = { ms: [], refused: [] }
  const body = JSON.stringify({
    model: 'good',
    max_tokens: 5,
    messages: [{ role: 'user', content: 'Oi! Tudo bem?' }],
  })
  const headers = { authorization: `Bearer ${normal}`, 'content-type': 'application/json' }
  const untilMs = performance.now() + seconds * 1_000
  const caller = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      const startedAtMs = performance.now()
      const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
        method: 'POST',
        headers,
        body,
      }).then(
        async (got) => ({ status: got.status, text: await got.text() }),
        (error: unknown) => ({ status: 0, text: String((error as Error).cause ?? error) }),
      )
      if (answer.status === 200) result.ms.push(performance.now() - startedAtMs)
      else result.refused.push(`${answer.status} ${answer.text.slice(0, 200)}`)
      await sleep(PAUSE_MS)
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  return result
}

/** The most resident memory of the gateway's process, without its database. */
function watchMemory(pid: number): () => number {
  let peak = 0
  const look = (): void => {
    peak = Math.max(peak, readProcessUsage(pid)?.gatewayBytes ?? 0)
  }
  const timer = setInterval(look, 250)
  return () => {
    clearInterval(timer)
    return peak
  }
}

async function measure(started: Started): Promise<boolean> {
  const { port, pid, poor, rich } = started
  await callNormally(started, WARM_UP_SECONDS)
  const alone = await callNormally(started, Math.max(10, SECONDS / 6))
  const stopWatching = watchMemory(pid)
  const program = join(import.meta.dirname, 'attack.ts')
  const attack = spawn(
    'nice',
    [
      '-n',
      String(LOWEST_PRIORITY),
      process.execPath,
      program,
      String(port),
      poor,
      rich,
      ...(values.only ? [values.only] : []),
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let said = ''
  attack.stdout.on('data', (text) => (said += String(text)))
  const cpuBefore = readProcessUsage(pid)?.gatewayCpuMs ?? 0
  const beside = await callNormally(started, SECONDS)
  const cpuMs = (readProcessUsage(pid)?.gatewayCpuMs ?? 0) - cpuBefore
  const peakMb = Math.round(stopWatching() / MB)
  const closed = once(attack, 'close')
  attack.kill('SIGTERM')
  await closed

  const [aloneMs, besideMs] = [median(alone.ms), median(beside.ms)]
  const p99 = beside.ms.toSorted((a, b) => a - b)[Math.floor(beside.ms.length * 0.99)] ?? 0
  const refused = [...alone.refused, ...beside.refused]
  report(
    `median of normal calls: ${aloneMs.toFixed(1)} ms alone (${alone.ms.length} calls), ${besideMs.toFixed(1)} ms beside hostile traffic (${beside.ms.length} calls, p99 ${p99.toFixed(0)} ms)`,
  )
  report(`memory of the gateway at most: ${peakMb} MB (bound: ${values['memory-mb']} MB)`)
  report(`processor of the gateway: ${(cpuMs / SECONDS / 10).toFixed(0)} % of one core`)
  report(
    `normal calls refused: ${refused.length}${refused.length > 0 ? `, such as ${refused[0]}` : ''}`,
  )
  report(`hostile requests: ${said.trim()}`)
  const isFast = besideMs <= Number(values['median-factor']) * aloneMs
  return isFast && peakMb <= Number(values['memory-mb']) && refused.length === 0 && said !== ''
}

const folder = mkdtempSync(join(tmpdir(), 'catraca-hostile-'))
const processes = createProcesses(folder)
process.once('exit', () => processes.killAll())
try {
  const isGood = await measure(await start(processes, folder))
  report(isGood ? 'ok' : 'NOT OK')
  process.exitCode = isGood ? 0 : 1
} finally {
  await processes.stopAll()
  rmSync(folder, { recursive: true, force: true })
}
