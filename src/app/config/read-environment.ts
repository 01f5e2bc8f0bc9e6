import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { ConfigError } from './config.ts'
import type { Environment } from './environment.ts'

const ENV_FILE = '.env'

/**
 * Returns the variables of the environment and those of `.env`; one that is in both has the value of the environment.
 * The environment of the process stays as it is, so that a later reading sees a changed `.env`. Throws a `ConfigError`
 * if the file cannot be read.
 */
export function readEnvironment(folder: string, own: Environment): Environment {
  const path = join(folder, ENV_FILE)
  if (!existsSync(path)) return { ...own }
  try {
    return { ...parseEnv(readFileSync(path, 'utf8')), ...own }
  } catch (error) {
    throw new ConfigError([`${path}: ${(error as Error).message}`])
  }
}
