import { isDeepStrictEqual } from 'node:util'
import type { Log } from '../platform/lib/log.ts'
import { ConfigError, type Config } from './config/config.ts'
import { readSettings, type Settings } from './config/read-settings.ts'

/** Settings that all processes of a server share, or that a process reads only once. */
const FIXED: readonly (keyof Config)[] = [
  'mode',
  'host',
  'port',
  'probePort',
  'workers',
  'databaseUrl',
  'dataDir',
]
/** Settings that a server without workers applies while it runs. */
const TAKEN_AT_ONCE: ReadonlySet<string> = new Set(['logLevel', 'drainMs', 'drainDelayMs'])

/**
 * Returns the settings as they are written now. Undefined, and a line in the log, if they have a fault, or if one of
 * them cannot change while workers run: the server goes on with the old ones.
 */
export function reloadSettings(
  config: Config,
  log: Log,
  read: () => Settings = readSettings,
): Settings | undefined {
  let fresh: Settings
  try {
    fresh = read()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    log.error('reload_refused', { faults: error.faults })
    return undefined
  }
  const changed = listChanged(config, fresh.config)
  if (config.workers > 1) {
    const fixed = changed.filter((name) => FIXED.includes(name))
    if (fixed.length === 0) return fresh
    log.error('reload_refused', { settings: fixed, note: 'these change by a restart only' })
    return undefined
  }
  const waiting = changed.filter((name) => !TAKEN_AT_ONCE.has(name))
  if (waiting.length > 0) log.warn('reload_needs_restart', { settings: waiting })
  else log.info('reloaded', { settings: changed })
  return fresh
}

/** Names only: values may be secrets. */
function listChanged(before: Config, after: Config): (keyof Config)[] {
  const names = Object.keys(after) as (keyof Config)[]
  return names.filter((name) => !isDeepStrictEqual(before[name], after[name]))
}
