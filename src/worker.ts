/** One of the workers of a server: it answers requests. Its parent starts, watches and ends it. */
import { createApp, type App } from './app/create-app.ts'
import { explainFailure } from './app/explain-failure.ts'
import type { WorkerStart } from './app/process-place.ts'
import { ConfigError, loadConfig, type Config } from './app/config/config.ts'
import { shareLimits } from './app/config/share-limits.ts'
import type { Drain } from './platform/lib/drain.ts'
import { createProcessLog } from './platform/lib/log.ts'
import { registerWorker } from './platform/processes/orphans.ts'
import { openParentChannel } from './platform/processes/channel.ts'

const parent = openParentChannel(() => {
  log.error('parent_lost', { note: 'running calls are let end, and this worker too' })
  stopNormally()
})
const config = readConfig()
let worker: number | undefined
const log = createProcessLog(
  config.logLevel,
  (line) => process.stderr.write(line),
  undefined,
  () => ({ worker }),
)
process.on('exit', () => log.flush())
/** A machine that starts many processes at once is slow. */
const HELLO_MS_MAX = 60_000
let app: Promise<App> | undefined
let isStopping = false

parent.on('drain', (drain) => void stop(drain as Drain))
// The terminal and the service manager signal the parent too, which then ends its workers.
process.on('SIGINT', () => {})
process.on('SIGHUP', () => {})
process.on('SIGTERM', stopNormally)
process.on('uncaughtException', (error) => {
  log.error('uncaught', { error })
  void stop({ delayMs: 0, withinMs: config.drainMs, idleMs: 0 }, 1)
})

try {
  registerWorker(config.dataDir)
} catch (error) {
  // A full disk: only a stop of this process together with its parent's death would need the file.
  log.warn('worker_not_registered', { error })
}

try {
  const start = (await parent.ask('hello', undefined, HELLO_MS_MAX)) as WorkerStart
  worker = start.process.worker
  const place = { role: 'worker', parent, ...start } as const
  app = createApp(shareLimits(config, start.workers), start.databaseUrl, log, { place })
  parent.post('ready', await (await app).listen())
} catch (error) {
  if (!isStopping) {
    const reason = explainFailure(error, config)
    if (reason === undefined) log.error('start_failed', { error })
    fail(reason ?? (error instanceof Error ? error.message : String(error)), 1)
  }
}

/** The parent has read `.env`: a worker that it replaces has the settings of the others. */
function readConfig(): Config {
  try {
    return loadConfig(process.env, process.cwd())
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return fail(error.message, 2)
  }
}

function fail(reason: string, code: number): never {
  parent.post('failed', reason)
  process.exit(code)
}

function stopNormally(): void {
  const { drainDelayMs: delayMs, drainMs: withinMs } = config
  void stop({ delayMs, withinMs, idleMs: delayMs })
}

/** Called again, it may shorten the time that is left. */
async function stop(drain: Drain, code = 0): Promise<void> {
  isStopping = true
  const running = await app?.catch(() => undefined)
  await running?.close(drain).catch((error: unknown) => log.error('close_failed', { error }))
  process.exit(code)
}
