import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import { createCustomer, findCustomer } from '../../customers/customers.ts'
import { refer } from '../../customers/referrals.ts'
import { acceptTerms } from '../../customers/legal/legal-versions.ts'
import type { Language } from '../../platform/lib/language.ts'
import { inTransaction, type Database } from '../../platform/db/open.ts'
import { queueMail } from '../../deliveries/email/queue-mail.ts'

/** The name of a customer who gave none. */
const NAMELESS = 'Cliente'
const NAME_MAX = 100

/**
 * Returns the customer with the user's verified e-mail, or creates one. Throws if the e-mail is not verified: an e-mail
 * that somebody only claims gives no account and no admin rights.
 */
export async function ensureCustomer(
  db: Database,
  userId: string,
  {
    ip,
    locale,
    hasPassword,
    referralCode,
  }: {
    readonly ip: string | undefined
    /** The language in which the user signs in: that of a new account. */
    readonly locale: Language
    /** The user gave the password of the sign-up. A link alone does not show who signed up, and accepted the terms. */
    readonly hasPassword: boolean
    /** Of a sign-up that began in this browser; else the user's counts. */
    readonly referralCode: string | undefined
  },
): Promise<string> {
  return inTransaction(db, async (trx) => {
    const user = await trx
      .selectFrom('sign_in_users')
      .select(['email', 'name', 'referral_code', 'accepted_terms'])
      .where('id', '=', userId)
      .where('is_verified', '=', true)
      .forUpdate()
      .executeTakeFirst()
    if (!user) throw new Error('the user of the session has no verified e-mail')
    const known = await findCustomer(trx, user.email)
    if (known) return known.id
    const name = Array.from(user.name.trim()).slice(0, NAME_MAX).join('') || NAMELESS
    const made = await createCustomer(trx, { name, email: user.email, locale })
    // A concurrent transaction has created the customer.
    if ('kind' in made) {
      const other = await findCustomer(trx, user.email)
      if (!other) throw new Error('the e-mail is taken, but no customer has it')
      return other.id
    }
    const customerId = made.id
    const actor: Actor = { kind: 'customer', customerId, ...(ip ? { ip } : {}) }
    await audited(trx, actor, (_inner, record) =>
      record({
        action: 'customer.created',
        customerId,
        subjectId: customerId,
        details: { by: 'sign_in' },
      }),
    )
    if (hasPassword && user.accepted_terms)
      await acceptTerms(trx, actor, { customerId, version: user.accepted_terms })
    const code = referralCode ?? user.referral_code
    if (code) await refer(trx, { customerId, code })
    await queueMail(trx, { customerId, template: 'boas_vindas', data: {}, reference: customerId })
    return customerId
  })
}
