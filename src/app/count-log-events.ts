import { Counter, type Registry } from 'prom-client'
import type { Log, LogFacts } from '../platform/lib/log.ts'
import { ALARM_EVENTS } from './alarm-events.ts'

/** Counts the warnings and errors of a log by their event, also those that the throttle does not write. */
export function createLogCounter(registers: Registry[]): (log: Log) => Log {
  const events = new Counter({
    registers,
    name: 'catraca_log_events_total',
    help: 'Warnings and errors of the log, by event, with those that are not written because they repeat.',
    labelNames: ['level', 'event'],
  })
  for (const [level, names] of Object.entries(ALARM_EVENTS))
    for (const event of names) events.inc({ level, event }, 0)
  return (log) => ({
    debug: (event, facts) => log.debug(event, facts),
    info: (event, facts) => log.info(event, facts),
    warn(event: string, facts?: LogFacts) {
      events.inc({ level: 'warn', event })
      log.warn(event, facts)
    },
    error(event: string, facts?: LogFacts) {
      events.inc({ level: 'error', event })
      log.error(event, facts)
    },
  })
}
