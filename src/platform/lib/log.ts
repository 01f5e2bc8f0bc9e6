/**
 * Writes a log line: an event name in snake_case and its facts. Facts must never contain prompts, answers,
 * keys, addresses of people or other personal data.
 */
import { errorFrames, errorText } from './error-text.ts'
import { createLogThrottle, SUMMARY_MS, type LogThrottle } from './log-throttle.ts'

export interface Log {
  debug(event: string, facts?: LogFacts): void
  info(event: string, facts?: LogFacts): void
  warn(event: string, facts?: LogFacts): void
  error(event: string, facts?: LogFacts): void
}

/** The log of a whole process. */
export interface ProcessLog extends Log {
  setLevel(level: LogLevel): void
  /** Writes the counts of suppressed lines that are still due, for example at the end of the process. */
  flush(): void
}

export type LogFacts = Readonly<Record<string, unknown>>

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

const LEVELS: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 }

/**
 * Writes one JSON object per line. Lines of one cause are limited, see `log-throttle.ts`, except at level
 * `debug`, where every line is wanted.
 */
export function createProcessLog(
  initialLevel: LogLevel,
  write: (line: string) => void,
  /** A monotonic clock in milliseconds. */
  now: () => number = () => performance.now(),
  /** Facts of every line. */
  common: () => LogFacts = () => ({}),
): ProcessLog {
  const throttle = createLogThrottle()
  let level = initialLevel
  let timer: NodeJS.Timeout | undefined

  function writeLine(name: string, event: string, facts: Record<string, unknown>): void {
    write(
      JSON.stringify({
        time: new Date().toISOString(),
        level: name,
        event,
        ...common(),
        ...facts,
      }) + '\n',
    )
  }

  function writeSummaries(summaries: ReturnType<LogThrottle['takeEnded']>): void {
    for (const { level: name, event, facts } of summaries) writeLine(name, event, facts)
  }

  function writeEnded(): void {
    timer = undefined
    writeSummaries(throttle.takeEnded(now()))
    if (throttle.isWaiting) setTimer()
  }

  /** Writes the summary even when no further line of the event follows. */
  function setTimer(): void {
    timer ??= setTimeout(writeEnded, SUMMARY_MS).unref()
  }

  const line =
    (name: Exclude<LogLevel, 'silent'>) =>
    (event: string, facts: LogFacts = {}) => {
      if (LEVELS[name] < LEVELS[level]) return
      if (name === 'debug') return writeLine(name, event, plain(facts, true))
      const nowMs = now()
      writeSummaries(throttle.takeEnded(nowMs))
      const error = Object.values(facts).find((value) => value instanceof Error)
      const passes = throttle.admit(name, event, error, nowMs)
      if (throttle.isWaiting) setTimer()
      if (passes) writeLine(name, event, plain(facts, passes === 'first'))
    }
  return {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    setLevel: (wanted) => void (level = wanted),
    flush: () => writeSummaries(throttle.takeAll(now())),
  }
}

/** Creates a log for everything but the process itself, which also needs `flush`. */
export const createLog: (...options: Parameters<typeof createProcessLog>) => Log = createProcessLog

/** `JSON.stringify` loses errors and throws at a bigint. */
function plain(facts: LogFacts, hasStacks: boolean): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [name, plainValue(value, hasStacks)]),
  )
}

function plainValue(value: unknown, hasStacks: boolean): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Error) {
    const { cause, code } = value as Error & { code?: unknown }
    return {
      message: errorText(value),
      ...(typeof code === 'string' ? { code } : {}),
      ...(hasStacks ? { stack: errorFrames(value) } : {}),
      ...(cause === undefined ? {} : { cause: plainValue(cause, hasStacks) }),
    }
  }
  return value
}
