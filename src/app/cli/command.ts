import type { Config } from '../config/config.ts'
import type { Database } from '../../platform/db/open.ts'

export type CommandOptions = Readonly<Record<string, string | boolean | undefined>>

export interface CommandInput {
  readonly db: Database
  readonly databaseUrl: string
  readonly config: Config
  /** The arguments after the command's own words. */
  readonly args: readonly string[]
  readonly options: CommandOptions
}

export interface CommandResult {
  /** The output of `--json`. Amounts in it are exact numbers or text. */
  readonly data: unknown
  /** The output for people: lines, or a table. */
  readonly text:
    | string
    | { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] }
  readonly exitCode?: number
}

export interface Command {
  /** Arguments and options, as in `<customer> --amount-brl N`. Everything else is refused. */
  readonly usage: string
  readonly about: string
  /** Only for commands that change nothing and compare the database's mode with the configured one. */
  readonly runsInEitherMode?: true
  run(input: CommandInput): Promise<CommandResult>
}

/** A command that must not open the database. */
export interface OfflineCommand extends Pick<Command, 'usage' | 'about'> {
  runOffline(input: Pick<CommandInput, 'config' | 'args' | 'options'>): Promise<CommandResult>
}

/** A wrong call, or an object that does not exist: reported in one line, with exit code 2. */
export class UsageError extends Error {}

export function optionText(options: CommandOptions, name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

export function requiredText(options: CommandOptions, name: string): string {
  const value = optionText(options, name)
  if (value === undefined || value.trim() === '') throw new UsageError(`--${name} is needed`)
  return value
}

/** The largest value of PostgreSQL's `integer`. */
const WHOLE_MAX = 2_147_483_647

export function optionWhole(options: CommandOptions, name: string): number | undefined {
  const text = optionText(options, name)
  if (text === undefined) return undefined
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < 1 || value > WHOLE_MAX)
    throw new UsageError(`--${name}: must be a whole number from 1 to ${WHOLE_MAX}, not "${text}"`)
  return value
}

export function optionList(options: CommandOptions, name: string): string[] | undefined {
  return optionText(options, name)
    ?.split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)
}
