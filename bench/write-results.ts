import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes JSON to bench/results/, named after the time of the run. Returns the path. */
export function writeResults(results: { readonly at: string }, prefix = ''): string {
  const folder = join(import.meta.dirname, './results')
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${prefix}${results.at.replaceAll(/[:.]/g, '-')}.json`)
  writeFileSync(path, `${JSON.stringify(results, null, 2)}\n`)
  return path
}
