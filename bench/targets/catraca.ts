/**
 * Catraca as an operator runs it on one machine: one process (or `--workers`), its embedded PostgreSQL with durable
 * commits, a customer with a balance and a key. Every request is held and settled.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  deadFirstModel,
  deadPort,
  fastModel,
  largeModel,
  lateModel,
  modelOfFormat,
  pacedModel,
  pacedModelOfFormat,
  slowModel,
  slowModelOfFormat,
} from '../chat-request.ts'
import { findFreePort } from '../../test/harness/find-free-port.ts'
import type { Command, Finished, Processes, RunningProcess } from '../processes.ts'
import { startArguments } from '../start-arguments.ts'
import {
  chatPath,
  type Audit,
  type StartTarget,
  type Surroundings,
  type Target,
  type Unavailable,
} from '../target.ts'

export const METRICS_TOKEN = 'bench'

const here = join(import.meta.dirname, '../..')
/** The audit takes a tenth of a core. */
const CLI_MS_MAX = 1_200_000

/** Never reached here; each request counts against the limits all the same. */
const requestsPerMinute = '100000000'
/** Covers some ten million answers at the prices below. */
const amountBrl = '100000'

export const startCatraca: StartTarget = (surroundings) => startCatracaOf(here, surroundings)

/** Starts the Catraca whose checkout is in `root`. */
export async function startCatracaOf(
  root: string,
  surroundings: Surroundings,
): Promise<Target | Unavailable> {
  const { processes, folder, workers = 1 } = surroundings
  const { customers = 1, nodeArguments = [], cell } = surroundings
  if (!existsSync(join(root, 'src/main.ts')))
    return { kind: 'unavailable', reason: 'src/main.ts is not there' }

  const port = await findFreePort()
  const home = join(folder, 'catraca')
  const configPath = join(home, 'catraca.config.json')
  mkdirSync(home)
  writeFileSync(configPath, JSON.stringify(catracaConfig(surroundings)))
  const env = {
    PORT: String(port),
    HOST: '127.0.0.1',
    WORKERS: String(workers),
    // Live mode, as in production: the process contains no sandbox servers.
    CATRACA_MODE: 'live',
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    // A benchmark sends no mail, but live mode requires the setting.
    SMTP_URL: 'smtp://127.0.0.1:25',
    MAIL_FROM: 'Bench <bench@mail.example.com>',
    COMPANY_NAME: 'Bench',
    COMPANY_CNPJ: '11222333000181',
    COMPANY_ADDRESS: 'Bench',
    CONTACT_EMAIL: 'bench@mail.example.com',
    DATA_DIR: join(home, 'data'),
    CATRACA_CONFIG: configPath,
    BENCH_KEY: 'bench',
    METRICS_TOKEN,
    RATE_LIMIT_PER_IP: requestsPerMinute,
    CALLS_AT_ONCE_MAX: requestsPerMinute.slice(0, 6),
    NODE_ENV: 'production',
    // Always measures the embedded database, even if the caller's shell sets another one.
    DATABASE_URL: undefined,
  }
  const cli = createCli(processes, root, env)
  // With a stored rate the server does not ask the central bank.
  answerOf(await cli('fx', 'set', '5.2', '--note', 'bench'))
  const start = (name: string, onPort: number, dataDir: string): Promise<RunningProcess> =>
    processes.start({
      name,
      command: process.execPath,
      args: [...nodeArguments, ...startArguments(root)],
      env: { ...env, PORT: String(onPort), DATA_DIR: dataDir },
      cwd: root,
      readyUrl: `http://127.0.0.1:${onPort}/v1/healthz`,
    })
  const server = await start('catraca', port, env.DATA_DIR)
  if (cell !== undefined) answerOf(await cli('cell', 'name', cell))
  const callers: { authorization: string }[] = []
  while (callers.length < customers)
    callers.push({ authorization: `Bearer ${await openAccount(cli)}` })
  return {
    name: 'catraca',
    port,
    path: chatPath,
    headers: { ...callers[0] },
    callers,
    pid: server.pid,
    dataDir: env.DATA_DIR,
    audit: () => audit(cli),
    on: (dataDir) => {
      const cliThere = createCli(processes, root, { ...env, DATA_DIR: dataDir })
      return {
        run: (...args) => cliThere(...args),
        audit: () => audit(cliThere),
        start: async () => start('catraca-there', await findFreePort(), dataDir),
      }
    },
  }
}

