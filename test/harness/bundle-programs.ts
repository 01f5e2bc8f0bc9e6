import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle } from './bundle.ts'

/** A start of the bundle saves 0.25 s of processor time, and the bundle takes 4 s. */
const STARTS_MIN = 20

/** It has a native file, which no bundle can hold. */
const OUTSIDE = ['@duckdb/node-api']

const PROGRAMS = {
  server: 'src/main.ts',
  worker: 'src/worker.ts',
  cli: 'src/app/cli/main.ts',
  upstream: 'src/sandbox/upstream/main.ts',
}

/**
 * Bundles the server, its workers, the command line and the sandbox upstream with all their libraries into a folder
 * that is named by their content, and returns the URL of the bundle for that of each program. `use-bundles.ts` then
 * starts the bundle in its place; stack traces name the bundle's lines, whose comments name the files. Empty if so few
 * files start processes that it would not pay.
 */
export async function bundlePrograms(
  root: string,
  filesOfProcesses: number,
): Promise<Record<string, string>> {
  if (filesOfProcesses < STARTS_MIN) return {}
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')))
  for (const file of globSync('src/**/*.ts', { cwd: root }).sort())
    hash.update(`${file}\n`).update(readFileSync(join(root, file)))
  const name = `catraca-programs-${hash.digest('hex').slice(0, 16)}`
  const folder = join(root, 'node_modules/.cache', name)
  const named = Object.entries(PROGRAMS).map(([name, file]) => [name, join(root, file)] as const)
  await bundle({ root, folder, entries: Object.fromEntries(named), external: OUTSIDE })
  return Object.fromEntries(
    named.map(([name, path]) => [
      pathToFileURL(path).href,
      pathToFileURL(join(folder, `${name}.mjs`)).href,
    ]),
  )
}
