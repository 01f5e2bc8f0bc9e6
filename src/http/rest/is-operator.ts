import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { deriveKey } from '../../platform/lib/sealing-key.ts'
import { sha256 } from '../../platform/lib/ids.ts'

/**
 * The token for the pages of the operator's own machines: `/metrics` and the mailbox of the sandbox. Whoever connects
 * from this machine may be a proxy, and no header of a client proves otherwise.
 */
export interface OperatorAccess {
  readonly token: string
}

const COOKIE = 'catraca_operator'

/**
 * Returns the configured token, or else one that the sandbox prints at its start: the same for all nodes with this key.
 */
export function operatorTokenOf(configured: string | undefined, sealingKey: Buffer): string {
  return configured ?? deriveKey(sealingKey, 'operator pages').toString('base64url')
}

/**
 * Whether a request shows the operator's token: in its header, or in the cookie of a browser that opened the printed
 * address.
 */
export function isOperator({ headers }: FastifyRequest, { token }: OperatorAccess): boolean {
  const cookies = (headers.cookie ?? '').split(';', 100).map((pair) => pair.trim())
  return (
    isSame(headers.authorization, `Bearer ${token}`) ||
    isSame(
      cookies.find((pair) => pair.startsWith(`${COOKIE}=`)),
      cookieOf(token),
    )
  )
}

/** Returns the cookie for a browser that opens a page with `?token=`; undefined without the right one. */
export function operatorCookie(
  { query }: FastifyRequest,
  { token }: OperatorAccess,
): string | undefined {
  const given = (query as { token?: unknown }).token
  return typeof given === 'string' && isSame(given, token)
    ? `${cookieOf(token)}; Path=/mailbox; HttpOnly; SameSite=Lax`
    : undefined
}

function cookieOf(token: string): string {
  return `${COOKIE}=${encodeURIComponent(token)}`
}

/** Hashes have equal lengths, so the time of the comparison reveals nothing. */
function isSame(given: string | undefined, wanted: string): boolean {
  return timingSafeEqual(sha256(given ?? ''), sha256(wanted))
}
