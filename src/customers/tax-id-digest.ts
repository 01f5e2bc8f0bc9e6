/**
 * HMACs of CPFs and CNPJs that were rewarded. A CPF has nine free digits, so a plain hash of one can be guessed: the
 * key of the HMAC is random, and sealed in the database. It is the same for ever, while the key that seals it can be
 * exchanged.
 */
import { sql } from 'kysely'
import { createHmac, randomBytes } from 'node:crypto'
import { inTransaction, type Database } from '../db/open.ts'
import type { SealingKeys } from '../db/reseal.ts'
import { createId } from '../lib/ids.ts'
import { seal, unseal } from '../lib/seal.ts'

export type TaxIdDigest = (taxId: string) => Buffer

const PURPOSE = 'rewarded_tax_ids'
const KEY_BYTES = 32

/** Throws a `SealError` where the key was sealed with one that is not given. */
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

/** Of two that make it at once the second waits, and finds the first one's. */
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
    if (made) await digestRewarded(trx, digestBy(key))
    const row = made ?? (await findKey(trx))
    if (!row) throw new Error(`there is no key for ${PURPOSE}`)
    return row
  })
}

/** Those who were rewarded before there was a key, as far as their profiles are there. */
async function digestRewarded(trx: Database, digestOf: TaxIdDigest): Promise<void> {
  const { rows } = await sql<{ customer_id: string; tax_id: string }>`
    select distinct on (p.tax_id) r.customer_id, p.tax_id
    from referrals r join profiles p on p.customer_id = r.customer_id
    where r.rewarded_at is not null and r.rewarded_tax_id_digest is null
    order by p.tax_id, r.rewarded_at`.execute(trx)
  for (const { customer_id, tax_id } of rows)
    await trx
      .updateTable('referrals')
      .set({ rewarded_tax_id_digest: digestOf(tax_id) })
      .where('customer_id', '=', customer_id)
      .execute()
}
