import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { removeEmbedded } from '../platform/db/remove-embedded.ts'

/** The files that a sandbox server writes to its data folder, beside the database. */
const DATA_FILES = [
  'delivered',
  'demo-key',
  'sandbox-payments.json',
  'secrets.key',
  'spool',
  'uploads',
]

/**
 * Removes the database and the files of a sandbox; other files of the data folder stay. Returns the removed paths, or
 * the folder of a database that a running process uses; then the files stay.
 */
export async function resetSandbox(
  dataDir: string,
): Promise<
  | { readonly kind: 'removed'; readonly paths: readonly string[] }
  | { readonly kind: 'in_use'; readonly folder: string }
> {
  const database = await removeEmbedded(dataDir)
  if (database.kind === 'in_use') return database
  const files = DATA_FILES.map((name) => join(dataDir, name)).filter((path) => existsSync(path))
  for (const path of files) await rm(path, { recursive: true, force: true })
  return { kind: 'removed', paths: [...database.folders, ...files] }
}
