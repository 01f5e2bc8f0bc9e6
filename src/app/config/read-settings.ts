import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { loadConfig, type Config, ConfigError } from './config.ts'
import type { Environment } from './environment-reader.ts'
import { CONFIG_FILE } from './resolve-catalog.ts'
import { presetVariables } from './resolve-upstreams.ts'
import { isDuckDbInstalled } from '../../platform/archive/open-duckdb.ts'

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

/**
 * Returns the settings without which the server starts, but customers or operators cannot do something; each with the
 * remedy.
 */
export function findMissingSettings(config: Config): string[] {
  const missing: string[] = []
  if (config.archive !== undefined && !isDuckDbInstalled())
    missing.push(
      'ARCHIVE_DIR or ARCHIVE_S3_URL is set, but DuckDB is not installed: no month can be archived or read there. Install the optional packages: npm ci without --omit=optional',
    )
  if (config.mode === 'sandbox') return missing
  if (config.publicUrl === undefined)
    missing.push(
      'PUBLIC_URL is not set: nobody can sign in to the dashboard (503 sign_in_unavailable), and mails have no links. Set it to the address at which customers reach this server, such as https://api.example.com',
    )
  if (config.upstreams.length === 0)
    missing.push(
      `no upstream is set: only models of those that an operator adds at /admin/provedores answer. Or set one of ${presetVariables().join(', ')}, or describe one in ${CONFIG_FILE}`,
    )
  if (config.adminEmails.length === 0)
    missing.push(
      'ADMIN_EMAILS is not set: nobody can open the pages of operators. Set it to your e-mail, and sign up with it in the dashboard, with a second factor',
    )
  if (config.asaas === undefined)
    missing.push(
      'ASAAS_API_KEY is not set: nobody can top up. Set it and ASAAS_WEBHOOK_TOKEN, or credit by hand: npm run catraca -- customer credit',
    )
  if (config.publicUrl?.startsWith('https:') === true && config.trustProxy === false)
    missing.push(
      'TRUST_PROXY is not set, and PUBLIC_URL is the address of a proxy, since this server speaks no https: all callers share the address of that proxy, so the wrong keys of one close the API for all. Set it to the address or network from which the proxy connects, such as 127.0.0.1',
    )
  return missing
}
