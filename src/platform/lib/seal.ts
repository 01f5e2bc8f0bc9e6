/**
 * Seals secrets that must be readable again (unlike passwords) with AES-256-GCM, so that a copy of the database
 * alone reveals none of them. A sealed secret is bound to its row and cannot be opened for another one.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

export const SEALING_KEY_BYTES = 32

/** `other_key`: the secret was sealed with a key that was not given. */
export class SealError extends Error {
  readonly reason: 'other_key' | 'damaged'
  constructor(reason: 'other_key' | 'damaged') {
    super(reason === 'other_key' ? 'it was sealed with another key' : 'it is damaged')
    this.name = 'SealError'
    this.reason = reason
  }
}

const ALGORITHM = 'aes-256-gcm'
const VERSION = 1
const KEY_ID_BYTES = 4
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + KEY_ID_BYTES + NONCE_BYTES

/**
 * Seals a secret of a row. Layout: version, key id, nonce, ciphertext, tag. With random nonces one key is safe for four
 * billion secrets.
 */
export function seal(key: Buffer, rowId: string, secret: Buffer): Buffer {
  const head = Buffer.concat([sealPrefix(key), randomBytes(NONCE_BYTES)])
  const cipher = createCipheriv(ALGORITHM, key, nonceOf(head), { authTagLength: TAG_BYTES })
  cipher.setAAD(boundTo(head, rowId))
  return Buffer.concat([head, cipher.update(secret), cipher.final(), cipher.getAuthTag()])
}

/**
 * Opens a sealed secret of a row. Throws a `SealError`. During a key rotation, `previousKey` opens the secrets that
 * were not resealed yet.
 */
export function unseal(key: Buffer, rowId: string, sealed: Buffer, previousKey?: Buffer): Buffer {
  if (sealed.length < HEAD_BYTES + TAG_BYTES || sealed[0] !== VERSION)
    throw new SealError('damaged')
  const head = sealed.subarray(0, HEAD_BYTES)
  const opening = [key, previousKey].find((each) => each && isSealedBy(each, sealed))
  if (!opening) throw new SealError('other_key')
  const decipher = createDecipheriv(ALGORITHM, opening, nonceOf(head), { authTagLength: TAG_BYTES })
  decipher.setAAD(boundTo(head, rowId))
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  const text = decipher.update(sealed.subarray(HEAD_BYTES, -TAG_BYTES))
  try {
    return Buffer.concat([text, decipher.final()])
  } catch {
    throw new SealError('damaged')
  }
}

/** Returns the first bytes of everything that the key seals. */
export function sealPrefix(key: Buffer): Buffer {
  return Buffer.concat([Buffer.of(VERSION), keyIdOf(key)])
}

function isSealedBy(key: Buffer, sealed: Buffer): boolean {
  return sealed.subarray(0, 1 + KEY_ID_BYTES).equals(sealPrefix(key))
}

/** Distinguishes a wrong key from a damaged row, and reveals nothing about the key. */
function keyIdOf(key: Buffer): Buffer {
  return createHash('sha256')
    .update('sealing key id ')
    .update(key)
    .digest()
    .subarray(0, KEY_ID_BYTES)
}

function nonceOf(head: Buffer): Buffer {
  return head.subarray(-NONCE_BYTES)
}

function boundTo(head: Buffer, rowId: string): Buffer {
  return Buffer.concat([head, Buffer.from(rowId.toLowerCase())])
}
