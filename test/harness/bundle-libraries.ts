/**
 * Bundles the libraries that every test and every server loads in hundreds of files, once for each `package-lock.json`.
 * `use-bundles.ts` resolves to these bundles. Without the bundles all tests run in the same way.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle } from './bundle.ts'

/** Only libraries of ES modules: of others Node finds the named exports in their own files alone. */
const BUNDLED = [
  'typebox',
  'typebox/value',
  'typebox/system',
  'kysely',
  'pg-boss',
  'better-auth',
  'better-auth/api',
  'better-auth/plugins/magic-link',
  '@better-auth/passkey',
]
/** Loaded by others too; two copies of one would be two sets of its classes. */
const SHARED = ['pg', 'undici', 'fastify', 'prom-client']

/** Returns the URL of the bundle of each library. */
export async function bundleLibraries(root: string): Promise<Record<string, string>> {
  const lock = readFileSync(join(root, 'package-lock.json'))
  const hash = createHash('sha256').update(lock).update(BUNDLED.join()).digest('hex').slice(0, 16)
  const folder = join(root, 'node_modules/.cache', `catraca-libraries-${hash}`)
  const named = BUNDLED.map((library) => [library.replaceAll(/[@/]/g, '_'), library] as const)
  await bundle({ root, folder, entries: Object.fromEntries(named), external: SHARED })
  return Object.fromEntries(
    named.map(([name, library]) => [library, pathToFileURL(join(folder, `${name}.mjs`)).href]),
  )
}
