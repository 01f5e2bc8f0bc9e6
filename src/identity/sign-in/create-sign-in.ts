/**
 * The users of the dashboard, who verify an e-mail, and their login sessions. better-auth does the protocol, passwords
 * and cookies (`create-auth.ts`); this folder decides for whom a session may act: for the customer who has the e-mail
 * that its user verified, and for nobody once the customer's e-mail changes. The routes are in `src/http/sign-in`. API
 * keys are in `src/customers`.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Database } from '../../platform/db/open.ts'
import { sha256 } from '../../platform/lib/ids.ts'
import { deriveKey } from '../../platform/lib/sealing-key.ts'
import type { Log } from '../../platform/lib/log.ts'
import {
  createConfirmTokens,
  type ConfirmTokens,
  type Auth,
  type createAuth,
} from './create-auth.ts'
import { createDeviceCookies, type DeviceCookies } from './device-cookie.ts'
import { readSessionToken } from './session-cookie.ts'
import { PROVIDERS, type Provider, type ProviderClients } from './providers.ts'
import type { FactorKeys } from './second-factor.ts'
import { findSession, findWaitingSession, type Session } from './sessions.ts'

export interface SignIn {
  /** For the origin that the browser uses; undefined if our own origin is not configured. */
  authFor(origin: string): Promise<Auth | undefined>
  readonly confirmTokens: ConfirmTokens
  readonly devices: DeviceCookies
  /** The providers by whose accounts people may sign in. */
  readonly providers: readonly Provider[]
  /** Takes a `Cookie` header. Reads the database each time, so that signing out takes effect on every node at once. */
  findSession(cookies: string | undefined): Promise<Session | undefined>
  /** Finds a session that may not act before its user enters a code of the second factor. */
  findWaitingSession(cookies: string | undefined): Promise<Session | undefined>
  /** The keys that seal the secrets of second factors. */
  readonly factorKeys: FactorKeys
  /** The token that our pages send with each request and other sites cannot read. It is the same for the whole session. */
  csrfTokenOf(sessionId: string): string
  isCsrfToken(sessionId: string, token: unknown): boolean
}

/** Without a configured public URL, a sandbox keeps an instance for each origin by which it is reached, up to this many. */
const ORIGINS_MAX = 8

export function createSignIn(options: {
  readonly db: Database
  readonly sealingKey: Buffer
  readonly previousSealingKey?: Buffer | undefined
  readonly publicUrl: string | undefined
  readonly mode: 'sandbox' | 'live'
  readonly providers?: ProviderClients
  readonly log: Log
}): SignIn {
  const { db, sealingKey, previousSealingKey, publicUrl, mode, providers = {}, log } = options
  const secret = deriveKey(sealingKey, 'sign-in').toString('base64url')
  const csrfKey = deriveKey(sealingKey, 'csrf tokens')
  const confirmTokens = createConfirmTokens(deriveKey(sealingKey, 'confirmed e-mails'))
  const auths = new Map<string, Promise<Auth>>()
  const csrfTokenOf = (sessionId: string): string =>
    createHmac('sha256', csrfKey).update(sessionId).digest('base64url')
  return {
    async authFor(origin) {
      // Links in mails contain the origin, and a request can claim any: it is trusted in sandbox mode only, where no mail is sent.
      if (publicUrl === undefined && mode === 'live') return undefined
      const own = publicUrl ?? origin
      let auth = auths.get(own)
      if (!auth) {
        auth = openAuth({ db, secret, origin: own, confirmTokens, providers, log })
        const oldest = auths.size >= ORIGINS_MAX ? auths.keys().next().value : undefined
        if (oldest !== undefined) auths.delete(oldest)
        auths.set(own, auth)
      }
      return auth
    },
    confirmTokens,
    providers: PROVIDERS.filter((provider) => providers[provider] !== undefined),
    devices: createDeviceCookies(deriveKey(sealingKey, 'known devices')),
    async findSession(cookies) {
      const token = readSessionToken(cookies, secret)
      return token === undefined ? undefined : findSession(db, token)
    },
    async findWaitingSession(cookies) {
      const token = readSessionToken(cookies, secret)
      return token === undefined ? undefined : findWaitingSession(db, token)
    },
    factorKeys: { sealingKey, previousSealingKey },
    csrfTokenOf,
    isCsrfToken: (sessionId, token) =>
      typeof token === 'string' &&
      // Hashing makes the lengths equal, so the comparison takes constant time.
      timingSafeEqual(sha256(token), sha256(csrfTokenOf(sessionId))),
  }
}

/** Loads better-auth on first use: it takes 50 MB and a third of a second. */
async function openAuth(options: Parameters<typeof createAuth>[0]): Promise<Auth> {
  const loaded = await import('./create-auth.ts')
  return loaded.createAuth(options)
}
