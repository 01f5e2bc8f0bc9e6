import { timingSafeEqual } from 'node:crypto'
import { sha256 } from '../../platform/lib/ids.ts'
import { signWebhook } from './sign-webhook.ts'

export interface IncomingMessage {
  /** The same for every delivery of the message. */
  readonly id: string
  /** The time of this delivery. */
  readonly sentAt: Date
}

export type IncomingHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** The header names of the standard, and the older ones of Svix. */
const FAMILIES = ['webhook', 'svix']
const TOLERANCE_SECONDS = 300
const ID = /^[\x21-\x7e]{1,255}$/
const SECONDS = /^[1-9]\d{0,11}$/

/**
 * Returns the message if it was signed with the secret at most five minutes from now in either direction (Standard
 * Webhooks 1.0.0); otherwise undefined.
 */
export function verifyWebhook(
  secret: Buffer,
  headers: IncomingHeaders,
  body: Buffer,
  now: Date,
): IncomingMessage | undefined {
  const family = FAMILIES.find((name) => headers[`${name}-id`] !== undefined)
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map(
    (part) => headers[`${family}-${part}`],
  )
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string')
    return undefined
  if (!ID.test(id) || !SECONDS.test(timestamp)) return undefined
  const timestampSeconds = Number(timestamp)
  if (Math.abs(now.getTime() / 1000 - timestampSeconds) > TOLERANCE_SECONDS) return undefined
  const expected = signWebhook(secret, { id, timestampSeconds, body })
  if (!isAmong(expected, signatures.split(' '))) return undefined
  return { id, sentAt: new Date(timestampSeconds * 1000) }
}

/**
 * Compares digests, which have equal lengths, so the time of the comparison reveals nothing about the expected value.
 */
function isAmong(expected: string, given: readonly string[]): boolean {
  const digest = sha256(expected)
  let isThere = false
  for (const each of given) if (timingSafeEqual(digest, sha256(each))) isThere = true
  return isThere
}
