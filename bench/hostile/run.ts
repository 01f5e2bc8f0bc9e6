/**
 * `npm run bench:hostile -- --seconds 600`: hostile traffic beside normal calls, in alternating turns. In the turns with
 * an attack, large bodies, deep JSON, slow readers, wrong keys, half requests and answers of upstreams without an end go
 * to the gateway; in those without, the same attackers send the same to a sink, which takes the cost of generating the
 * load out of the comparison. Attackers, normal clients, both upstreams and the sink are processes of their own; the
 * hostile upstream and the sink have the lowest priority, because they would be other machines. Exits 1 when the median
 * of normal calls more than doubles (the median of the turns decides, so that a slow moment does not), the gateway's
 * memory exceeds `--memory-mb`, a normal call is refused, or an attack got no answer at all.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { findFreePort } from '../../test/harness/find-free-port.ts'
import { nginxConfig, PROXY_SETTINGS } from '../nginx-config.ts'
import { readProcessUsage } from '../process-usage.ts'
import { createProcesses, type Processes } from '../processes.ts'
import { report } from '../report.ts'
import { median } from '../summarise-rounds.ts'
import type { NormalCalls } from './normal.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    'memory-mb': { type: 'string', default: '1024' },
    'median-factor': { type: 'string', default: '2' },
    /** V8's old space, as it is in a pod of 2 GiB. */
    'heap-mb': { type: 'string', default: '1024' },
    /** Attackers and normal clients come through an nginx. */
    nginx: { type: 'boolean', default: false },
    /** Pairs of a turn with and one without an attack. */
    turns: { type: 'string' },
    /** Names of attacks in `attack.ts`, between commas. */
    only: { type: 'string' },
  },
})
const SECONDS = Number(values.seconds)
const TURNS = Number(values.turns ?? Math.min(5, Math.max(2, Math.floor(SECONDS / 10))))
const HOSTILE_SECONDS = SECONDS / TURNS
/** Enough calls for a median, in less time. */
const BASELINE_SECONDS = Math.max(3, HOSTILE_SECONDS / 3)
/** Connections and answers of a turn end before the next one. */
const PAUSE_MS = 2_000
const MB = 1024 * 1024
const WARM_UP_SECONDS = 5
const LOWEST_PRIORITY = 19
const root = join(import.meta.dirname, '../..')

interface Started {
  readonly port: number
  readonly sinkPort: number
  readonly pid: number
  readonly normal: string
  readonly poor: string
  readonly rich: string
}

async function start(processes: Processes, folder: string): Promise<Started> {
  const [port, upstreamPort, hostilePort, sinkPort] = [
    await findFreePort(),
    await findFreePort(),
    await findFreePort(),
    await findFreePort(),
  ]
  spawnServer(processes, folder, 'upstream.ts', upstreamPort, 0)
  spawnServer(processes, folder, 'upstream.ts', hostilePort, LOWEST_PRIORITY)
  spawnServer(processes, folder, 'sink.ts', sinkPort, LOWEST_PRIORITY)
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
      `--max-old-space-size=${values['heap-mb']}`,
      join(root, 'src/main.ts'),
    ],
    env,
    cwd: root,
    readyUrl: `http://127.0.0.1:${port}/v1/healthz`,
  })
  const cli = async (...args: string[]): Promise<Record<string, string>> => {
    const program = join(root, 'src/app/cli/main.ts')
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
    port: values.nginx ? await startNginx(processes, folder, port) : port,
    sinkPort,
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
  const picture = {
    id: 'picture',
    category: 'image',
    vendor: 'bench',
    prices: { images: { default: '0.01' } },
    ...routesOf('picture'),
  }
  return { upstreams, models: [...chats, vectors, picture] }
}

async function startNginx(processes: Processes, folder: string, port: number): Promise<number> {
  const proxyPort = await findFreePort()
  const path = join(folder, 'nginx.conf')
  const server = `upstream gateway { server 127.0.0.1:${port}; keepalive 64; }
  server {
    listen 127.0.0.1:${proxyPort};
    client_max_body_size 32m;
    location / { proxy_pass http://gateway; ${PROXY_SETTINGS} }
  }`
  writeFileSync(path, nginxConfig(folder, server))
  const args = ['-p', folder, '-c', path, '-e', join(folder, 'error.log')]
  const readyUrl = `http://127.0.0.1:${proxyPort}/v1/healthz`
  await processes.start({ name: 'nginx', command: 'nginx', args, cwd: folder, readyUrl })
  return proxyPort
}

function spawnServer(
  processes: Processes,
  folder: string,
  file: string,
  port: number,
  priority: number,
): void {
  const program = join(import.meta.dirname, file)
  const args = ['-n', String(priority), process.execPath, program, String(port)]
  // It ends with all the others.
  void processes.run(
    { name: file, command: 'nice', args, cwd: folder },
    (SECONDS * 2 + 600) * 1_000,
  )
}

