/** The cookie of a login session in the format of better-auth: `<token>.<HMAC of the token>`, percent-encoded. */
import { createHmac, timingSafeEqual } from 'node:crypto'

const PREFIX = 'catraca'
/** Browsers accept cookies with this prefix only over a secure connection and for exactly this host. */
const HOST_PREFIX = '__Host-'
const NAMES = [`${HOST_PREFIX}${PREFIX}.session_token`, `${PREFIX}.session_token`]
const COOKIES_MAX = 100

/** Whether a browser has been signed in here; the session may have ended since. */
export function hasSessionCookie(cookies: string | undefined): boolean {
  if (cookies === undefined) return false
  const pairs = cookies.split(';', COOKIES_MAX).map((pair) => pair.trim())
  return NAMES.some((name) => pairs.some((pair) => pair.startsWith(`${name}=`)))
}

/**
 * Returns the cookies of a request over https without ours that lack the prefix: another host of the domain, or anybody
 * on the way of a request over http, may have set them.
 */
export function withoutOpenCookies(cookies: string): string {
  return cookies
    .split(';')
    .filter((pair) => !pair.trim().startsWith(`${PREFIX}.`))
    .join(';')
}

export function cookiePrefix(origin: string): string {
  return origin.startsWith('https:') ? `${HOST_PREFIX}${PREFIX}` : PREFIX
}

/** Returns undefined without a valid cookie. Of two cookies with one name the first counts, as in better-auth. */
export function readSessionToken(cookies: string | undefined, secret: string): string | undefined {
  if (cookies === undefined) return undefined
  const pairs = cookies.split(';', COOKIES_MAX).map((pair) => pair.trim())
  for (const name of NAMES) {
    const pair = pairs.find((each) => each.startsWith(`${name}=`))
    if (pair !== undefined) return verifiedToken(pair.slice(name.length + 1), secret)
  }
  return undefined
}

function verifiedToken(encoded: string, secret: string): string | undefined {
  let value: string
  try {
    value = decodeURIComponent(encoded)
  } catch {
    return undefined
  }
  const end = value.lastIndexOf('.')
  if (end < 1) return undefined
  const token = value.slice(0, end)
  const expected = createHmac('sha256', secret).update(token).digest()
  const given = Buffer.from(value.slice(end + 1), 'base64')
  return given.length === expected.length && timingSafeEqual(given, expected) ? token : undefined
}
