import { loadConfig, type Config } from './config.ts'
import type { Environment } from './environment.ts'
import { readEnvironment } from './read-environment.ts'

export interface Settings {
  /** With the variables of `.env`. */
  readonly environment: Environment
  readonly config: Config
}

/** Returns the settings in the environment and the folder of this process. Throws a `ConfigError`. */
export function readSettings(): Settings {
  const folder = process.cwd()
  const environment = readEnvironment(folder, process.env)
  return { environment, config: loadConfig(environment, folder) }
}
