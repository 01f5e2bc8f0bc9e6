/**
 * What every module takes to write a log line: an event name in snake_case and its facts. Facts must
 * never hold prompts, answers, keys, addresses of people or other personal data.
 */
export interface Log {
  debug(event: string, facts?: LogFacts): void
  info(event: string, facts?: LogFacts): void
  warn(event: string, facts?: LogFacts): void
  error(event: string, facts?: LogFacts): void
}

export type LogFacts = Readonly<Record<string, unknown>>

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

const LEVELS: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 }

/** One JSON object a line. */
export function createLog(level: LogLevel, write: (line: string) => void): Log {
  const line =
    (name: LogLevel) =>
    (event: string, facts: LogFacts = {}) => {
      if (LEVELS[name] < LEVELS[level]) return
      write(
        JSON.stringify({ time: new Date().toISOString(), level: name, event, ...plain(facts) }) +
          '\n',
      )
    }
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
}

/** Errors do not survive JSON.stringify by themselves, and a bigint stops it. */
function plain(facts: LogFacts): Record<string, unknown> {
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, plainValue(value)]))
}

function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Error) {
    const { message, stack, cause } = value
    return { message, stack, ...(cause === undefined ? {} : { cause: plainValue(cause) }) }
  }
  return value
}
