/**
 * The operator's command line: `npm run catraca -- <noun> <act> …`. Output is for people, or JSON with
 * `--json`.
 */
import { parseArgs } from 'node:util'
import { ConfigError, type Config } from '../config/config.ts'
import { withAdded } from '../config/with-added-upstreams.ts'
import { describeDatabase } from '../describe-database.ts'
import { explainFailure } from '../explain-failure.ts'
import { PROGRAM_VERSION } from '../program-version.ts'
import { assertMode, ModeError } from '../../platform/db/claim-mode.ts'
import { startEmbedded } from '../../platform/db/embedded.ts'
import { isReadOnly } from '../../platform/db/is-read-only.ts'
import { TakesNoWrites } from '../../platform/db/is-standby.ts'
import { migrate } from '../../platform/db/migrate.ts'
import { openDatabase, type Database } from '../../platform/db/open.ts'
import {
  UsageError,
  type Command,
  type CommandInput,
  type CommandOptions,
  type CommandResult,
  type OfflineCommand,
} from './command.ts'
import { listAddedModels } from '../../money/catalog/added-models.ts'
import { listAddedUpstreams } from '../../money/catalog/added-upstreams.ts'
import { discoverModels, withDiscovered } from '../../money/catalog/discover-models.ts'
import { readStoredPriceData } from '../../money/catalog/stored-price-data.ts'
import { readUpstreamLists } from '../../money/catalog/upstream-lists.ts'
import { backupCommands } from './backup-commands.ts'
import { databaseCommands } from './database-commands.ts'
import { customerCommands } from './customer-commands.ts'
import { fxCommands } from './fx-commands.ts'
import { incidentCommands } from './incident-commands.ts'
import { keyCommands } from './key-commands.ts'
import { monthCommands } from './month-commands.ts'
import { personalDataCommands } from './personal-data-commands.ts'
import { priceCommands } from './price-commands.ts'
import { reconciliationCommands } from './reconciliation-commands.ts'
import { serviceCommands } from './service-commands.ts'
import { resetSandbox } from '../reset-sandbox.ts'

const sandboxCommands: Record<string, OfflineCommand> = {
  reset: {
    usage: '--yes',
    about: 'remove the database and the files of a sandbox; the next start begins anew',
    async runOffline({ config, options }) {
      if (config.mode !== 'sandbox') throw new UsageError('reset: is for sandbox mode only')
      if (config.databaseUrl !== undefined)
        throw new UsageError(
          'reset: removes the embedded database only; DATABASE_URL names another one, which you can drop and create yourself',
        )
      if (options.yes !== true)
        throw new UsageError(
          `reset: removes the sandbox of ${config.dataDir} for ever. If that is meant: reset --yes`,
        )
      const outcome = await resetSandbox(config.dataDir)
      if (outcome.kind === 'in_use')
        throw new UsageError(`reset: a server uses ${outcome.folder}. Stop it first`)
      const { paths } = outcome
      return {
        data: { removed: paths },
        text: paths.length === 0 ? 'nothing to remove' : `removed:\n  ${paths.join('\n  ')}`,
      }
    },
  },
}

/** Commands by their words: `customer create`, `audit`. */
const commands: Readonly<Record<string, Command | OfflineCommand>> = {
  ...customerCommands,
  ...personalDataCommands,
  ...keyCommands,
  ...incidentCommands,
  ...reconciliationCommands,
  ...sandboxCommands,
  ...databaseCommands,
  ...fxCommands,
  ...priceCommands,
  ...serviceCommands,
  ...backupCommands,
  ...monthCommands,
}

const OPTIONS = {
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
  name: { type: 'string' },
  email: { type: 'string' },
  'referral-code': { type: 'string' },
  'waive-balance': { type: 'boolean' },
  'amount-brl': { type: 'string' },
  reason: { type: 'string' },
  reference: { type: 'string' },
  note: { type: 'string' },
  models: { type: 'string' },
  scope: { type: 'string' },
  'ip-allowlist': { type: 'string' },
  'requests-per-minute': { type: 'string' },
  'tokens-per-minute': { type: 'string' },
  'budget-usd': { type: 'string' },
  'budget-period': { type: 'string' },
  'expires-at': { type: 'string' },
  category: { type: 'string' },
  date: { type: 'string' },
  title: { type: 'string' },
  message: { type: 'string' },
  severity: { type: 'string' },
  model: { type: 'string' },
  vendor: { type: 'string' },
  upstream: { type: 'string' },
  input: { type: 'string' },
  'cached-input': { type: 'string' },
  'cache-write': { type: 'string' },
  output: { type: 'string' },
  reasoning: { type: 'string' },
  'starts-at': { type: 'string' },
  'dry-run': { type: 'boolean' },
  'call-upstreams': { type: 'boolean' },
  file: { type: 'string' },
  days: { type: 'string' },
  all: { type: 'boolean' },
  full: { type: 'boolean' },
  yes: { type: 'boolean' },
  confirm: { type: 'boolean' },
  wal: { type: 'string' },
  until: { type: 'string' },
  since: { type: 'string' },
} as const

export interface Surroundings {
  /** Reads the settings; throws a ConfigError. */
  loadConfig(): Config
  print(text: string): void
  complain(text: string): void
}

/**
 * Runs one command directly on the database, also while servers are running. Returns the exit code: 2 for a
 * wrong call.
 */
