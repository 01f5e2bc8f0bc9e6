/**
 * LiteLLM's proxy in a virtual environment beside the repository: once as a relay (peers/litellm.yaml), once with
 * PostgreSQL, a virtual key with a budget, and spend logs (peers/litellm-billing.yaml). The second needs an engine that
 * its database client downloads; where that fails, it is left out.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { findFreePort } from '../../test/harness/find-free-port.ts'
import { startEmbedded } from '../../src/platform/db/embedded.ts'
import { deadPort } from '../chat-request.ts'
import { findProgram } from '../find-program.ts'
import type { Peer, StartPeer } from '../peers/peer.ts'
import type { Finished, Processes, RunningProcess } from '../processes.ts'
import { chatPath, type Surroundings, type Unavailable } from '../target.ts'

const peersFolder = join(import.meta.dirname, '../peers')
const requirements = join(peersFolder, 'litellm-requirements.txt')
const version = /litellm\[proxy\]==(\S+)/.exec(readFileSync(requirements, 'utf8'))?.[1] ?? ''
const environment = join(
  process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
  `catraca-bench/litellm-${version}`,
)
const MASTER_KEY = `sk-${Buffer.alloc(24, 'bench').toString('hex')}`
const INSTALL_MS_MAX = 600_000

export const startLitellm: StartPeer = async (surroundings) => {
  const missing = await install(surroundings.processes)
  if (missing) return missing
  const port = await findFreePort()
  const { pid } = await start('litellm', surroundings, port)
  return peerOf('litellm', port, pid, MASTER_KEY)
}

export const startLitellmBilling: StartPeer = async (surroundings) => {
  const missing =
    (await install(surroundings.processes)) ?? (await makeDatabaseClient(surroundings.processes))
  if (missing) return missing
  const { databaseUrl, folder } = await startEmbedded({
    dataDir: join(surroundings.folder, 'litellm-data'),
    log: () => {},
  })
  const databasePid = Number(
    readFileSync(join(folder, 'cluster/postmaster.pid'), 'utf8').split('\n')[0],
  )
  const port = await findFreePort()
  const begin = (): Promise<RunningProcess> =>
    start('litellm-billing', surroundings, port, { DATABASE_URL: databaseUrl })
  const { pid } = await begin()
  const peer = peerOf('litellm-billing', port, pid, await createKey(port))
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  return {
    ...peer,
    databasePid,
    async readBooks() {
      const logs = 'select count(*)::int as charged from "LiteLLM_SpendLogs" where spend > 0'
      const { rows } = await client.query<{ charged: number }>(logs)
      return { charged: rows[0]?.charged ?? 0, isComplete: true }
    },
    restart: begin,
  }
}

/** Python's packages are installed once for each pinned version. */
async function install(processes: Processes): Promise<Unavailable | undefined> {
  if (existsSync(join(environment, 'bin/litellm'))) return undefined
  const python = findProgram('python3')
  if (python === undefined) return { kind: 'unavailable', reason: 'python3 is not installed' }
  mkdirSync(environment, { recursive: true })
  const run = (command: string, ...args: string[]): Promise<Finished> =>
    processes.run({ name: 'pip', command, args }, INSTALL_MS_MAX)
  const made = await run(python, '-m', 'venv', environment)
  if (made.code !== 0) return failed('python3 -m venv', made)
  const installed = await run(join(environment, 'bin/pip'), 'install', '-q', '-r', requirements)
  return installed.code === 0 ? undefined : failed('pip install', installed)
}

async function makeDatabaseClient(processes: Processes): Promise<Unavailable | undefined> {
  const generated = await processes.run(
    {
      name: 'prisma',
      command: 'sh',
      args: [
        '-c',
        'exec prisma generate --schema $(echo lib/*/site-packages/litellm/proxy/schema.prisma)',
      ],
      cwd: environment,
      env: { PATH: `${join(environment, 'bin')}:${process.env['PATH']}` },
    },
    INSTALL_MS_MAX,
  )
  return generated.code === 0 ? undefined : failed('prisma generate', generated)
}

function start(
  name: string,
  { processes, upstreamPort, latePort = upstreamPort, folder }: Surroundings,
  port: number,
  env: Readonly<Record<string, string>> = {},
): Promise<RunningProcess> {
  const urlOf = (at: number): string => `http://127.0.0.1:${at}/v1`
  return processes.start({
    name,
    command: join(environment, 'bin/litellm'),
    args: [
      `--config=${join(peersFolder, `${name}.yaml`)}`,
      '--host=127.0.0.1',
      `--port=${port}`,
      '--num_workers=1',
      '--telemetry=False',
    ],
    cwd: folder,
    env: {
      LITELLM_MODE: 'PRODUCTION',
      LITELLM_LOG: 'ERROR',
      // Its own list of prices, without asking for a newer one.
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      // It ends a stream that repeats a token a hundred times, as the upstream's streams do.
      REPEATED_STREAMING_CHUNK_LIMIT: '1000000',
      LITELLM_MASTER_KEY: MASTER_KEY,
      LITELLM_SALT_KEY: MASTER_KEY,
      PATH: `${join(environment, 'bin')}:${process.env['PATH']}`,
      UPSTREAM_URL: urlOf(upstreamPort),
      LATE_URL: urlOf(latePort),
      DEAD_URL: urlOf(deadPort),
      DATABASE_URL: undefined,
      ...env,
    },
    readyUrl: `http://127.0.0.1:${port}/health/liveliness`,
  })
}

function peerOf(name: string, port: number, pid: number, key: string): Peer {
  return {
    name,
    version,
    port,
    path: chatPath,
    headers: { authorization: `Bearer ${key}` },
    pid,
    wrongKey: { authorization: 'Bearer sk-wrong' },
    failOver: {},
  }
}

/** A virtual key with a budget and a limit that are never reached. */
async function createKey(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/key/generate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ max_budget: 100_000, rpm_limit: 100_000_000 }),
  })
  const { key } = (await response.json()) as { key?: string }
  if (key === undefined) throw new Error(`no virtual key: ${response.status}`)
  return key
}

function failed(what: string, { stderr, stdout }: Finished): Unavailable {
  const lines = `${stdout}\n${stderr}`.trim().split('\n')
  // Without the address that it asked: it is of no use to a reader.
  const fault = (lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? '')
    .replace(/^.*reason: /, '')
    .replaceAll(/(?:https?:\/\/)?(?:[\w-]+\.)+[a-z]{2,}\S*/g, '…')
  return { kind: 'unavailable', reason: `${what}: ${fault.slice(0, 150)}` }
}
