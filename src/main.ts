/**
 * The process around the app: configuration, the embedded database where no other is named, signals,
 * the drain, the exit code.
 */
import { createApp, type App } from './app.ts'
import { ConfigError, loadConfig, type Config } from './config.ts'
import { startEmbedded, type EmbeddedPostgres } from './db/embedded.ts'
import { ensureDemo } from './first-run.ts'
import { createLog } from './lib/log.ts'

const config = readConfig()
const log = createLog(config.logLevel, (line) => process.stderr.write(line))
let embedded: EmbeddedPostgres | undefined
let app: App | undefined
let isStopping = false

process.on('SIGINT', () => void stop(0))
process.on('SIGTERM', () => void stop(0))
process.on('uncaughtException', (error) => {
  log.error('uncaught', { error })
  void stop(1)
})

try {
  embedded = config.databaseUrl
    ? undefined
    : await startEmbedded({
        dataDir: config.dataDir,
        log: (message) => log.info('embedded_postgres', { message }),
      })
  app = await createApp(
    config,
    config.databaseUrl ?? (embedded as EmbeddedPostgres).databaseUrl,
    log,
  )
  const address = await app.listen()
  await greet(config, app, address)
} catch (error) {
  process.stderr.write(
    `Catraca could not start: ${error instanceof Error ? error.message : String(error)}\n`,
  )
  log.error('start_failed', { error })
  await stop(1)
}

function readConfig(): Config {
  try {
    return loadConfig(process.env, process.cwd())
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(2)
  }
}

/** The database goes last: everything before it may still have something to write. */
async function stop(code: number): Promise<void> {
  if (isStopping) process.exit(code || 1)
  isStopping = true
  log.info('stopping', { note: 'running calls are let end; once more to stop at once' })
  await app?.close().catch((error: unknown) => log.error('close_failed', { error }))
  await embedded?.stop().catch((error: unknown) => log.error('database_stop_failed', { error }))
  process.exit(code)
}

async function greet({ mode, dataDir }: Config, { db }: App, address: string): Promise<void> {
  log.info('listening', { address, mode })
  if (mode === 'live') return
  const secret = await ensureDemo(db, dataDir)
  process.stdout.write(`
Catraca is up, in sandbox mode: no real provider, no real money.

  address  ${address}/v1
  key      ${secret}

Try it:

  curl ${address}/v1/chat/completions \\
    -H "Authorization: Bearer ${secret}" \\
    -H "Content-Type: application/json" \\
    -d '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Olá! Quanto custa esta resposta?"}]}'

  curl ${address}/v1/usage -H "Authorization: Bearer ${secret}"

`)
}
