/** Six-digit codes that an authenticator app computes from a secret and the time (RFC 6238). */
import { createHmac, timingSafeEqual } from 'node:crypto'

export const TOTP_SECRET_BYTES = 20
const STEP_MS = 30_000
const DIGITS = 6
/** Accept the previous and the next code as well: phone clocks drift, and typing takes time. */
const STEPS_AROUND = [-1, 0, 1]
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

export function totpCode(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const offset = (mac.at(-1) as number) & 0x0f
  const number = (mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** DIGITS
  return String(number).padStart(DIGITS, '0')
}

export function totpStep(nowMs: number): number {
  return Math.floor(nowMs / STEP_MS)
}

/** Returns the time step of the code, or undefined if it belongs to no step around now. */
export function findTotpStep(secret: Buffer, code: string, nowMs: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined
  let found: number | undefined
  for (const around of STEPS_AROUND) {
    const step = totpStep(nowMs) + around
    if (timingSafeEqual(Buffer.from(totpCode(secret, step)), Buffer.from(code))) found = step
  }
  return found
}

/** Returns the URI in the QR code that the app scans. */
export function totpUri(secret: Buffer, account: string): string {
  const issuer = 'Catraca'
  const query = new URLSearchParams({ secret: base32(secret), issuer, digits: '6', period: '30' })
  return `otpauth://totp/${issuer}:${encodeURIComponent(account)}?${query.toString()}`
}

/** Encodes bytes by RFC 4648, without padding. */
export function base32(bytes: Buffer): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
  const groups = bits.match(/.{1,5}/g) ?? []
  return groups.map((group) => BASE32[Number.parseInt(group.padEnd(5, '0'), 2)]).join('')
}