type Cli = (...args: string[]) => Promise<Finished>

function createCli(processes: Processes, root: string, env: NonNullable<Command['env']>): Cli {
  // An earlier commit may have it in its former place.
  const [cliProgram = ''] = ['src/app/cli/main.ts', 'src/cli/main.ts']
    .map((path) => join(root, path))
    .filter(existsSync)
  return (...args) =>
    processes.run(
      {
        name: 'cli',
        command: process.execPath,
        args: [cliProgram, ...args, '--json'],
        env,
        cwd: root,
      },
      CLI_MS_MAX,
    )
}

async function openAccount(cli: Cli): Promise<string> {
  const customer = answerOf(await cli('customer', 'create', '--name', 'Bench')) as { id: string }
  answerOf(await cli('customer', 'credit', customer.id, '--amount-brl', amountBrl))
  const create = ['key', 'create', customer.id, '--name', 'bench']
  const limit = ['--requests-per-minute', requestsPerMinute]
  const key = answerOf(await cli(...create, ...limit)) as { secret: string }
  return key.secret
}

async function audit(cli: Cli): Promise<Audit> {
  const finished = await cli('audit')
  const report = readJson(finished) as { charges: number; open_holds: number }
  const { charges, open_holds: openHolds } = report
  return { isSound: finished.code === 0, charges, openHolds, report }
}

function answerOf(finished: Finished): unknown {
  if (finished.code !== 0) {
    throw new Error(`the CLI exited with ${finished.code}: ${finished.stderr}${finished.stdout}`)
  }
  return readJson(finished)
}

function readJson(finished: Finished): unknown {
  try {
    return JSON.parse(finished.stdout)
  } catch (error) {
    const said = `${finished.stderr}${finished.stdout}`.slice(0, 2000)
    throw new Error(`the CLI printed no JSON: ${said}`, { cause: error })
  }
}

/** So low that the spending guard never pauses the key. */
const PRICES = { input: '0.1', output: '0.2' }
const LARGE_PRICES = { input: '0.001', output: '0.002' }

function modelOf(id: string, ...upstreams: string[]): object {
  return {
    id,
    category: 'llm',
    prices: id === largeModel ? LARGE_PRICES : PRICES,
    routes: upstreams.map((upstream) => ({ upstream, model: id })),
    context_tokens: 128000,
    max_output_tokens: 32000,
  }
}

function catracaConfig({ upstreamPort, latePort, hasFormats = false }: Surroundings): object {
  const urlOf = (port: number) => `http://127.0.0.1:${port}/v1`
  const baseUrl = urlOf(upstreamPort)
  return {
    upstreams: [
      { id: 'bench', kind: 'openai-compatible', base_url: baseUrl },
      ...(latePort === undefined
        ? []
        : [
            { id: 'late', kind: 'openai-compatible', base_url: urlOf(latePort) },
            { id: 'dead', kind: 'openai-compatible', base_url: urlOf(deadPort) },
          ]),
      ...(hasFormats
        ? [
            { id: 'messages', kind: 'anthropic', base_url: baseUrl, api_key_env: 'BENCH_KEY' },
            {
              id: 'responses',
              kind: 'openai-compatible',
              base_url: baseUrl,
              speaks_responses: true,
            },
          ]
        : []),
    ],
    models: [
      ...[fastModel, slowModel, pacedModel, largeModel].map((id) => modelOf(id, 'bench')),
      ...(latePort === undefined
        ? []
        : [modelOf(lateModel, 'late'), modelOf(deadFirstModel, 'dead', 'bench')]),
      ...(hasFormats
        ? [modelOfFormat, slowModelOfFormat, pacedModelOfFormat].flatMap((models) => [
            modelOf(models.messages, 'messages'),
            modelOf(models.responses, 'responses'),
          ])
        : []),
    ],
  }
}
