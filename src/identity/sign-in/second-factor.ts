/** The second factor of a user: a secret from which an app computes codes, and backup codes in case it is lost. */
import { randomBytes, randomInt } from 'node:crypto'
import { sql } from 'kysely'
import { inTransaction, type Database } from '../../platform/db/open.ts'
import { createId, sha256 } from '../../platform/lib/ids.ts'
import { seal, unseal } from '../../platform/lib/seal.ts'
import { limitAttempts, type Limit } from '../../platform/admission/attempts.ts'
import { clientNetworks } from '../../platform/lib/client-networks.ts'
import { limitSignIn, type SignInClient } from './limit-sign-in.ts'
import { findTotpStep, TOTP_SECRET_BYTES } from './totp.ts'

/** Backup codes for a user without the phone: ten single-use codes of 80 bits, so that their hashes cannot be reversed. */
const COUNT = 10
const GROUPS = 4
const GROUP_LENGTH = 4
/** Without characters that look alike. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz123456789'

/** Replaces all codes of the user. Only their hashes are stored, so the returned codes can be shown once. */
async function replaceBackupCodes(trx: Database, userId: string): Promise<string[]> {
  const codes = Array.from({ length: COUNT }, createCode)
  await trx.deleteFrom('sign_in_backup_codes').where('user_id', '=', userId).execute()
  const rows = codes.map((code) => ({ user_id: userId, code_hash: hashOf(userId, plain(code)) }))
  await trx.insertInto('sign_in_backup_codes').values(rows).execute()
  return codes
}

/** Uses up the code; returns true only for an unused code of the user. */
async function takeBackupCode(db: Database, userId: string, code: string): Promise<boolean> {
  const taken = await db
    .deleteFrom('sign_in_backup_codes')
    .where('user_id', '=', userId)
    .where('code_hash', '=', hashOf(userId, plain(code)))
    .executeTakeFirst()
  return taken.numDeletedRows === 1n
}

