/** Prepared clusters of the embedded PostgreSQL: creating one takes more than a second. */
import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startEmbedded } from '../../src/platform/db/embedded.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { memoryFolder } from './memory-folder.ts'

export interface PreparedCluster {
  /** As if the database had been started in this folder once, and stopped. */
  putInto(dataDir: string): Promise<void>
  remove(): Promise<void>
}

/** With `isMigrated`, its database has all tables, and no row. */
export async function prepareCluster({ isMigrated = false } = {}): Promise<PreparedCluster> {
  const folder = await mkdtemp(join(memoryFolder(), 'catraca-cluster-'))
  // The account that runs the database for root must be able to open the folder, or its files would be elsewhere.
  await chmod(folder, 0o755)
  const database = await startEmbedded({ dataDir: folder, log: () => {} })
  if (isMigrated) await migrate(database.databaseUrl)
  await database.stop()
  // Each copy finds its own port.
  await rm(join(folder, 'postgres/port'))
  return {
    async putInto(dataDir) {
      // With owners and modes, which `fs.cp` does not keep.
      await promisify(execFile)('cp', ['-a', join(folder, 'postgres'), join(dataDir, 'postgres')])
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
