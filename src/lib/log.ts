/**
 * What every module takes to write a log line: an event name in snake_case and its facts. Facts must
 * never hold prompts, answers, keys, addresses of people or other personal data.
 */
import { createLogThrottle, SUMMARY_MS, type LogThrottle } from './log-throttle.ts'

export interface Log {
  debug(event: string, facts?: LogFacts): void
  info(event: string, facts?: LogFacts): void
  warn(event: string, facts?: LogFacts): void
  error(event: string, facts?: LogFacts): void
}

/** Of a whole process. */
export interface ProcessLog extends Log {
  /** Writes how many lines were left out and not said yet, as at the end of the process. */
  flush(): void
}

export type LogFacts = Readonly<Record<string, unknown>>

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

const LEVELS: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 }

/**
 * One JSON object a line. Lines of one cause are limited, see `log-throttle.ts`; those of `debug` are not:
 * who asks for them wants all.
 */
export function createProcessLog(
  level: LogLevel,
  write: (line: string) => void,
  /** Milliseconds that only grow. */
  now: () => number = () => performance.now(),
): ProcessLog {
  const throttle = createLogThrottle()
  let timer: NodeJS.Timeout | undefined

  function writeLine(name: string, event: string, facts: Record<string, unknown>): void {
    write(JSON.stringify({ time: new Date().toISOString(), level: name, event, ...facts }) + '\n')
  }

  function writeSummaries(summaries: ReturnType<LogThrottle['takeEnded']>): void {
    for (const { level: name, event, facts } of summaries) writeLine(name, event, facts)
  }

  function writeEnded(): void {
    timer = undefined
    writeSummaries(throttle.takeEnded(now()))
    if (throttle.isWaiting) setTimer()
  }

  /** Says what was left out although no line of the event follows. */
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
    flush: () => writeSummaries(throttle.takeAll(now())),
  }
}

/** For all but the process itself. */
export const createLog: (...options: Parameters<typeof createProcessLog>) => Log = createProcessLog

/** Errors do not survive JSON.stringify by themselves, and a bigint stops it. */
function plain(facts: LogFacts, hasStacks: boolean): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [name, plainValue(value, hasStacks)]),
  )
}

function plainValue(value: unknown, hasStacks: boolean): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Error) {
    const { message, stack, cause, code } = value as Error & { code?: unknown }
    return {
      message,
      ...(typeof code === 'string' ? { code } : {}),
      ...(hasStacks ? { stack } : {}),
      ...(cause === undefined ? {} : { cause: plainValue(cause, hasStacks) }),
    }
  }
  return value
}
