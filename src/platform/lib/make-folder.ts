import { existsSync, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Creates a folder and those above it. Not with `recursive` of Node.js, which never returns where a folder cannot be
 * made although the one above it exists, as in `/proc`.
 */
export function makeFolder(path: string): void {
  const missing: string[] = []
  for (let at = resolve(path); !existsSync(at); at = dirname(at)) missing.push(at)
  for (const folder of missing.toReversed()) makeOne(folder)
}

function makeOne(folder: string): void {
  try {
    mkdirSync(folder)
  } catch (error) {
    // Another process may have made it meanwhile.
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  }
}
