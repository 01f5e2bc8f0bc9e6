/** Signatures of Standard Webhooks 1.0.0 (standardwebhooks.com). */
import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

export function createSigningSecret(): Buffer {
  return randomBytes(SECRET_BYTES)
}

/** As customers get it, and as receivers' libraries take it. */
export function writeSigningSecret(secret: Buffer): string {
  return PREFIX + secret.toString('base64')
}

/** The value of `webhook-signature`. */
export function signWebhook(
  secret: Buffer,
  message: { readonly id: string; readonly timestampSeconds: number; readonly body: string },
): string {
  const { id, timestampSeconds, body } = message
  const signed = `${id}.${timestampSeconds}.${body}`
  return `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`
}
