/** A server with two workers, on a network to its database that can be cut, and an upstream whose answers wait. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { startTcpProxy, type TcpProxy } from '../faults/tcp-proxy.ts'
import { createTestDatabase, type TestDatabase } from '../harness/test-database.ts'
import { startTestNode, type TestNode } from '../harness/test-node.ts'
import { workersOf, type WorkerProcess } from '../harness/workers-of.ts'

export const WORKERS = 2
/** Its answers wait for `finish`. */
export const SLOW = 'slow-model'
/** Its answers come at once; a stream takes some tens of milliseconds. */
export const FAST = 'fast-model'
const USAGE = { prompt_tokens: 20, completion_tokens: 8, total_tokens: 28 }
/** The server itself gives a worker 90 s to start. Where 37 processes shared two cores, each worker took 45 s. */
const WAIT_MS_MAX = 180_000

export interface Answer {
  readonly requestId: string
  readonly status: number
  readonly text: string
  readonly retryAfter: string | undefined
  /** The end of the answer arrived. */
  readonly isWhole: boolean
}

export interface WorkerWorld {
  readonly database: TestDatabase
  readonly network: TcpProxy
  readonly configPath: string
  start(options?: {
    last?: TestNode
    env?: Record<string, string>
    descriptors?: number
  }): Promise<TestNode>
  /** Answers of the slow model that wait. */
  waiting(): number
  finish(): void
  /** The network works and no answer waits, whatever a test left behind. */
  calmDown(): void
  close(): Promise<void>
}

export async function createWorkerWorld(): Promise<WorkerWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'catraca-workers-'))
  const database = await createTestDatabase()
  const network = await startTcpProxy(Number(new URL(database.databaseUrl).port))
  let unfinished: (() => void)[] = []
  const upstream = createServer((incoming, response) => {
    let body = ''
    incoming.on('data', (bytes) => (body += String(bytes)))
    incoming.on('end', () => {
      const { model, stream } = JSON.parse(body) as { model: string; stream?: boolean }
      if (stream) beginStream(response)
      const finish = (): void => {
        if (stream) endStream(response)
        else response.end(plainAnswer())
      }
      if (model === SLOW) unfinished.push(finish)
      else setTimeout(finish, stream ? 30 : 0)
    })
  })
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const configPath = join(folder, 'catraca.config.json')
  await writeFile(configPath, catalogConfig((upstream.address() as AddressInfo).port))
  const nodes: TestNode[] = []
  const url = new URL(database.databaseUrl)
  url.port = String(network.port)
  url.search = ''
  const finish = (): void => {
    for (const each of unfinished) each()
    unfinished = []
  }
  return {
    database,
    network,
    configPath,
    async start({ last, env, descriptors } = {}) {
      const node = await startTestNode({
        databaseUrl: url.href,
        env: { CATRACA_CONFIG: configPath, WORKERS: String(WORKERS), ...env },
        ...(descriptors === undefined ? {} : { descriptors }),
        ...(last ? { dataDir: last.dataDir, port: last.port } : {}),
      })
      nodes.push(node)
      return node
    },
    waiting: () => unfinished.length,
    finish,
    calmDown() {
      network.heal()
      finish()
    },
    async close() {
      network.heal()
      for (const node of nodes) {
        if (node.process.exitCode === null && node.process.signalCode === null) await node.stop()
        await node.remove()
      }
      network.close()
      upstream.closeAllConnections()
      upstream.close()
      await database.drop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function catalogConfig(port: number): string {
  return JSON.stringify({
    upstreams: [
      { id: 'scripted', kind: 'openai-compatible', base_url: `http://127.0.0.1:${port}/v1` },
    ],
    models: [SLOW, FAST].map((id) => ({
      id,
      category: 'llm',
      prices: { input: 1, output: 2 },
      routes: [{ upstream: 'scripted', model: id }],
      context_tokens: 8_192,
      max_output_tokens: 256,
    })),
  })
}

function plainAnswer(): string {
  const message = { role: 'assistant', content: 'palavra '.repeat(USAGE.completion_tokens) }
  return JSON.stringify({
    id: 'x',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: USAGE,
  })
}

function say(response: ServerResponse, chunk: object): void {
  response.write(`data: ${JSON.stringify(chunk)}\n\n`)
}

function beginStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let word = 0; word < USAGE.completion_tokens; word += 1)
    say(response, { choices: [{ index: 0, delta: { content: 'palavra ' } }] })
}

function endStream(response: ServerResponse): void {
  say(response, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
  say(response, { choices: [], usage: USAGE })
  response.end('data: [DONE]\n\n')
}

/** A call over a connection of its own, so that any worker may get it. Never rejects. */
export function call(
  { port }: TestNode,
  secret: string,
  { model = FAST, isStream = false } = {},
): Promise<Answer> {
  const requestId = randomUUID()
  const body = JSON.stringify({
    model,
    messages: [{ role: 'user', content: 'Oi' }],
    ...(isStream && { stream: true, stream_options: { include_usage: true } }),
  })
  return new Promise((resolve) => {
    let status = 0
    let text = ''
    let retryAfter: string | undefined
    const end = (): void => {
      const isWhole =
        status === 200 && (isStream ? text.endsWith('data: [DONE]\n\n') : text.endsWith('}'))
      resolve({ requestId, status, text, retryAfter, isWhole })
    }
    const asked = request(
      {
        port,
        host: '127.0.0.1',
        path: '/v1/chat/completions',
        method: 'POST',
        agent: false,
        headers: {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/json',
          'x-svc-request-id': requestId,
        },
      },
      (answer) => {
        status = answer.statusCode ?? 0
        retryAfter = answer.headers['retry-after']
        answer.on('data', (bytes) => (text += String(bytes)))
        answer.on('close', end)
      },
    )
    asked.on('error', end)
    asked.end(body)
  })
}

/** A failure shows the last lines of the node's log. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  node?: TestNode,
): Promise<void> {
  for (const deadline = Date.now() + WAIT_MS_MAX; !(await isSo()); await sleep(20))
    assert.ok(Date.now() < deadline, [what, ...(node?.log.slice(-20) ?? [])].join('\n'))
}

/** Until the node has all its workers, and none of these. */
export async function untilReplaced(
  node: TestNode,
  gone: readonly WorkerProcess[],
): Promise<WorkerProcess[]> {
  const old = new Set(gone.map(({ pid }) => pid))
  await until(
    'all workers are ready',
    () => {
      const now = workersOf(node)
      return now.length === WORKERS && now.every(({ pid }) => !old.has(pid))
    },
    node,
  )
  return workersOf(node)
}

/** The workers by whose nodes holds are open, one for each hold of a model. */
export async function holdersOf({ db }: TestDatabase, model = '%'): Promise<number[]> {
  const { rows } = await sql<{ worker: number }>`
    select n.worker from holds h join nodes n on n.id = h.node_id
    where h.model_id like ${model}`.execute(db)
  return rows.map(({ worker }) => worker)
}
