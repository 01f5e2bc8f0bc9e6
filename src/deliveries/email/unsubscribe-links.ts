/**
 * Unsubscribe links in optional mails. A link is for one customer, never expires and needs no login session. It
 * holds the customer's id and a signature, and nothing else.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { deriveKey } from '../../platform/lib/sealing-key.ts'
import { isUuid } from '../../platform/lib/ids.ts'

export interface UnsubscribeLinks {
  /** Undefined when the service's public address is not configured. */
  urlFor(customerId: string): string | undefined
  /** Undefined for a token that we did not sign. */
  customerOf(token: string): string | undefined
}

export const UNSUBSCRIBE_PATH = '/unsubscribe'
const PURPOSE = 'unsubscribe links'
const ID_BYTES = 16
const SIGNATURE_BYTES = 16
const TOKEN_LENGTH = Math.ceil(((ID_BYTES + SIGNATURE_BYTES) * 4) / 3)

/** Links that were signed with the previous key stay valid while that key is given. */
export function createUnsubscribeLinks(options: {
  readonly sealingKey: Buffer
  readonly previousSealingKey?: Buffer | undefined
  readonly publicUrl: string | undefined
}): UnsubscribeLinks {
  const { sealingKey, previousSealingKey, publicUrl } = options
  const signingKey = deriveKey(sealingKey, PURPOSE)
  const keys = [signingKey, ...(previousSealingKey ? [deriveKey(previousSealingKey, PURPOSE)] : [])]
  return {
    urlFor(customerId) {
      if (publicUrl === undefined || !isUuid(customerId)) return undefined
      const id = Buffer.from(customerId.replaceAll('-', ''), 'hex')
      const token = Buffer.concat([id, sign(signingKey, id)]).toString('base64url')
      return `${publicUrl}${UNSUBSCRIBE_PATH}/${token}`
    },
    customerOf(token) {
      const bytes = Buffer.from(token, 'base64url')
      // The decoder skips or cuts off invalid characters, so only a valid token survives the round trip.
      if (token.length !== TOKEN_LENGTH || bytes.toString('base64url') !== token) return undefined
      const id = bytes.subarray(0, ID_BYTES)
      const signature = bytes.subarray(ID_BYTES)
      if (!keys.some((key) => timingSafeEqual(sign(key, id), signature))) return undefined
      return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    },
  }
}

function sign(key: Buffer, id: Buffer): Buffer {
  return createHmac('sha256', key).update(id).digest().subarray(0, SIGNATURE_BYTES)
}
