import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from './config.ts'

const ENV_FILE = '.env'

/**
 * Adds the variables of `.env` to the environment of this process; a variable that the process has already keeps its
 * value. Returns the path, or undefined if there is no such file. Throws a `ConfigError` if it cannot be read.
 */
export function loadEnvFile(folder: string): string | undefined {
  const path = join(folder, ENV_FILE)
  if (!existsSync(path)) return undefined
  try {
    process.loadEnvFile(path)
  } catch (error) {
    throw new ConfigError([`${path}: ${(error as Error).message}`])
  }
  return path
}
