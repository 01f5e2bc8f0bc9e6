/**
 * Grants the trial credit: promotional money with which a new customer tries the service. One for each customer, CPF or
 * CNPJ, mailbox and device, a few for each network and day, and never more than the operator's budget in 24 hours. A
 * generated CPF and a cleared browser pass the first four, so the budget alone bounds the operator's loss.
 * An account asks a few times in a day: each refusal says that one of its CPF, mailbox and browser is known, so with many
 * tries it would find out whose CPFs have accounts.
 */
import { sql } from 'kysely'
import { audited, type Actor } from '../../../platform/audit-log/audited.ts'
import { findCustomer } from '../../../customers/customers.ts'
import { findProfile } from '../../../customers/profiles.ts'
import { isSuspended } from '../../../customers/suspend-customer.ts'
import { openTaxIdDigest } from '../../../customers/tax-id-digest.ts'
import type { Database } from '../../../platform/db/open.ts'
import type { SealingKeys } from '../../../platform/db/reseal.ts'
import { limitAttempts, type Limit } from '../../../platform/admission/attempts.ts'
import { findAccount, lockAccount } from '../../ledger/entries.ts'
import { grantPromotion } from '../../ledger/promotions.ts'
import { clientNetworks, wideNetwork } from '../../../platform/lib/client-networks.ts'
import { mailboxOf } from '../../../platform/lib/mailbox.ts'
import { decimalBrl, type NanoBrl } from '../../../platform/lib/money.ts'

export interface TrialProgramme {
  /** 0: there is no trial credit. */
  readonly amountNanoBrl: NanoBrl
  /** The most that is granted in 24 hours, to all customers together. */
  readonly dailyNanoBrl: NanoBrl
}

export interface TrialRequest {
  readonly customerId: string
  readonly ip: string
  /** The ids of all devices in the browser's cookie; the first one is remembered. Empty for a key. */
  readonly deviceIds: readonly string[]
}

export type TrialOutcome =
  | { readonly kind: 'granted'; readonly amountNanoBrl: NanoBrl }
  | {
      readonly kind:
        | 'no_trial_credit'
        | 'cpf_required'
        /** The account had a credit before: it is not new. */
        | 'trial_credit_not_new'
        /** By this customer, or another one with the same CPF or CNPJ, mailbox or device. */
        | 'trial_credit_used'
        /** The network's grants, the operator's budget of 24 hours, or the tries of this account are used up. */
        | 'trial_credit_exhausted'
    }

/** A household or an office, and the many customers of a carrier behind one address. */
const NETWORK_GRANTS_A_DAY = 3
/** The most grants of an IPv6 /48 in a day: one tenant gets all its 65,536 networks of the size /64 without effort. */
const WIDE_GRANTS_A_DAY: Limit = { max: 10, seconds: 86_400 }
const TRIES_A_DAY: Limit = { max: 5, seconds: 86_400 }
/** The advisory lock under which grants are judged, one after another. */
const LOCK = 0x7472_6961

/** A repeat of the same customer is `trial_credit_used`. */
export async function grantTrialCredit(
  db: Database,
  actor: Actor,
  request: TrialRequest,
  programme: TrialProgramme,
  keys: SealingKeys,
): Promise<TrialOutcome> {
  const { amountNanoBrl } = programme
  if (amountNanoBrl === 0n) return { kind: 'no_trial_credit' }
  const digestOf = await openTaxIdDigest(db, keys)
  return audited(db, actor, async (trx, record): Promise<TrialOutcome> => {
    const { customerId, ip, deviceIds } = request
    await lockAccount(trx, customerId)
    if (await isSuspended(trx, customerId)) return { kind: 'no_trial_credit' }
    const profile = await findProfile(trx, customerId)
    if (!profile) return { kind: 'cpf_required' }
    const customer = await findCustomer(trx, customerId)
    // An account that the operator made has no mailbox whose owner was seen.
    if (!customer?.email || customer.deletedAt) return { kind: 'trial_credit_not_new' }
    if (await hasOwn(trx, customerId)) return { kind: 'trial_credit_used' }
    const wait = await limitAttempts(trx, `trial credit of ${customerId}`, TRIES_A_DAY)
    if (wait !== undefined) return { kind: 'trial_credit_exhausted' }
    await sql`select pg_advisory_xact_lock(${LOCK})`.execute(trx)
    const devices = deviceIds.map((id) => digestOf(`device:${id}`))
    const claim = {
      customer_id: customerId,
      amount_nano_brl: amountNanoBrl,
      tax_id_digest: digestOf(profile.tax_id),
      mailbox_digest: digestOf(`mailbox:${mailboxOf(customer.email)}`),
      device_digest: devices[0] ?? null,
      network_digest: digestOf(`network:${clientNetworks(ip).near}`),
    }
    if (await wasUsed(trx, claim, profile.tax_id, devices)) return { kind: 'trial_credit_used' }
    const account = await findAccount(trx, customerId)
    if (!account || account.creditedNanoBrl > 0n) return { kind: 'trial_credit_not_new' }
    if (
      (await isExhausted(trx, claim.network_digest, programme)) ||
      (await isWideExhausted(trx, ip))
    )
      return { kind: 'trial_credit_exhausted' }
    await trx.insertInto('trial_credits').values(claim).execute()
    const entry = { customerId, amountNanoBrl, reason: 'trial', reference: customerId } as const
    const outcome = await grantPromotion(trx, entry)
    if (outcome.kind !== 'posted')
      throw new Error(`the trial credit of ${customerId} is not posted: ${outcome.kind}`)
    await record({
      action: 'trial_credit.granted',
      customerId,
      subjectId: outcome.entryId,
      details: { amount_brl: decimalBrl(amountNanoBrl) },
    })
    return { kind: 'granted', amountNanoBrl }
  })
}

