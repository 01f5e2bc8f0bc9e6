/**
 * Who people are that use the dashboard: users, who prove an e-mail, and their sessions. The protocol, the passwords
 * and the cookies are better-auth's (`create-auth.ts`); what a session is worth is decided here. It acts for the
 * customer who has the e-mail that its user proved, and for nobody once that customer has it no more. Routes are in
 * `src/http/sign-in`; API keys are no business of this room.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Database } from '../db/open.ts'
import { sha256 } from '../lib/ids.ts'
import { deriveKey } from '../lib/derive-key.ts'
import type { Log } from '../lib/log.ts'
import { createConfirmTokens, type ConfirmTokens } from './confirm-tokens.ts'
import type { Auth, createAuth } from './create-auth.ts'
import { readSessionToken } from './session-cookie.ts'
import type { FactorKeys } from './second-factor.ts'
import { findSession, findWaitingSession, type Session } from './sessions.ts'

export interface SignIn {
  /** By the origin that browsers know; undefined where it is not known which one is ours. */
  authFor(origin: string): Promise<Auth | undefined>
  readonly confirmTokens: ConfirmTokens
  /** Of a `Cookie` header. Asked of the database each time, so that whoever signed out is out, on every node. */
  findSession(cookies: string | undefined): Promise<Session | undefined>
  /** One that is nobody's until its user gives a code of the second factor. */
  findWaitingSession(cookies: string | undefined): Promise<Session | undefined>
  /** What the secrets of second factors are sealed with. */
  readonly factorKeys: FactorKeys
  /** What a page of ours sends along, and one of elsewhere cannot read. The same for the whole session. */
  csrfTokenOf(sessionId: string): string
  isCsrfToken(sessionId: string, token: unknown): boolean
}

/** Where no address is set each name by which a sandbox is reached has its own. */
const ORIGINS_MAX = 8

export function createSignIn(options: {
  readonly db: Database
  readonly sealingKey: Buffer
  readonly previousSealingKey?: Buffer | undefined
  readonly publicUrl: string | undefined
  readonly mode: 'sandbox' | 'live'
  readonly log: Log
}): SignIn {
  const { db, sealingKey, previousSealingKey, publicUrl, mode, log } = options
  const secret = deriveKey(sealingKey, 'sign-in').toString('base64url')
  const csrfKey = deriveKey(sealingKey, 'csrf tokens')
  const confirmTokens = createConfirmTokens(deriveKey(sealingKey, 'confirmed e-mails'))
  const auths = new Map<string, Promise<Auth>>()
  const csrfTokenOf = (sessionId: string): string =>
    createHmac('sha256', csrfKey).update(sessionId).digest('base64url')
  return {
    async authFor(origin) {
      // Links in mails hold it, and a request may claim any: believed of mails that nobody gets alone.
      if (publicUrl === undefined && mode === 'live') return undefined
      const own = publicUrl ?? origin
      let auth = auths.get(own)
      if (!auth) {
        auth = openAuth({ db, secret, origin: own, confirmTokens, log })
        const oldest = auths.size >= ORIGINS_MAX ? auths.keys().next().value : undefined
        if (oldest !== undefined) auths.delete(oldest)
        auths.set(own, auth)
      }
      return auth
    },
    confirmTokens,
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
      // Hashing first makes the lengths equal, so that the comparison tells nothing by its time.
      timingSafeEqual(sha256(token), sha256(csrfTokenOf(sessionId))),
  }
}

/** Loaded where it is needed only: its package takes 50 MB and a third of a second. */
async function openAuth(options: Parameters<typeof createAuth>[0]): Promise<Auth> {
  const loaded = await import('./create-auth.ts')
  return loaded.createAuth(options)
}
