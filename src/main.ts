/**
 * The process around the app: configuration, the embedded database if no other one is configured, signals and the exit
 * code.
 */
import { checkDurability, explainFailure } from './app/explain-failure.ts'
import { flushCompileCache } from 'node:module'
import type { App } from './app/create-app.ts'
import { ConfigError } from './app/config/config.ts'
import type { Parent } from './app/create-parent.ts'
import { warnOfFewDescriptors, connectionsNeeded } from './app/config/derive-connections-max.ts'
import { openProbes } from './app/open-probes.ts'
import { readSettings, type Settings } from './app/config/read-settings.ts'
import { reloadSettings } from './app/reload-settings.ts'
import { startEmbedded, type EmbeddedPostgres } from './platform/db/embedded.ts'
import { createProcessLog } from './platform/lib/log.ts'
import { makeFolder } from './platform/lib/make-folder.ts'
import { continueOrphans } from './platform/processes/orphans.ts'

const { environment, config } = readFirstSettings()
const log = createProcessLog(config.logLevel, (line) => process.stderr.write(line))
process.on('exit', () => log.flush())
/** Promises, so that a stop during the start waits for the parts that it then has to close. */
let embedded: Promise<EmbeddedPostgres> | undefined
let app: Promise<App | Parent> | undefined
let stoppedAtMs: number | undefined
let { drainDelayMs, drainMs } = config
/** npm forwards the Ctrl-C that the terminal has sent to this process, too: within this time it is the same one. */
const FORWARDED_MS_MAX = 1_000

// Ctrl-C comes from a terminal, where no balancer must learn of the stop.
process.on('SIGINT', () => stopOnSignal(0))
process.on('SIGTERM', () => stopOnSignal(drainDelayMs))
process.on('SIGHUP', () => void reload())
process.on('uncaughtException', (error) => {
  log.error('uncaught', { error })
  void stop(1)
})

try {
  const probes = await openProbes(config)
  makeFolder(config.dataDir)
  const orphans = continueOrphans(config.dataDir)
  if (orphans.length > 0) log.warn('orphans_continued', { pids: orphans })
  const opening = config.databaseUrl ?? startDatabase().then((started) => started.databaseUrl)
  const [program, databaseUrl] = await Promise.all([loadProgram(), opening])
  if (stoppedAtMs === undefined) app = start(databaseUrl, program)
  if (app) {
    const address = await (await app).listen()
    probes.started((await app).readiness)
    const embeddedFolder = (await embedded)?.folder
    await program.greet(config, await app, address, { embeddedFolder, log })
    // The next start reads the compiled code (`NODE_COMPILE_CACHE`).
    flushCompileCache()
  }
} catch (error) {
  // A stop during the start makes the rest of the start fail; the stop itself continues.
  if (stoppedAtMs === undefined) await fail(error)
}

/** Most of the program. It is loaded while the database starts, which takes as long. */
async function loadProgram() {
  const [{ createApp }, { createParent }, { greet }] = await Promise.all([
    import('./app/create-app.ts'),
    import('./app/create-parent.ts'),
    import('./app/greet.ts'),
  ])
  return { createApp, createParent, greet }
}

async function start(
  databaseUrl: string,
  { createApp, createParent }: Awaited<ReturnType<typeof loadProgram>>,
): Promise<App | Parent> {
  if (config.mode === 'live') await checkDurability(databaseUrl, log)
  warnOfFewDescriptors(config, log)
  return config.workers > 1
    ? createParent(config, databaseUrl, log, {
        environment,
        onGiveUp: (reason) => void giveUp(reason),
      })
    : createApp(config, databaseUrl, log)
}

/** The workers cannot be kept running. Whoever started this server sees why it ends. */
async function giveUp(reason: string): Promise<void> {
  process.stderr.write(`Catraca stops: ${reason}\n`)
  log.error('workers_given_up', { reason })
  await stop(1)
}

/** With workers, new ones take the place of the old, with the settings as they are written now. */
async function reload(): Promise<void> {
  const running = await app?.catch(() => undefined)
  if (stoppedAtMs !== undefined || !running) return
  const fresh = reloadSettings(config, log)
  if (!fresh) return
  ;({ drainDelayMs, drainMs } = fresh.config)
  log.setLevel(fresh.config.logLevel)
  if ('restart' in running) await running.restart(fresh.environment)
}

function readFirstSettings(): Settings {
  try {
    return readSettings()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(2)
  }
}

async function fail(error: unknown): Promise<void> {
  const reason = explainFailure(error, config)
  const text = reason ?? (error instanceof Error ? error.message : String(error))
  process.stderr.write(`Catraca could not start: ${text}\n`)
  if (reason === undefined) log.error('start_failed', { error })
  else if (config.mode === 'live') log.error('start_failed', { reason })
  await stop(1)
}

function startDatabase(): Promise<EmbeddedPostgres> {
  embedded = startEmbedded({
    dataDir: config.dataDir,
    connections: connectionsNeeded(config),
    log: (message) => log.info('embedded_postgres', { message }),
    warn: (message) => log.warn('embedded_postgres', { message }),
  })
  return embedded
}

function stopOnSignal(delayMs: number): void {
  if (stoppedAtMs === undefined) return void stop(0, delayMs)
  if (performance.now() - stoppedAtMs > FORWARDED_MS_MAX) process.exit(1)
}

/** The database is stopped last: every other part may still have rows to write. */
async function stop(code: number, delayMs = 0): Promise<void> {
  if (stoppedAtMs !== undefined) process.exit(code || 1)
  stoppedAtMs = performance.now()
  log.info('stopping', { note: 'running calls are let end; once more to stop at once' })
  // An app that failed to start is reported by `fail`, and has nothing to close.
  const running = await app?.catch(() => undefined)
  await running
    ?.close({ delayMs, withinMs: drainMs, idleMs: delayMs })
    .catch((error: unknown) => log.error('close_failed', { error }))
  const database = await embedded?.catch(() => undefined)
  await database?.stop().catch((error: unknown) => log.error('database_stop_failed', { error }))
  process.exit(code)
}
