import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle } from './bundle.ts'

/** A start of the bundle saves 0.25 s of processor time, and the bundle takes 4 s. */
const STARTS_MIN = 20

export const SERVER = 'src/main.ts'

/**
 * Bundles the server, `src/main.ts`, with all its libraries into a folder that is named by their content, and returns
 * its URL. `use-bundles.ts` then starts the bundle in its place; stack traces name the bundle's lines, whose
 * comments name the files. Undefined if so few files start servers that it would not pay.
 */
export async function bundleServer(
  root: string,
  filesOfProcesses: number,
): Promise<string | undefined> {
  if (filesOfProcesses < STARTS_MIN) return undefined
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')))
  for (const file of globSync('src/**/*.ts', { cwd: root }).sort())
    hash.update(`${file}\n`).update(readFileSync(join(root, file)))
  const folder = join(
    root,
    'node_modules/.cache',
    `catraca-server-${hash.digest('hex').slice(0, 16)}`,
  )
  await bundle({ root, folder, entries: { server: join(root, SERVER) }, external: [] })
  return pathToFileURL(join(folder, 'server.mjs')).href
}
