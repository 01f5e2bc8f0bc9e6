/**
 * Bundles the libraries that every test and every server loads in hundreds of files, once for each `package-lock.json`:
 * half the time in which a process starts goes into finding them. `use-bundled-libraries.ts` resolves to these bundles.
 * The code of the project itself is never bundled, and without the bundles all tests run in the same way.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'vite'

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

/** Returns the file that names the bundle of each library: JSON, specifier to URL. */
export async function bundleLibraries(root: string): Promise<string> {
  const lock = readFileSync(join(root, 'package-lock.json'))
  const hash = createHash('sha256').update(lock).update(BUNDLED.join()).digest('hex').slice(0, 16)
  const folder = join(root, 'node_modules/.cache', `catraca-libraries-${hash}`)
  const map = join(folder, 'bundles.json')
  if (existsSync(map)) return map
  // Two runs may begin at the same time.
  const unfinished = `${folder}-${process.pid}`
  const names = BUNDLED.map((library) => [library, library.replaceAll(/[@/]/g, '_')] as const)
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true, external: SHARED },
    build: {
      ssr: true,
      target: 'node22',
      minify: false,
      outDir: unfinished,
      rollupOptions: {
        input: Object.fromEntries(names.map(([library, name]) => [name, library])),
        preserveEntrySignatures: 'strict',
        output: { entryFileNames: '[name].mjs', chunkFileNames: 'chunks/[name]-[hash].mjs' },
      },
    },
  })
  const urls = names.map(([library, name]) => [
    library,
    pathToFileURL(join(folder, `${name}.mjs`)).href,
  ])
  writeFileSync(join(unfinished, 'bundles.json'), JSON.stringify(Object.fromEntries(urls)))
  try {
    renameSync(unfinished, folder)
  } catch (error) {
    if (!existsSync(map)) throw error
  }
  return map
}
