import { rmSync } from 'node:fs'
import { findClusters } from './embedded-cluster-dir.ts'
import { hasUsers, withStartLock } from './embedded-users.ts'
import { stopServer } from './embedded.ts'

/**
 * Removes the embedded database of a data folder, with all that is in it. Returns the removed folders, or the one that a
 * running process uses, which stays.
 */
export async function removeEmbedded(
  dataDir: string,
): Promise<
  | { readonly kind: 'removed'; readonly folders: readonly string[] }
  | { readonly kind: 'in_use'; readonly folder: string }
> {
  const folders = findClusters(dataDir)
  for (const folder of folders) {
    const isUsed = await withStartLock(folder, async () => {
      if (hasUsers(folder)) return true
      // A killed server leaves its database running.
      await stopServer(folder)
      rmSync(folder, { recursive: true, force: true })
      return false
    })
    if (isUsed) return { kind: 'in_use', folder }
  }
  return { kind: 'removed', folders }
}
