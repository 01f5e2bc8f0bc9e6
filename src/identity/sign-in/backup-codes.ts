/** Backup codes for a user without the phone: ten single-use codes of 80 bits, so that their hashes cannot be reversed. */
import { randomInt } from 'node:crypto'
import type { Database } from '../../platform/db/open.ts'
import { sha256 } from '../../platform/lib/ids.ts'

const COUNT = 10
const GROUPS = 4
const GROUP_LENGTH = 4
/** Without characters that look alike. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz123456789'

/** Replaces all codes of the user. Only their hashes are stored, so the returned codes can be shown once. */
export async function replaceBackupCodes(trx: Database, userId: string): Promise<string[]> {
  const codes = Array.from({ length: COUNT }, createCode)
  await trx.deleteFrom('sign_in_backup_codes').where('user_id', '=', userId).execute()
  const rows = codes.map((code) => ({ user_id: userId, code_hash: hashOf(userId, plain(code)) }))
  await trx.insertInto('sign_in_backup_codes').values(rows).execute()
  return codes
}

/** Uses up the code; returns true only for an unused code of the user. */
export async function takeBackupCode(db: Database, userId: string, code: string): Promise<boolean> {
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
