/** Which customer referred which one: recorded once, at the registration, and permanent. Rewards: `payments/referral-rewards`. */
import { sql } from 'kysely'
import { randomBytes } from 'node:crypto'
import { exactTime, isBefore } from '../platform/db/exact-time.ts'
import type { Database } from '../platform/db/open.ts'
import type { NanoBrl } from '../platform/lib/money.ts'
import { lockCustomer } from './customers.ts'

/** The characters of codes, without those that are confused when read aloud or copied by hand: 0, O, 1 and I. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
/** 40 bits: if a million codes exist, one guess in a million hits one. */
const CODE_LENGTH = 8
const UNIQUE_VIOLATION = '23505'

export interface Referred {
  readonly customerId: string
  /** The first letter of the name or the e-mail; undefined for a deleted customer. */
  readonly firstLetter: string | undefined
  readonly registeredAt: Date
  /** To the microsecond. */
  readonly exactRegisteredAt: string
  readonly rewardedAt: Date | null
  readonly rewardNanoBrl: NanoBrl | null
  /** Above zero if the payment that earned the reward was returned to the payer. */
  readonly takenBackNanoBrl: NanoBrl
  readonly isTakenBack: boolean
}

export interface ReferralSums {
  /** All referred customers. */
  readonly registered: number
  /** Referrals whose reward was granted and not taken back. */
  readonly rewarded: number
  /** Rewards less the amounts taken back. */
  readonly rewardNanoBrl: NanoBrl
}

/** Creates the code on the first call; it never changes. Throws if the customer is deleted. */
export async function ensureReferralCode(db: Database, customerId: string): Promise<string> {
  const known = await db
    .selectFrom('customers')
    .select('referral_code')
    .where('id', '=', customerId)
    .executeTakeFirst()
  return known?.referral_code ?? makeReferralCode(db, customerId)
}

/** Records the customer's referrer. Call it in a transaction. */
export async function refer(
  trx: Database,
  { customerId, code }: { customerId: string; code: string },
): Promise<
  | { readonly kind: 'recorded'; readonly referrerId: string }
  | { readonly kind: 'code_not_found' | 'own_code' | 'already_referred' }
> {
  const referrer = await trx
    .selectFrom('customers')
    .select('id')
    .where('referral_code', '=', plainCode(code))
    .where('deleted_at', 'is', null)
    .forKeyShare()
    .executeTakeFirst()
  if (!referrer) return { kind: 'code_not_found' }
  if (referrer.id === customerId) return { kind: 'own_code' }
  await lockCustomer(trx, customerId)
  const { rows } = await sql`
    insert into referrals (customer_id, referrer_id) values (${customerId}, ${referrer.id})
    on conflict (customer_id) do nothing returning customer_id`.execute(trx)
  return rows.length > 0
    ? { kind: 'recorded', referrerId: referrer.id }
    : { kind: 'already_referred' }
}

/** Returns the referred customers, the newest first, starting after the position `after`. */
export async function listReferred(
  db: Database,
  referrerId: string,
  { after, limit }: { after: { at: string; id: string } | undefined; limit: number },
): Promise<Referred[]> {
  let query = db
    .selectFrom('referrals as r')
    .innerJoin('customers as c', 'c.id', 'r.customer_id')
    .select(['r.customer_id', 'r.created_at', 'r.rewarded_at', 'r.reward_nano_brl'])
    .select(['r.taken_back_nano_brl', 'r.closed_reason'])
    .select(exactTime('r.created_at').as('exact_created_at'))
    .select(
      sql<
        string | null
      >`case when c.deleted_at is null then upper(left(coalesce(nullif(trim(c.name), ''), c.email), 1)) end`.as(
        'first_letter',
      ),
    )
    .where('r.referrer_id', '=', referrerId)
    .orderBy('r.created_at', 'desc')
    .orderBy('r.customer_id', 'desc')
    .limit(limit)
  if (after) query = query.where(isBefore(after, 'r.created_at', 'r.customer_id'))
  const rows = await query.execute()
  return rows.map((row) => ({
    customerId: row.customer_id,
    firstLetter: row.first_letter ?? undefined,
    registeredAt: row.created_at,
    exactRegisteredAt: row.exact_created_at,
    rewardedAt: row.rewarded_at,
    rewardNanoBrl: row.reward_nano_brl,
    takenBackNanoBrl: row.taken_back_nano_brl,
    isTakenBack: isTakenBack(row),
  }))
}

export async function sumReferrals(db: Database, referrerId: string): Promise<ReferralSums> {
  const { rows } = await sql<{ registered: bigint; rewarded: bigint; reward: bigint }>`
    select count(*) as registered,
      count(*) filter (where rewarded_at is not null and taken_back_nano_brl = 0
        and closed_reason is distinct from 'taken_back') as rewarded,
      coalesce(sum(reward_nano_brl - taken_back_nano_brl), 0)::int8 as reward
    from referrals where referrer_id = ${referrerId}`.execute(db)
  const [row] = rows
  return {
    registered: Number(row?.registered ?? 0n),
    rewarded: Number(row?.rewarded ?? 0n),
    rewardNanoBrl: row?.reward ?? 0n,
  }
}

/** Also true if the reward was spent entirely, so that nothing could be taken back. */
function isTakenBack(row: { taken_back_nano_brl: NanoBrl; closed_reason: string | null }): boolean {
  return row.taken_back_nano_brl > 0n || row.closed_reason === 'taken_back'
}

async function makeReferralCode(db: Database, customerId: string): Promise<string> {
  for (;;) {
    try {
      // Of concurrent first calls, the later one returns the code of the earlier.
      const { rows } = await sql<{ referral_code: string }>`
        update customers set referral_code = coalesce(referral_code, ${randomCode()})
        where id = ${customerId} and deleted_at is null returning referral_code`.execute(db)
      if (rows[0]) return rows[0].referral_code
      await lockCustomer(db, customerId)
    } catch (error) {
      if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error
    }
  }
}

function randomCode(): string {
  return Array.from(randomBytes(CODE_LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join('')
}

function plainCode(code: string): string {
  return code.replaceAll(/[\s-]/g, '').toUpperCase()
}
