import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { openDatabase } from '../../platform/db/open.ts'
import { openReadReplicas } from '../../platform/db/replicas/open-read-replicas.ts'
import type { ReplicaState } from '../../platform/db/replicas/read-replica.ts'
import { createLog } from '../../platform/lib/log.ts'

/** A server watches for ever; a command waits so long. */
const WAIT_MS_MAX = 5_000

/** The replicas of `DATABASE_READ_URL` as a server would find them now. */
export async function findReplicaStates({
  databaseUrl,
  databaseReadUrl,
  readAgeMsMax,
}: Config): Promise<readonly ReplicaState[]> {
  if (databaseUrl === undefined || databaseReadUrl === undefined) return []
  const { pool } = openDatabase(databaseUrl, { onError: () => {} })
  const log = createLog('silent', () => {})
  const replicas = openReadReplicas(databaseReadUrl, { primary: pool, ageMsMax: readAgeMsMax, log })
  const deadline = performance.now() + WAIT_MS_MAX
  while (replicas.list().some(({ trouble }) => trouble === 'starting')) {
    if (performance.now() > deadline) break
    await sleep(50)
  }
  const found = replicas.list()
  await replicas.close()
  await pool.end()
  return found
}
