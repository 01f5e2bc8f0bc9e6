import { audited, type Actor } from '../platform/audit-log/audited.ts'
import type { Database } from '../platform/db/open.ts'
import { readResealed, writeResealed, type KeyChange } from '../platform/db/reseal.ts'

/**
 * Seals every secret of the previous key with the current one. Returns the number of resealed secrets, and the ids of the
 * damaged ones. Each batch writes its audit row in its transaction, so a killed run has recorded all that it changed.
 */
export async function rotateSecrets(
  db: Database,
  actor: Actor,
  keys: KeyChange,
): Promise<{ resealed: number; damaged: string[] }> {
  const done = { resealed: 0, damaged: [] as string[] }
  for await (const batch of readResealed(db, keys)) {
    done.damaged.push(...batch.damaged)
    done.resealed += await audited(db, actor, async (trx, record) => {
      const resealed = await writeResealed(trx, batch)
      const act = { action: 'secrets.rotated', customerId: null, subjectId: null } as const
      if (resealed > 0) await record({ ...act, details: { resealed } })
      return resealed
    })
  }
  return done
}
