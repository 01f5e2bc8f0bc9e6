/** Bundles code for the processes of a test run: half the time in which one starts goes into finding hundreds of files. */
import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Writes a bundle of each entry into `folder`, as `<name>.mjs`, unless the folder exists: its name must change with the
 * content. Entries are files or libraries, by name.
 */
export async function bundle(options: {
  root: string
  folder: string
  entries: Readonly<Record<string, string>>
  /** Libraries that stay outside. */
  external: readonly string[]
}): Promise<void> {
  const { root, folder, entries } = options
  if (existsSync(folder)) return
  // Half a second, which most runs do not need.
  const { build } = await import('vite')
  // Two runs may begin at the same time.
  const unfinished = `${folder}-${process.pid}`
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true, external: [...options.external] },
    plugins: [{ name: 'places', transform: keepPlace, renderChunk: escapeOthers }],
    build: {
      ssr: true,
      target: 'node22',
      minify: false,
      outDir: unfinished,
      rollupOptions: {
        input: { ...entries },
        preserveEntrySignatures: 'strict',
        output: { entryFileNames: '[name].mjs', chunkFileNames: 'chunks/[name]-[hash].mjs' },
      },
    },
  })
  try {
    renameSync(unfinished, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
    rmSync(unfinished, { recursive: true })
  }
}

/** A module finds the files beside it at its own place, not beside the bundle, and is no program of its own. */
function keepPlace(code: string, id: string): string | undefined {
  if (!code.includes('import.meta.')) return undefined
  const path = id.replace(/[?#].*$/, '')
  return code
    .replaceAll('import.meta.dirname', () => JSON.stringify(dirname(path)))
    .replaceAll('import.meta.url', () => JSON.stringify(pathToFileURL(path).href))
    .replaceAll('import.meta.main', 'false')
}

/** A source beyond ASCII takes two bytes a character, and is copied more often: a sixth of the time that loading it takes. */
function escapeOthers(code: string): string {
  // A backslash that stands before such a character alone has no meaning there, and would take away that of the next one.
  return code.replace(/((?:\\\\)*)\\?([\u0080-\uffff])/g, (_, pairs: string, unit: string) => {
    return `${pairs}\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
