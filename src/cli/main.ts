/**
 * The operator's command line: `npm run catraca -- <what> <act> …`. Human-readable, or `--json`.
 * It works on the database alone, beside running servers.
 */
import { parseArgs } from 'node:util'
import { ConfigError, loadConfig, type Config } from '../config.ts'
import { startEmbedded } from '../db/embedded.ts'
import { migrate } from '../db/migrate.ts'
import { openDatabase, type Database } from '../db/open.ts'
import { UsageError, type CommandInput } from './command.ts'
import { commands } from './commands.ts'
import { render } from './render.ts'

const OPTIONS = {
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  name: { type: 'string' },
  email: { type: 'string' },
  'amount-brl': { type: 'string' },
  reason: { type: 'string' },
  reference: { type: 'string' },
  note: { type: 'string' },
  models: { type: 'string' },
  'ip-allowlist': { type: 'string' },
  'requests-per-minute': { type: 'string' },
  'tokens-per-minute': { type: 'string' },
  'budget-usd': { type: 'string' },
  'budget-period': { type: 'string' },
  'expires-at': { type: 'string' },
  category: { type: 'string' },
  date: { type: 'string' },
} as const

process.exitCode = await run(process.argv.slice(2))

async function run(args: string[]): Promise<number> {
  try {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true })
    const name = positionals.slice(0, 2).join(' ')
    const command = commands[name] ?? commands[positionals[0] ?? '']
    if (!command || values.help) {
      process.stdout.write(helpText())
      return command || values.help || positionals.length === 0 ? 0 : 2
    }
    const config = loadConfig(process.env, process.cwd())
    const rest = positionals.slice(commands[name] ? 2 : 1)
    return await withDatabase(config, async (db, databaseUrl) => {
      const input: CommandInput = { db, databaseUrl, config, args: rest, options: values }
      const result = await command.run(input)
      process.stdout.write(
        values.json ? JSON.stringify(result.data, plainJson) + '\n' : render(result),
      )
      return result.exitCode ?? 0
    })
  } catch (error) {
    const isUsage =
      error instanceof UsageError ||
      error instanceof ConfigError ||
      (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')
    process.stderr.write(
      `${isUsage || !(error instanceof Error) ? (error as Error).message : error.stack}\n`,
    )
    return isUsage ? 2 : 1
  }
}

/** The embedded database is used where it runs, and started for the moment where it does not. */
async function withDatabase(
  config: Config,
  work: (db: Database, databaseUrl: string) => Promise<number>,
): Promise<number> {
  const embedded = config.databaseUrl
    ? undefined
    : await startEmbedded({ dataDir: config.dataDir, log: () => {} })
  const databaseUrl = config.databaseUrl ?? (embedded as { databaseUrl: string }).databaseUrl
  try {
    await migrate(databaseUrl)
    const { db, close } = openDatabase(databaseUrl, { onError: () => {} })
    try {
      return await work(db, databaseUrl)
    } finally {
      await close()
    }
  } finally {
    await embedded?.stop()
  }
}

function helpText(): string {
  const lines = Object.entries(commands).map(
    ([name, { usage, about }]) => `  ${`${name} ${usage}`.trimEnd()}\n      ${about}`,
  )
  return `catraca <command> [options] [--json]\n\n${lines.join('\n')}\n`
}

function plainJson(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