async function callNormally(
  { port, normal }: Started,
  processes: Processes,
  seconds: number,
): Promise<NormalCalls> {
  const program = join(import.meta.dirname, './normal.ts')
  const args = [program, String(port), normal, String(seconds)]
  const command = { name: 'normal', command: process.execPath, args }
  const { code, stdout, stderr } = await processes.run(command, (seconds + 120) * 1_000)
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as NormalCalls
}

type Answers = Readonly<Record<string, number>>

/** Resolves, once the attack runs, to a function that ends it and resolves to the number of answers by status. */
async function attack({ poor, rich }: Started, port: number): Promise<() => Promise<Answers>> {
  const program = join(import.meta.dirname, './attack.ts')
  const args = [program, String(port), poor, rich, ...(values.only ? [values.only] : [])]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const kill = (): void => void child.kill()
  process.once('exit', kill)
  let said = ''
  const ready = once(child.stdout, 'data')
  child.stdout.on('data', (text) => (said += String(text)))
  await Promise.race([ready, once(child, 'exit')])
  return async () => {
    const closed = once(child, 'close')
    child.kill('SIGTERM')
    await closed
    process.off('exit', kill)
    return JSON.parse(said.replace('ready\n', '') || '{}') as Answers
  }
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

interface Turn extends NormalCalls {
  readonly answers: Answers
  readonly cpuShare: number
}

async function takeTurn(
  started: Started,
  processes: Processes,
  target: 'gateway' | 'sink',
): Promise<Turn> {
  const seconds = target === 'gateway' ? HOSTILE_SECONDS : BASELINE_SECONDS
  const endAttack = await attack(started, target === 'gateway' ? started.port : started.sinkPort)
  await sleep(PAUSE_MS / 2)
  const cpuMs = (): number => readProcessUsage(started.pid)?.gatewayCpuMs ?? 0
  const cpuBefore = cpuMs()
  const calls = await callNormally(started, processes, seconds)
  const cpuShare = (cpuMs() - cpuBefore) / seconds / 1_000
  const answers = await endAttack()
  await sleep(PAUSE_MS)
  const rate = calls.ms.length / seconds
  report(
    `${target === 'gateway' ? 'attacked' : 'sink    '}: median ${median(calls.ms).toFixed(1)} ms, ${rate.toFixed(0)} calls/s, gateway at ${(cpuShare * 100).toFixed(0)} % of one core, ${total(answers)} hostile answers`,
  )
  return { ...calls, answers, cpuShare }
}

function total(answers: Answers): number {
  return Object.values(answers).reduce((sum, count) => sum + count, 0)
}

async function measure(started: Started, processes: Processes): Promise<boolean> {
  await callNormally(started, processes, WARM_UP_SECONDS)
  const stopWatching = watchMemory(started.pid)
  const ratios: number[] = []
  const turns: Turn[] = []
  const answers: Record<string, number> = {}
  for (let pair = 0; pair < TURNS; pair++) {
    const order = pair % 2 === 0 ? (['sink', 'gateway'] as const) : (['gateway', 'sink'] as const)
    const medians = { sink: 0, gateway: 0 }
    for (const target of order) {
      const turn = await takeTurn(started, processes, target)
      turns.push(turn)
      medians[target] = median(turn.ms)
      if (target === 'sink') continue
      for (const [what, count] of Object.entries(turn.answers))
        answers[what] = (answers[what] ?? 0) + count
    }
    ratios.push(medians.gateway / medians.sink)
  }
  const peakMb = Math.round(stopWatching() / MB)
  const refused = turns.flatMap((turn) => turn.refused)
  const ratio = median(ratios)
  report(`hostile answers: ${JSON.stringify(answers)}`)
  return [
    verdict(
      `median of normal calls: ${ratio.toFixed(2)} times that without the attack (${ratios.map((each) => each.toFixed(2)).join(', ')}), at most ${values['median-factor']}`,
      ratio <= Number(values['median-factor']),
    ),
    verdict(
      `memory of the gateway: at most ${peakMb} MB of ${values['memory-mb']}`,
      peakMb <= Number(values['memory-mb']),
    ),
    verdict(
      `normal calls refused: ${refused.length} of ${turns.reduce((sum, { ms }) => sum + ms.length, refused.length)}${refused.length > 0 ? `, such as ${refused[0]}` : ''}`,
      refused.length === 0,
    ),
    verdict(`the attack was there: ${total(answers)} hostile answers`, total(answers) > 0),
  ].every(Boolean)
}

function verdict(text: string, isMet: boolean): boolean {
  report(`${isMet ? 'met   ' : 'MISSED'}  ${text}`)
  return isMet
}

const folder = mkdtempSync(join(tmpdir(), 'catraca-hostile-'))
const processes = createProcesses(folder)
process.once('exit', () => processes.killAll())
try {
  const isGood = await measure(await start(processes, folder), processes)
  report(isGood ? 'ok' : 'NOT OK')
  process.exitCode = isGood ? 0 : 1
} finally {
  await processes.stopAll()
  rmSync(folder, { recursive: true, force: true })
}
