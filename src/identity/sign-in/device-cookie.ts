/**
 * The cookie of a device on which somebody was signed in before. Attempts to sign in from such a device have a count of
 * their own, so that a stranger who uses up the attempts for an address does not lock its owner out. The cookie signs
 * nobody in. It holds one token for each of the last accounts, bound to the e-mail by its signature. All tokens of a
 * browser have one id, which outlives each of them.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { cookiePrefix } from './session-cookie.ts'

export interface DeviceCookies {
  /** The id of the device, if the `Cookie` header has an unexpired token for this e-mail. */
  deviceOf(cookies: string | undefined, email: string): string | undefined
  /**
   * The distinct ids in the `Cookie` header, that of this e-mail first; one, unless the tokens are of before all shared
   * theirs. Only that of this e-mail is verified: the header may invent the others.
   */
  allDevicesOf(cookies: string | undefined, email: string): string[]
  /** The `Set-Cookie` line that remembers the device; undefined if its token is valid for long enough. */
  remember(cookies: string | undefined, email: string, origin: string): string | undefined
}

const NAMES = ['https:', 'http:'].map((scheme) => `${cookiePrefix(scheme)}.device`)
const DAYS = 90
const RENEWED_DAYS_BEFORE = 30
const DAY_SECONDS = 86_400
/** Accounts that use the same browser. */
const TOKENS_MAX = 4
const ID_BYTES = 12
const BODY_BYTES = ID_BYTES + 4
const SIGNATURE_BYTES = 16

export function createDeviceCookies(key: Buffer, now: () => number = Date.now): DeviceCookies {
  const sign = (body: Buffer, email: string): Buffer =>
    createHmac('sha256', key)
      .update(body)
      .update(email.toLowerCase())
      .digest()
      .subarray(0, SIGNATURE_BYTES)
  const read = (token: string, email: string) => {
    const bytes = Buffer.from(token, 'base64url')
    if (bytes.length !== BODY_BYTES + SIGNATURE_BYTES) return undefined
    const body = bytes.subarray(0, BODY_BYTES)
    if (!timingSafeEqual(sign(body, email), bytes.subarray(BODY_BYTES))) return undefined
    const secondsLeft = body.readUInt32BE(ID_BYTES) - now() / 1000
    return secondsLeft <= 0
      ? undefined
      : { deviceId: body.subarray(0, ID_BYTES).toString('hex'), secondsLeft }
  }
  const find = (cookies: string | undefined, email: string) =>
    tokensOf(cookies)
      .map((token) => read(token, email))
      .find((found) => found !== undefined)
  return {
    deviceOf: (cookies, email) => find(cookies, email)?.deviceId,
    allDevicesOf(cookies, email) {
      const own = find(cookies, email)?.deviceId
      return [...new Set([...(own === undefined ? [] : [own]), ...idsOf(cookies)])]
    },
    remember(cookies, email, origin) {
      const known = find(cookies, email)
      if (known && known.secondsLeft > RENEWED_DAYS_BEFORE * DAY_SECONDS) return undefined
      const body = Buffer.alloc(BODY_BYTES)
      // That of another account in this browser, unverified: whoever invents one could as well send no cookie.
      const id = known?.deviceId ?? idsOf(cookies)[0] ?? randomBytes(ID_BYTES).toString('hex')
      body.write(id, 'hex')
      body.writeUInt32BE(Math.floor(now() / 1000) + DAYS * DAY_SECONDS, ID_BYTES)
      const token = Buffer.concat([body, sign(body, email)]).toString('base64url')
      const others = tokensOf(cookies).filter((each) => read(each, email) === undefined)
      const value = [token, ...others].slice(0, TOKENS_MAX).join('.')
      const secure = origin.startsWith('https:') ? '; Secure' : ''
      return `${cookiePrefix(origin)}.device=${value}; Path=/; Max-Age=${DAYS * DAY_SECONDS}; HttpOnly; SameSite=Lax${secure}`
    },
  }
}

/** The ids of all tokens, unverified. */
function idsOf(cookies: string | undefined): string[] {
  return tokensOf(cookies).flatMap((token) => {
    const bytes = Buffer.from(token, 'base64url')
    return bytes.length === BODY_BYTES + SIGNATURE_BYTES
      ? [bytes.subarray(0, ID_BYTES).toString('hex')]
      : []
  })
}

function tokensOf(cookies: string | undefined): string[] {
  const pairs = (cookies ?? '').split(';', 100).map((pair) => pair.trim())
  for (const name of NAMES) {
    const pair = pairs.find((each) => each.startsWith(`${name}=`))
    if (pair !== undefined) return pair.slice(name.length + 1).split('.', TOKENS_MAX)
  }
  return []
}