function createCode(): string {
  const group = (): string =>
    Array.from({ length: GROUP_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  return Array.from({ length: GROUPS }, group).join('-')
}

/** Ignores case, spaces and punctuation. */
function plain(code: string): string {
  return code.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

function hashOf(userId: string, code: string): Buffer {
  return sha256(`backup code ${userId} ${code}`)
}

export interface FactorKeys {
  readonly sealingKey: Buffer
  readonly previousSealingKey?: Buffer | undefined
}

export type Checked = { kind: 'right' | 'wrong' } | { kind: 'too_many'; retryAfter: number }

export interface FactorHolder extends SignInClient {
  readonly userId: string
}

/** By one device or network, for the work alone: nobody guesses 80 bits, so nothing that others do blocks them. */
const BACKUP_CODES: Limit = { max: 10, seconds: 600 }

export async function hasSecondFactor(db: Database, userId: string): Promise<boolean> {
  const factor = await db
    .selectFrom('sign_in_second_factors')
    .select('id')
    .where('user_id', '=', userId)
    .where('enabled_at', 'is not', null)
    .executeTakeFirst()
  return factor !== undefined
}

export interface KeyOperator {
  /** In lower case. */
  readonly email: string
  /** Codes of an app, or a passkey. */
  readonly hasFactor: boolean
}

/**
 * Returns the owner of an active key with the scope `operator`, read anew for each request: the key ends with what its
 * owner had when it was created. Undefined also while the owner's account is suspended.
 */
export async function findKeyOperator(
  db: Database,
  keyId: string,
): Promise<KeyOperator | undefined> {
  const { rows } = await sql<KeyOperator>`
    select u.email,
      exists (select 1 from sign_in_second_factors f where f.user_id = u.id and f.enabled_at is not null)
        or exists (select 1 from sign_in_passkeys p where p.user_id = u.id) as "hasFactor"
    from api_keys k
    join customers c on c.id = k.customer_id and c.deleted_at is null and c.suspended_at is null
    join sign_in_users u on u.email = lower(c.email) and u.is_verified
    where k.id = ${keyId} and k.scope::text = 'operator' and k.expires_at > now()
      and k.revoked_at is null and k.paused_at is null`.execute(db)
  return rows[0]
}

/** Creates a secret, which has no effect until its first code is entered. Returns undefined if a factor is enabled. */
export function beginSecondFactor(
  db: Database,
  { sealingKey }: FactorKeys,
  userId: string,
): Promise<Buffer | undefined> {
  return inTransaction(db, async (trx) => {
    await trx
      .deleteFrom('sign_in_second_factors')
      .where('user_id', '=', userId)
      .where('enabled_at', 'is', null)
      .execute()
    const id = createId()
    const secret = randomBytes(TOTP_SECRET_BYTES)
    const made = await trx
      .insertInto('sign_in_second_factors')
      .values({ id, user_id: userId, secret_sealed: seal(sealingKey, id, secret) })
      .onConflict((conflict) => conflict.column('user_id').doNothing())
      .executeTakeFirst()
    return made.numInsertedOrUpdatedRows === 1n ? secret : undefined
  })
}

/** Checks a code of the enabled factor: one from the app, or a backup code. */
export async function checkFactorCode(
  db: Database,
  keys: FactorKeys,
  holder: FactorHolder,
  code: string,
): Promise<Checked> {
  const { userId, knownAs, ip } = holder
  const digits = code.replaceAll(/\s/g, '')
  if (/^\d{6}$/.test(digits)) return checkTotpCode(db, keys, holder, digits, { isOn: true })
  const retryAfter = await limitAttempts(
    db,
    `backup code ${userId} by ${knownAs ?? clientNetworks(ip).near}`,
    BACKUP_CODES,
  )
  if (retryAfter !== undefined) return { kind: 'too_many', retryAfter }
  return { kind: (await takeBackupCode(db, userId, code)) ? 'right' : 'wrong' }
}

/** Checks a code of the new secret, which proves that the app has it. */
export function checkFirstCode(
  db: Database,
  keys: FactorKeys,
  holder: FactorHolder,
  code: string,
): Promise<Checked> {
  return checkTotpCode(db, keys, holder, code.replaceAll(/\s/g, ''), { isOn: false })
}

/** Enables the factor after its first code. Returns the backup codes, to be shown once, or undefined if none is pending. */
export async function confirmSecondFactor(
  trx: Database,
  userId: string,
): Promise<string[] | undefined> {
  const enabled = await trx
    .updateTable('sign_in_second_factors')
    .set({ enabled_at: new Date() })
    .where('user_id', '=', userId)
    .where('enabled_at', 'is', null)
    // A code of this secret has been accepted.
    .where('last_step', '>', 0n)
    .executeTakeFirst()
  return enabled.numUpdatedRows === 1n ? replaceBackupCodes(trx, userId) : undefined
}

/** Returns false if no factor is enabled; a secret that is not enabled yet stays. */
export async function deleteSecondFactor(trx: Database, userId: string): Promise<boolean> {
  const deleted = await trx
    .deleteFrom('sign_in_second_factors')
    .where('user_id', '=', userId)
    .where('enabled_at', 'is not', null)
    .executeTakeFirst()
  return deleted.numDeletedRows === 1n
}

/** Replaces the backup codes, which invalidates the old ones. Returns undefined if no factor is enabled. */
export async function replaceCodesOfFactor(
  trx: Database,
  userId: string,
): Promise<string[] | undefined> {
  const factor = await trx
    .selectFrom('sign_in_second_factors')
    .select('id')
    .where('user_id', '=', userId)
    .where('enabled_at', 'is not', null)
    .forUpdate()
    .executeTakeFirst()
  return factor ? replaceBackupCodes(trx, userId) : undefined
}

async function checkTotpCode(
  db: Database,
  { sealingKey, previousSealingKey }: FactorKeys,
  holder: FactorHolder,
  code: string,
  { isOn }: { readonly isOn: boolean },
): Promise<Checked> {
  const { userId } = holder
  // Counted before the check, so that concurrent attempts cannot exceed the limit.
  const limited = await limitSignIn(db, 'code', holder)
  if (limited.kind === 'refused') return { kind: 'too_many', retryAfter: limited.retryAfter }
  const factor = await db
    .selectFrom('sign_in_second_factors')
    .select(['id', 'secret_sealed'])
    .where('user_id', '=', userId)
    .where('enabled_at', isOn ? 'is not' : 'is', null)
    .executeTakeFirst()
  if (!factor) return { kind: 'wrong' }
  const secret = unseal(sealingKey, factor.id, factor.secret_sealed, previousSealingKey)
  const step = findTotpStep(secret, code, Date.now())
  if (step === undefined) return { kind: 'wrong' }
  const taken = await db
    .updateTable('sign_in_second_factors')
    .set({ last_step: BigInt(step) })
    .where('id', '=', factor.id)
    .where('last_step', '<', BigInt(step))
    .executeTakeFirst()
  if (taken.numUpdatedRows !== 1n) return { kind: 'wrong' }
  await limited.giveBack()
  return { kind: 'right' }
}
