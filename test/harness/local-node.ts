/**
 * The server as `src/main.ts` starts it, in the process of the test: for every test that only calls it over sockets and
 * reads its log. It starts in a fifth of the processor time of a process. An error that nothing catches fails the
 * file, with the place of the hook that started the server.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig, type Config } from '../../src/app/config/config.ts'
import { createApp } from '../../src/app/create-app.ts'
import { ensureDemo } from '../../src/app/greet.ts'
import { readEnvironment } from '../../src/app/config/read-settings.ts'
import { createProcessLog } from '../../src/platform/lib/log.ts'
import { findFreePort } from './find-free-port.ts'
import { nodeEnvironment } from './node-environment.ts'

export interface LocalNode {
  /** With `/v1`. */
  readonly baseUrl: string
  readonly port: number
  readonly dataDir: string
  /** Lines of its log so far. */
  readonly log: readonly string[]
  /** Lets running calls end, then closes it. */
  stop(): Promise<void>
  /** Removes its data folder. */
  remove(): Promise<void>
}

export interface NodeOptions {
  databaseUrl: string
  /** Given to start again on the disk of a node that ended. */
  dataDir?: string
  port?: number
  env?: Record<string, string>
}

export async function startLocalNode(options: NodeOptions): Promise<LocalNode> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'catraca-node-')))
  const port = options.port ?? (await findFreePort())
  const config = readConfig({ ...options, dataDir, port })
  const lines: string[] = []
  const log = createProcessLog(config.logLevel, (line) => lines.push(line.trimEnd()))
  const app = await createApp(config, options.databaseUrl, log)
  const address = await app.listen()
  log.info('listening', { address, mode: config.mode })
  if (config.mode === 'sandbox') await ensureDemo(app.db, dataDir)
  let stopped: Promise<void> | undefined

  async function stop(): Promise<void> {
    log.info('stopping')
    const { drainDelayMs: delayMs, drainMs: withinMs } = config
    await app.close({ delayMs, withinMs, idleMs: delayMs })
    log.flush()
  }

  return {
    baseUrl: `${address}/v1`,
    port,
    dataDir,
    log: lines,
    stop: () => (stopped ??= stop()),
    remove: () => rm(dataDir, { recursive: true, force: true }),
  }
}

/** Not of the environment of the tests, which the neighbours in this process share. */
function readConfig(options: NodeOptions & { dataDir: string; port: number }): Config {
  const { dataDir } = options
  const config = loadConfig(readEnvironment(dataDir, nodeEnvironment(options)), dataDir)
  const needsProcess =
    config.mode === 'live' ||
    config.workers > 1 ||
    config.probePort !== undefined ||
    config.accessLog === 'stdout'
  if (needsProcess)
    throw new Error('these settings are about a process: start it by test/harness/test-node.ts')
  return config
}
