/**
 * Tokens for the links that confirm an e-mail address: the user's id, the expiry and a signature. A token proves access
 * to the mailbox. It must not sign anybody in, because another person may have set the password.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { isUuid } from '../../platform/lib/ids.ts'

export interface ConfirmTokens {
  make(userId: string): string
  /** Returns undefined for a foreign or expired token. */
  userOf(token: string): string | undefined
}

const HOURS = 24
const ID_BYTES = 16
const BODY_BYTES = ID_BYTES + 4
const SIGNATURE_BYTES = 16
const TOKEN_LENGTH = ((BODY_BYTES + SIGNATURE_BYTES) * 4) / 3

export function createConfirmTokens(key: Buffer, now: () => number = Date.now): ConfirmTokens {
  const sign = (body: Buffer): Buffer =>
    createHmac('sha256', key).update(body).digest().subarray(0, SIGNATURE_BYTES)
  return {
    make(userId) {
      if (!isUuid(userId)) throw new Error('the id of the user is not a UUID')
      const body = Buffer.alloc(BODY_BYTES)
      Buffer.from(userId.replaceAll('-', ''), 'hex').copy(body)
      body.writeUInt32BE(Math.floor(now() / 1000) + HOURS * 3600, ID_BYTES)
      return Buffer.concat([body, sign(body)]).toString('base64url')
    },
    userOf(token) {
      const bytes = Buffer.from(token, 'base64url')
      // The decoder skips invalid characters; encoding again detects them.
      if (token.length !== TOKEN_LENGTH || bytes.toString('base64url') !== token) return undefined
      const body = bytes.subarray(0, BODY_BYTES)
      if (!timingSafeEqual(sign(body), bytes.subarray(BODY_BYTES))) return undefined
      if (body.readUInt32BE(ID_BYTES) * 1000 < now()) return undefined
      const hex = body.subarray(0, ID_BYTES).toString('hex')
      return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    },
  }
}