interface Claim {
  readonly customer_id: string
  readonly tax_id_digest: Buffer
  readonly mailbox_digest: Buffer
}

async function hasOwn(trx: Database, customerId: string): Promise<boolean> {
  const own = await trx
    .selectFrom('trial_credits')
    .select('customer_id')
    .where('customer_id', '=', customerId)
    .executeTakeFirst()
  return own !== undefined
}

/** By another customer. */
async function wasUsed(
  trx: Database,
  { customer_id, tax_id_digest, mailbox_digest }: Claim,
  taxId: string,
  devices: readonly Buffer[],
): Promise<boolean> {
  const { rows } = await sql<{ was_used: boolean }>`
    select exists (
      select from trial_credits
      where tax_id_digest = ${tax_id_digest} or mailbox_digest = ${mailbox_digest}
        or device_digest = any (${devices})
    ) or exists (
      -- The owner of this CPF or CNPJ is a customer already. An account without any credit shows nothing: anybody can
      -- enter a CPF there.
      select from profiles p join accounts a using (customer_id)
      where p.tax_id = ${taxId} and p.customer_id <> ${customer_id} and a.credited_nano_brl > 0
    ) as was_used`.execute(trx)
  return rows[0]?.was_used ?? true
}

async function isExhausted(
  trx: Database,
  network: Buffer,
  { amountNanoBrl, dailyNanoBrl }: TrialProgramme,
): Promise<boolean> {
  const { rows } = await sql<{ granted: bigint; near: bigint }>`
    select coalesce(sum(amount_nano_brl), 0)::int8 as granted,
      count(*) filter (where network_digest = ${network}) as near
    from trial_credits where granted_at > now() - interval '24 hours'`.execute(trx)
  const [day] = rows
  if (!day) return true
  return day.granted + amountNanoBrl > dailyNanoBrl || day.near >= NETWORK_GRANTS_A_DAY
}

/** Counts a grant, so it is asked last. */
async function isWideExhausted(trx: Database, ip: string): Promise<boolean> {
  const network = wideNetwork(ip)
  if (network === undefined) return false
  const wait = await limitAttempts(trx, `trial credit from ${network}`, WIDE_GRANTS_A_DAY)
  return wait !== undefined
}

interface TrialCredit {
  /** `offered`: it may still be refused, for example for a CPF that was used before. */
  readonly status: 'offered' | 'granted' | 'none'
  readonly amountNanoBrl: NanoBrl
  readonly grantedAt: Date | null
}

/** Returns the trial credit as the customer sees it. */
export async function findTrialCredit(
  db: Database,
  customerId: string,
  { amountNanoBrl }: TrialProgramme,
): Promise<TrialCredit> {
  const granted = await db
    .selectFrom('trial_credits')
    .select(['amount_nano_brl', 'granted_at'])
    .where('customer_id', '=', customerId)
    .executeTakeFirst()
  if (granted)
    return {
      status: 'granted',
      amountNanoBrl: granted.amount_nano_brl,
      grantedAt: granted.granted_at,
    }
  const account = amountNanoBrl > 0n ? await findAccount(db, customerId) : undefined
  return account?.creditedNanoBrl === 0n && !(await isSuspended(db, customerId))
    ? { status: 'offered', amountNanoBrl, grantedAt: null }
    : { status: 'none', amountNanoBrl: 0n, grantedAt: null }
}
