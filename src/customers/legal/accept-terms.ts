import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import type { Database } from '../../platform/db/open.ts'
import { CURRENT_LEGAL_VERSION } from './legal-versions.ts'

/**
 * Stores that a customer accepted the terms of use and the privacy policy of this version, and is of age or a business.
 * Returns false if it is not the current version. Accepting again changes nothing.
 */
export async function acceptTerms(
  db: Database,
  actor: Actor,
  { customerId, version }: { readonly customerId: string; readonly version: string },
): Promise<boolean> {
  if (version !== CURRENT_LEGAL_VERSION) return false
  await audited(db, actor, async (trx, record) => {
    const { numUpdatedRows } = await trx
      .updateTable('customers')
      .set({ accepted_terms: version })
      .where('id', '=', customerId)
      .where((eb) => eb('accepted_terms', 'is distinct from', version))
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return
    const details = { version, documents: ['terms', 'privacy'], is_adult_or_business: true }
    await record({ action: 'terms.accepted', customerId, subjectId: customerId, details })
  })
  return true
}

export async function hasAcceptedTerms(db: Database, customerId: string): Promise<boolean> {
  const row = await db
    .selectFrom('customers')
    .select('accepted_terms')
    .where('id', '=', customerId)
    .executeTakeFirst()
  return row?.accepted_terms === CURRENT_LEGAL_VERSION
}
