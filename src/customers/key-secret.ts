/**
 * The secrets of API keys. A secret ends with a checksum, so that a mistyped or invented one is refused without a look-up,
 * and scanners tell a key from other text. A secret that is made in a cell names it before `_`, which is in no other
 * secret: `sk-svc-b_...`.
 */
import { crc32 } from 'node:zlib'
import { randomText } from '../platform/lib/ids.ts'

/** Counts code points, as the database does: a character outside the first 65,536 counts as one. */
const NAME = /^.{3,50}$/su

/** Returns the trimmed name, or undefined if it is not a string of 3 to 50 characters. */
export function readKeyName(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const name = value.trim()
  return NAME.test(name) ? name : undefined
}

export const API_KEY_PREFIX = 'sk-svc-'
/** 32 letters and digits have 190 bits, too many to guess, so a plain SHA-256 protects the secret. */
const RANDOM_LENGTH = 32
/** A CRC-32 in base 62. */
const CHECKSUM_LENGTH = 6
const SECRET = new RegExp(
  `^${API_KEY_PREFIX}(?:[0-9a-z]{1,8}_)?[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`,
)
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export function createKeySecret(cell?: string): string {
  const prefix = cell === undefined ? '' : `${cell}_`
  const unchecked = API_KEY_PREFIX + prefix + randomText(RANDOM_LENGTH)
  return unchecked + checksumOf(unchecked)
}

/** Whether a text may be a secret of a key: no key has one of another form, or with another checksum. */
export function isKeySecret(text: string): boolean {
  const end = text.length - CHECKSUM_LENGTH
  return SECRET.test(text) && checksumOf(text.slice(0, end)) === text.slice(end)
}

function checksumOf(text: string): string {
  let rest = crc32(text)
  let digits = ''
  while (digits.length < CHECKSUM_LENGTH) {
    digits = (ALPHABET[rest % ALPHABET.length] as string) + digits
    rest = Math.floor(rest / ALPHABET.length)
  }
  return digits
}
