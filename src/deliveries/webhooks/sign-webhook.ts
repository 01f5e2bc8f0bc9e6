/** Signatures of Standard Webhooks 1.0.0 (standardwebhooks.com). */
import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

export function createSigningSecret(): Buffer {
  return randomBytes(SECRET_BYTES)
}

/** Writes a secret in the form that customers get and that receivers' libraries accept. */
export function writeSigningSecret(secret: Buffer): string {
  return PREFIX + secret.toString('base64')
}

/**
 * Reads the secret in the form that providers show, which for Supabase begins with `v1,`; undefined for anything else.
 */
export function readSigningSecret(text: string): Buffer | undefined {
  const match = /^(?:v1,)?whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text.trim())
  if (!match) return undefined
  const [, base64 = ''] = match
  const secret = Buffer.from(base64, 'base64')
  // The decoder skips or cuts off invalid characters, so only a valid text survives the round trip.
  const isWhole = secret.toString('base64').replace(/=+$/, '') === base64.replace(/=+$/, '')
  return isWhole && secret.length >= 24 && secret.length <= 64 ? secret : undefined
}

/** Writes the value of `webhook-signature`. */
export function signWebhook(
  secret: Buffer,
  message: {
    readonly id: string
    readonly timestampSeconds: number
    readonly body: string | Buffer
  },
): string {
  const { id, timestampSeconds, body } = message
  const signed = createHmac('sha256', secret).update(`${id}.${timestampSeconds}.`).update(body)
  return `v1,${signed.digest('base64')}`
}
