import type { Log, LogFacts } from '../../platform/lib/log.ts'

/** Adds the ids of the current trace to each line, so that a log leads to its trace and back. */
export function tracedLog(log: Log, currentIds: () => LogFacts | undefined): Log {
  const withIds = (facts: LogFacts | undefined): LogFacts | undefined => {
    const ids = currentIds()
    return ids ? { ...facts, ...ids } : facts
  }
  return {
    debug: (event, facts) => log.debug(event, withIds(facts)),
    info: (event, facts) => log.info(event, withIds(facts)),
    warn: (event, facts) => log.warn(event, withIds(facts)),
    error: (event, facts) => log.error(event, withIds(facts)),
  }
}
