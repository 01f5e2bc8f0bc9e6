/** The second factor of a user: a secret that an app makes codes of, and backup codes for when it is lost. */
import { randomBytes } from 'node:crypto'
import { inTransaction, type Database } from '../db/open.ts'
import { createId } from '../lib/ids.ts'
import { seal, unseal } from '../lib/seal.ts'
import { replaceBackupCodes, takeBackupCode } from './backup-codes.ts'
import { limitAttempts, type Limit } from './limit-attempts.ts'
import { findTotpStep, TOTP_SECRET_BYTES } from './totp.ts'

export interface FactorKeys {
  readonly sealingKey: Buffer
  readonly previousSealingKey?: Buffer | undefined
}

export type Checked = { kind: 'right' | 'wrong' } | { kind: 'too_many'; retryAfter: number }

/** Of one user, right or wrong, wherever they are tried: who knows the password does not guess the code. */
const CODES: readonly Limit[] = [
  { max: 10, seconds: 600 },
  { max: 40, seconds: 86_400 },
]
/** Counted apart: whoever wears out the codes leaves this way open. */
const BACKUP_CODES: readonly Limit[] = [{ max: 10, seconds: 600 }]

export async function hasSecondFactor(db: Database, userId: string): Promise<boolean> {
  const factor = await db
    .selectFrom('sign_in_second_factors')
    .select('id')
    .where('user_id', '=', userId)
    .where('enabled_at', 'is not', null)
    .executeTakeFirst()
  return factor !== undefined
}

/** A new secret, which asks for nothing until a code of it was given. Undefined where one is on. */
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

/** Of the factor that is on: a code of the app, or one of the backup codes. */
export async function checkFactorCode(
  db: Database,
  keys: FactorKeys,
  userId: string,
  code: string,
): Promise<Checked> {
  const digits = code.replaceAll(/\s/g, '')
  if (/^\d{6}$/.test(digits)) return checkTotpCode(db, keys, userId, digits, { isOn: true })
  const retryAfter = await limitAll(db, `backup code ${userId}`, BACKUP_CODES)
  if (retryAfter !== undefined) return { kind: 'too_many', retryAfter }
  return { kind: (await takeBackupCode(db, userId, code)) ? 'right' : 'wrong' }
}

/** Of the secret that was begun: the app has it. */
export function checkFirstCode(
  db: Database,
  keys: FactorKeys,
  userId: string,
  code: string,
): Promise<Checked> {
  return checkTotpCode(db, keys, userId, code.replaceAll(/\s/g, ''), { isOn: false })
}

/** After its first code. The backup codes, which are told once; undefined where there is nothing to turn on. */
export async function enableSecondFactor(
  trx: Database,
  userId: string,
): Promise<string[] | undefined> {
  const enabled = await trx
    .updateTable('sign_in_second_factors')
    .set({ enabled_at: new Date() })
    .where('user_id', '=', userId)
    .where('enabled_at', 'is', null)
    // A code of this very secret was taken.
    .where('last_step', '>', 0n)
    .executeTakeFirst()
  return enabled.numUpdatedRows === 1n ? replaceBackupCodes(trx, userId) : undefined
}

export async function disableSecondFactor(trx: Database, userId: string): Promise<boolean> {
  const disabled = await trx
    .deleteFrom('sign_in_second_factors')
    .where('user_id', '=', userId)
    .where('enabled_at', 'is not', null)
    .executeTakeFirst()
  return disabled.numDeletedRows === 1n
}

/** The old ones are worth nothing from here on; undefined where no factor is on. */
export async function renewBackupCodes(
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
  userId: string,
  code: string,
  { isOn }: { readonly isOn: boolean },
): Promise<Checked> {
  // Counted first, so that tries at the same time are not more than tries one by one.
  const retryAfter = await limitAll(db, `code ${userId}`, CODES)
  if (retryAfter !== undefined) return { kind: 'too_many', retryAfter }
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
  return { kind: taken.numUpdatedRows === 1n ? 'right' : 'wrong' }
}

async function limitAll(
  db: Database,
  key: string,
  limits: readonly Limit[],
): Promise<number | undefined> {
  const waits: number[] = []
  for (const limit of limits) {
    const wait = await limitAttempts(db, `${key} in ${limit.seconds}`, limit)
    if (wait !== undefined) waits.push(wait)
  }
  return waits.length > 0 ? Math.max(...waits) : undefined
}