export async function runCommandLine(args: string[], around: Surroundings): Promise<number> {
  let config: Config | undefined
  try {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true })
    if (values.version) {
      around.print(`catraca ${PROGRAM_VERSION}\n`)
      return 0
    }
    if (values.help || positionals.length === 0) {
      around.print(helpText())
      return 0
    }
    const { name, command } = findCommand(positionals)
    const rest = positionals.slice(name.split(' ').length)
    assertUsage(name, command, rest, values)
    config = around.loadConfig()
    const show = (result: CommandResult): number => {
      around.print(values.json ? JSON.stringify(result.data, plainJson) + '\n' : render(result))
      return result.exitCode ?? 0
    }
    if ('runOffline' in command)
      return show(await command.runOffline({ config, args: rest, options: values }))
    const settings = config
    return await withDatabase(settings, around, async (db, databaseUrl) => {
      if (!command.runsInEitherMode) await assertMode(db, settings.mode)
      const known = command.runsInEitherMode ? settings : await withListedModels(settings, db)
      const input: CommandInput = { db, databaseUrl, config: known, args: rest, options: values }
      return show(await command.run(input))
    })
  } catch (error) {
    const isUsage =
      error instanceof UsageError ||
      error instanceof ConfigError ||
      error instanceof ModeError ||
      (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')
    const reason = isUsage ? (error as Error).message : config && explainFailure(error, config)
    around.complain(`${reason ?? (error instanceof Error ? error.stack : String(error))}\n`)
    return isUsage ? 2 : 1
  }
}

/** Commands act on discovered models, too. */
async function withListedModels(config: Config, db: Database): Promise<Config> {
  // Nothing is called here, so no key is opened.
  const upstreams = (await listAddedUpstreams(db)).map((each) => ({ ...each, apiKey: 'unopened' }))
  const added = { upstreams, models: await listAddedModels(db) }
  const { discovery, models } = withAdded(config, added, { allowPrivate: false })
  if (!discovery) return { ...config, models }
  const lists = await readUpstreamLists(db)
  const stored = await readStoredPriceData(db)
  const found = discoverModels(discovery, models, lists, new Date(), stored?.added)
  return { ...config, models: withDiscovered(models, found.models) }
}

/** A command has one or two words. Throws a `UsageError` that names the commands that come close. */
function findCommand(words: string[]): { name: string; command: Command | OfflineCommand } {
  const names = [words.slice(0, 2).join(' '), words[0] ?? '']
  const name = names.find((name) => Object.hasOwn(commands, name))
  if (name !== undefined) return { name, command: commands[name] as Command | OfflineCommand }
  const known = Object.keys(commands)
  const sameNoun = known.filter((name) => name.split(' ')[0] === words[0])
  const nouns = new Set(known.map((name) => name.split(' ')[0]))
  throw new UsageError(
    `unknown command: ${words.slice(0, 2).join(' ')}\n${
      sameNoun.length > 0
        ? `there ${sameNoun.length === 1 ? 'is' : 'are'}: ${sameNoun.join(', ')}`
        : `commands begin with: ${[...nouns].join(', ')}`
    }\n--help explains all of them`,
  )
}

/** Refuses unknown options: one of them may be a mistyped limit. */
function assertUsage(
  name: string,
  { usage }: Pick<Command, 'usage'>,
  args: readonly string[],
  options: CommandOptions,
): void {
  const known = new Set(usage.match(/--[a-z-]+/g))
  const unknown = Object.keys(options)
    .map((option) => `--${option}`)
    .filter((option) => option !== '--json' && !known.has(option))
  if (unknown.length > 0)
    throw new UsageError(`${unknown.join(', ')}: not an option of \`${name}\``)
  const [placesOfArgs = ''] = usage.split('--')
  const places = placesOfArgs.match(/<[^>]+>|\[[^\]]+\]/g) ?? []
  if (args.length > places.length)
    throw new UsageError(
      `too many words: ${args.slice(places.length).join(' ')}. Put quotes around a text with spaces`,
    )
}

/**
 * Uses the embedded database if it is running; otherwise starts it for this command. The first line on stderr names
 * mode and database: with other settings than the server's, a command would silently change another database.
 */
async function withDatabase(
  config: Config,
  around: Surroundings,
  work: (db: Database, databaseUrl: string) => Promise<number>,
): Promise<number> {
  const embedded = config.databaseUrl
    ? undefined
    : await startEmbedded({ dataDir: config.dataDir, log: () => {} })
  const databaseUrl = config.databaseUrl ?? (embedded as { databaseUrl: string }).databaseUrl
  const name = embedded
    ? `the embedded database in ${embedded.folder}`
    : describeDatabase(databaseUrl)
  around.complain(`${config.mode} mode, ${name}\n`)
  try {
    const takesWrites = await migrateIfPossible(databaseUrl)
    const { db, close } = openDatabase(databaseUrl, { onError: () => {} })
    try {
      return await work(db, databaseUrl)
    } catch (error) {
      if (takesWrites || error instanceof UsageError || error instanceof ModeError) throw error
      throw new TakesNoWrites(error)
    } finally {
      await close()
    }
  } finally {
    await embedded?.stop()
  }
}

/** False on a standby, which has the tables of its primary and can be read. */
async function migrateIfPossible(databaseUrl: string): Promise<boolean> {
  try {
    await migrate(databaseUrl)
    return true
  } catch (error) {
    if (!isReadOnly(error)) throw error
    return false
  }
}

function helpText(): string {
  const lines = Object.entries(commands).map(
    ([name, { usage, about }]) => `  ${`${name} ${usage}`.trimEnd()}\n      ${about}`,
  )
  return `catraca <command> [options] [--json]\ncatraca --version\n\n${lines.join('\n')}\n`
}

function plainJson(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}

/** Text for a terminal, with aligned columns. */
function render({ text }: CommandResult): string {
  if (typeof text === 'string') return `${text}\n`
  const rows = [text.columns, ...text.rows]
  const widths = text.columns.map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return `${lines.join('\n')}\n`
}
