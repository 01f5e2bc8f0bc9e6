/**
 * HMACs of CPFs and CNPJs that were rewarded. A CPF has only nine free digits, so a plain hash could be reversed by
 * trying them all. The HMAC's key is random and sealed in the database; it never changes, while the key that seals it can
 * be rotated.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { inTransaction, type Database } from '../platform/db/open.ts'
import type { SealingKeys } from '../platform/db/reseal.ts'
import { createId } from '../platform/lib/ids.ts'
import { seal, unseal } from '../platform/lib/seal.ts'

export type TaxIdDigest = (taxId: string) => Buffer

const PURPOSE = 'rewarded_tax_ids'
const KEY_BYTES = 32

/** Opens the key of the digests. Throws a `SealError` if none of the given keys opens the stored one. */
export async function openTaxIdDigest(db: Database, keys: SealingKeys): Promise<TaxIdDigest> {
  const row = (await findKey(db)) ?? (await makeKey(db, keys))
  return digestBy(unseal(keys.current, row.id, row.secret_sealed, keys.previous))
}

function digestBy(key: Buffer): TaxIdDigest {
  return (taxId) => createHmac('sha256', key).update(taxId).digest()
}

function findKey(db: Database): Promise<{ id: string; secret_sealed: Buffer } | undefined> {
  return db
    .selectFrom('digest_keys')
    .select(['id', 'secret_sealed'])
    .where('purpose', '=', PURPOSE)
    .executeTakeFirst()
}

/** Makes the key. Of concurrent calls the second waits, and finds the key of the first. */
function makeKey(
  db: Database,
  { current }: SealingKeys,
): Promise<{ id: string; secret_sealed: Buffer }> {
  return inTransaction(db, async (trx) => {
    const id = createId()
    const key = randomBytes(KEY_BYTES)
    const made = await trx
      .insertInto('digest_keys')
      .values({ id, purpose: PURPOSE, secret_sealed: seal(current, id, key) })
      .onConflict((conflict) => conflict.column('purpose').doNothing())
      .returning(['id', 'secret_sealed'])
      .executeTakeFirst()
    const row = made ?? (await findKey(trx))
    if (!row) throw new Error(`there is no key for ${PURPOSE}`)
    return row
  })
}
