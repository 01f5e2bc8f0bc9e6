import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Environment } from './environment-reader.ts'

/** More is no secret, but a wrong path. */
const FILE_BYTES_MAX = 64 * 1024

/**
 * Returns the environment with the values of files: each variable may also be given as the path of a file with its
 * value (`SECRETS_KEY_FILE` for `SECRETS_KEY`), as container platforms hand out secrets. Line breaks at the end of a
 * file do not count. Faults name the variable and the path, never the content.
 */
export function withSettingFiles(
  environment: Environment,
  folder: string,
  faults: string[],
): Environment {
  const read = new Map<string, string | undefined>()

  function valueOf(name: string): string | undefined {
    const own = environment[name]
    const variable = `${name}_FILE`
    const path = environment[variable]
    if (!path) return own
    if (read.has(name)) return read.get(name)
    const value = own ? undefined : readValue(resolve(folder, path))
    if (own) faults.push(`${name}: is set, and ${variable} too; keep one of them`)
    else if (value instanceof Error) faults.push(`${variable}: ${value.message}`)
    const found = typeof value === 'string' ? value : own
    read.set(name, found)
    return found
  }

  return new Proxy(environment, {
    get: (_, name) => (typeof name === 'string' ? valueOf(name) : undefined),
  })
}

function readValue(path: string): string | Error {
  try {
    const facts = statSync(path)
    if (!facts.isFile()) return new Error(`${path} is no file`)
    if (facts.size > FILE_BYTES_MAX) return new Error(`${path} is too large for a setting`)
    const text = readFileSync(path, 'utf8').replace(/[\r\n]+$/, '')
    return text === '' ? new Error(`${path} is empty`) : text
  } catch (error) {
    return new Error(`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}
