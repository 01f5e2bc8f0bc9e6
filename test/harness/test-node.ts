/**
 * A real server process on a separate port, which tests call over sockets and kill. A test that neither kills it nor
 * measures it starts the server in its own process: `local-node.ts`.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort } from './find-free-port.ts'
import { BUNDLE_IMPORTS } from './bundle-imports.ts'
import type { LocalNode, NodeOptions } from './local-node.ts'
import { nodeEnvironment } from './node-environment.ts'

export interface TestNode extends LocalNode {
  readonly process: ChildProcess
  /** Lines of its standard output so far, if they were asked for. */
  readonly output: readonly string[]
  /** Ends it and waits for its end; SIGTERM drains. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

const root = join(import.meta.dirname, '../..')
const START_MS_MAX = 120_000
const TURNS_BETWEEN_REQUESTS = 20

/** Nodes that no test stopped, as after a failed set-up, end with the tests. */
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export interface TestNodeOptions extends NodeOptions {
  /** `src/main.ts` if not given. */
  program?: string
  /** A module that is loaded before the program. */
  preload?: string
  /** Keeps the lines of its standard output. */
  keepsOutput?: boolean
  /** The most files and connections that the process, and each process that it starts, may have open. */
  descriptors?: number
}

export async function startTestNode(options: TestNodeOptions): Promise<TestNode> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'catraca-node-')))
  const port = options.port ?? (await findFreePort())
  const child = spawn(
    '/bin/sh',
    [
      '-c',
      `${options.descriptors === undefined ? '' : `ulimit -n ${options.descriptors}; `}exec "$@"`,
      'sh',
      process.execPath,
      ...BUNDLE_IMPORTS,
      ...(options.preload === undefined ? [] : ['--import', resolve(root, options.preload)]),
      resolve(root, options.program ?? 'src/main.ts'),
    ],
    {
      // Not the checkout, whose .env and catraca.config.json are the developer's own.
      cwd: dataDir,
      stdio: ['ignore', options.keepsOutput ? 'pipe' : 'ignore', 'pipe'],
      env: {
        ...process.env,
        ...nodeEnvironment({ ...options, dataDir, port }),
      },
    },
  )
  running.add(child)
  child.once('exit', () => running.delete(child))
  const log = linesOf(child.stderr)
  const output = linesOf(child.stdout)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const node: TestNode = {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    port,
    dataDir,
    process: child,
    log,
    output,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      await exited
    },
    remove: () => rm(dataDir, { recursive: true, force: true }),
  }
  await untilUp(node)
  return node
}

/** The whole lines that have come so far. */
function linesOf(stream: Readable | null): readonly string[] {
  const lines: string[] = []
  let rest = ''
  stream?.on('data', (text) => {
    const parts = (rest + String(text)).split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts)
  })
  return lines
}

async function untilUp(node: TestNode): Promise<void> {
  const deadline = Date.now() + START_MS_MAX
  for (let turn = 1; Date.now() < deadline; turn++) {
    if (node.process.exitCode !== null || node.process.signalCode !== null) break
    // Few requests: one that is refused takes milliseconds of processor time. Not every node logs that it listens.
    const mayBeUp = turn % TURNS_BETWEEN_REQUESTS === 0 || node.log.some(saysListening)
    const answer = mayBeUp
      ? await fetch(`${node.baseUrl}/healthz`).catch(() => undefined)
      : undefined
    if (answer?.ok) return
    await sleep(10)
  }
  node.process.kill('SIGKILL')
  throw new Error(`the server did not come up:\n${node.log.slice(-20).join('\n')}`)
}

function saysListening(line: string): boolean {
  return line.includes('"listening"')
}
