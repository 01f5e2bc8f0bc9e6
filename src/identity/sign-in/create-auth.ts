import { createHmac, timingSafeEqual } from 'node:crypto'
import { betterAuth } from 'better-auth'
import { magicLink } from 'better-auth/plugins/magic-link'
import { APIError, getOAuthState } from 'better-auth/api'
import { passkey } from '@better-auth/passkey'
import { findCustomer } from '../../customers/customers.ts'
import type { Database } from '../../platform/db/open.ts'
import { queueMail } from '../../deliveries/email/queue-mail.ts'
import type { TemplateName } from '../../deliveries/email/render-mail.ts'
import { createId, sha256, isUuid } from '../../platform/lib/ids.ts'
import { languageOf } from '../../platform/lib/language.ts'
import type { Log } from '../../platform/lib/log.ts'
import { authTables } from './auth-tables.ts'
import { ensureCustomer } from './ensure-customer.ts'
import { limitAttempts } from '../../platform/admission/attempts.ts'
import { hasSecondFactor } from './second-factor.ts'
import { cookiePrefix } from './session-cookie.ts'
import {
  AUTH_PATH,
  CLIENT_IP_HEADER,
  CONFIRM_PATH,
  LINK_PATH,
  NEW_PASSWORD_PATH,
  PASSWORD_MAX,
  PASSWORD_MIN,
} from './sign-in-terms.ts'
import {
  type Provider,
  type ProviderClients,
  socialProviders,
  WITHOUT_TOKENS,
} from './providers.ts'
import { recordLinkedProvider, recordPasswordReset } from './security-acts.ts'
import { recordSessionStarted } from './sessions.ts'
import { listPasskeys } from './passkeys.ts'

/**
 * Tokens for the links that confirm an e-mail address: the user's id, the expiry and a signature. A token proves access
 * to the mailbox. It must not sign anybody in, because another person may have set the password.
 */
export interface ConfirmTokens {
  make(userId: string): string
  /** Returns undefined for a foreign or expired token. */
  userOf(token: string): string | undefined
}

const HOURS = 24
const ID_BYTES = 16
const BODY_BYTES = ID_BYTES + 4
const SIGNATURE_BYTES = 16
const TOKEN_LENGTH = ((BODY_BYTES + SIGNATURE_BYTES) * 4) / 3

export function createConfirmTokens(key: Buffer, now: () => number = Date.now): ConfirmTokens {
  const sign = (body: Buffer): Buffer =>
    createHmac('sha256', key).update(body).digest().subarray(0, SIGNATURE_BYTES)
  return {
    make(userId) {
      if (!isUuid(userId)) throw new Error('the id of the user is not a UUID')
      const body = Buffer.alloc(BODY_BYTES)
      Buffer.from(userId.replaceAll('-', ''), 'hex').copy(body)
      body.writeUInt32BE(Math.floor(now() / 1000) + HOURS * 3600, ID_BYTES)
      return Buffer.concat([body, sign(body)]).toString('base64url')
    },
    userOf(token) {
      const bytes = Buffer.from(token, 'base64url')
      // The decoder skips invalid characters; encoding again detects them.
      if (token.length !== TOKEN_LENGTH || bytes.toString('base64url') !== token) return undefined
      const body = bytes.subarray(0, BODY_BYTES)
      if (!timingSafeEqual(sign(body), bytes.subarray(BODY_BYTES))) return undefined
      if (body.readUInt32BE(ID_BYTES) * 1000 < now()) return undefined
      const hex = body.subarray(0, ID_BYTES).toString('hex')
      return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    },
  }
}

/** Per user. */
const PASSKEYS_MAX = 20
/** The name of a new passkey. */
const NAMELESS = 'Chave de acesso'

/** A passkey signs in without a second factor, so the device must verify its user by fingerprint, face or PIN. */
function passkeyPlugin(origin: string, db: Database) {
  return passkey({
    rpID: new URL(origin).hostname,
    rpName: 'Catraca',
    origin,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    // The plugin itself accepts passkeys without user verification.
    registration: {
      async afterVerification({ verification, user }) {
        if (verification.registrationInfo?.userVerified !== true) throw unverified()
        if ((await listPasskeys(db, user.id)).length >= PASSKEYS_MAX)
          throw new APIError('CONFLICT', { code: 'TOO_MANY_PASSKEYS', message: 'remove one first' })
        return { userId: user.id, name: NAMELESS }
      },
    },
    authentication: {
      afterVerification({ verification }) {
        if (!verification.authenticationInfo.userVerified) throw unverified()
      },
    },
    advanced: { webAuthnChallengeCookie: 'passkey_challenge' },
    schema: {
      passkey: {
        modelName: 'sign_in_passkeys',
        fields: {
          publicKey: 'public_key',
          userId: 'user_id',
          credentialID: 'credential_id',
          deviceType: 'device_type',
          backedUp: 'is_backed_up',
          createdAt: 'created_at',
        },
      },
    },
  })
}

function unverified(): APIError {
  return new APIError('UNAUTHORIZED', {
    code: 'USER_NOT_VERIFIED',
    message: 'the authenticator did not verify its user',
  })
}

export type Auth = ReturnType<typeof createAuth>

const SESSION_DAYS = 14
const LINK_MINUTES = 15
const PASSWORD_SIGN_IN = '/sign-in/email'
const PASSKEY_SIGN_IN = '/passkey/verify-authentication'
const PROVIDER_SIGN_IN = '/callback/:id'
const NEW_PASSWORD_MINUTES = 60

export function createAuth(options: {
  readonly db: Database
  readonly secret: string
  /** The origin at which browsers reach this server. */
  readonly origin: string
  readonly confirmTokens: ConfirmTokens
  readonly providers: ProviderClients
  readonly log: Log
}) {
  const { db, secret, origin, confirmTokens, providers, log } = options
  const isSecure = origin.startsWith('https:')
  const mail = createMail(db)
  const confirmLink = (userId: string): string =>
    `${origin}${CONFIRM_PATH}?token=${confirmTokens.make(userId)}`
  return betterAuth({
    appName: 'Catraca',
    baseURL: origin,
    basePath: AUTH_PATH,
    trustedOrigins: [origin],
    // Given as a list, or better-auth would read an environment variable instead.
    secrets: [{ version: 1, value: secret }],
    secret,
    // Transactions of better-auth would keep one connection while its hooks wait for a second one.
    database: { db, type: 'postgres', transaction: false },
    telemetry: { enabled: false },
    logger: {
      level: 'error',
      // Refusals are normal and no fault of the server.
      log(_level, message, ...more) {
        const error = more.find((each) => each instanceof Error)
        if (error) log.error('sign_in_failed', { message, error })
        else log.debug('sign_in_refused', { message })
      },
    },
    // Otherwise its router would print errors with all fields, among them the row that PostgreSQL refused.
    onAPIError: { throw: true },
    ...authTables(),
    verification: {
      ...authTables().verification,
      storeIdentifier: 'hashed',
    },
    session: {
      ...authTables().session,
      expiresIn: SESSION_DAYS * 86_400,
      // A login session ends after `SESSION_DAYS`, however much it was used.
      disableSessionRefresh: true,
      // Sensitive routes check by themselves when the user last proved their identity (`src/http/sign-in`).
      freshAge: 0,
    },
    emailAndPassword: {
      enabled: true,
      requireEmailVerification: true,
      autoSignIn: false,
      minPasswordLength: PASSWORD_MIN,
      maxPasswordLength: PASSWORD_MAX,
      resetPasswordTokenExpiresIn: NEW_PASSWORD_MINUTES * 60,
      revokeSessionsOnPasswordReset: true,
      sendResetPassword: ({ user, url, token }, request) =>
        mail('nova_senha', user.email, newPasswordLink(url, token), request),
      onPasswordReset: ({ user }) => recordPasswordReset(db, user),
      // Only the mail says that an account exists; the answer is the same in both cases.
      onExistingUserSignUp: ({ user }, request) =>
        user.emailVerified
          ? mail('conta_existente', user.email, `${origin}/entrar`, request)
          : mail('confirmar_email', user.email, confirmLink(user.id), request),
    },
    emailVerification: {
      sendOnSignUp: true,
      sendOnSignIn: false,
      sendVerificationEmail: ({ user }, request) =>
        mail('confirmar_email', user.email, confirmLink(user.id), request),
    },
    socialProviders: socialProviders(providers),
    account: {
      ...authTables().account,
      updateAccountOnSignIn: false,
      accountLinking: {
        // Whoever signs up with an address has not proved it: their password stays with the user.
        requireLocalEmailVerified: true,
        trustedProviders: [],
      },
    },
    user: {
      ...authTables().user,
      validateUserInfo: ({ user, source }) =>
        source.method === 'oauth' ? refuseUnproved(db, user) : undefined,
      changeEmail: { enabled: false },
      deleteUser: { enabled: false },
    },
    plugins: [
      magicLink({
        expiresIn: LINK_MINUTES * 60,
        sendMagicLink: ({ email, token, metadata }, context) =>
          mail(
            'link_de_entrada',
            email,
            `${origin}${LINK_PATH}?${linkQuery(token, metadata)}`,
            context?.request,
          ),
        rateLimit: { window: 60, max: 10 },
      }),
      passkeyPlugin(origin, db),
    ],
    databaseHooks: {
      account: {
        create: {
          async before({ userId, providerId }, context) {
            if (providerId === 'credential') return undefined
            const ip = context?.headers?.get(CLIENT_IP_HEADER) ?? undefined
            await recordLinkedProvider(db, { userId, provider: providerId as Provider, ip })
            return { data: WITHOUT_TOKENS }
          },
        },
      },
      session: {
        create: {
          // No hook shares the transaction of better-auth's write. Before the write, a row may stay of a session that
          // was not stored; after it, a session could act that is in no row.
          async before(session, context) {
            const ip = context?.headers?.get(CLIENT_IP_HEADER) ?? undefined
            const customerId = await ensureCustomer(db, session.userId, {
              ip,
              locale: languageOf(context?.headers?.get('accept-language') ?? ''),
              hasPassword: context?.path === PASSWORD_SIGN_IN,
              referralCode:
                context?.path === PROVIDER_SIGN_IN ? await findReferralCode() : undefined,
            })
            // Every way to sign in asks for the second factor, except a passkey, which is two factors by itself.
            const isByPasskey = context?.path === PASSKEY_SIGN_IN
            const awaitsFactor = !isByPasskey && (await hasSecondFactor(db, session.userId))
            if (!awaitsFactor) await recordSessionStarted(db, customerId, ip)
            return { data: { awaitsFactor, ...(isByPasskey ? { factorAt: new Date() } : {}) } }
          },
        },
      },
    },
    rateLimit: {
      enabled: true,
      window: 60,
      max: 60,
      customRules: {
        '/get-session': false,
        '/sign-in/email': { window: 60, max: 10 },
        '/sign-up/email': { window: 60, max: 10 },
        '/sign-in/magic-link': { window: 60, max: 10 },
        '/request-password-reset': { window: 60, max: 5 },
        '/send-verification-email': { window: 60, max: 5 },
        '/passkey/*': { window: 60, max: 20 },
        '/sign-in/social': { window: 60, max: 20 },
        '/callback/*': { window: 60, max: 20 },
      },
      customStorage: {
        get: async () => null,
        set: async () => {},
        async consume(key, { window, max }) {
          const retryAfter = await limitAttempts(db, `address ${key}`, { seconds: window, max })
          return { allowed: retryAfter === undefined, retryAfter: retryAfter ?? null }
        },
      },
    },
    advanced: {
      cookiePrefix: cookiePrefix(origin),
      // It would prefix the cookie names once more.
      useSecureCookies: false,
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', secure: isSecure, path: '/' },
      ipAddress: { ipAddressHeaders: [CLIENT_IP_HEADER] },
      database: { generateId: () => createId(), validateSchema: false },
    },
  })
}

/**
 * An account at a provider is worth what its address is: it makes a user, is linked to one, and signs one in, only
 * while the provider says that the user's address is verified. Otherwise it would stay a key to an address that its
 * owner lost, or never had.
 */
async function refuseUnproved(
  db: Database,
  { id, email, emailVerified }: { id?: string; email?: string; emailVerified?: boolean },
): Promise<{ error: string } | undefined> {
  if (emailVerified !== true) return { error: 'email_not_verified' }
  if (id === undefined) return undefined
  const user = await db
    .selectFrom('sign_in_users')
    .select('email')
    .where('id', '=', id)
    .executeTakeFirst()
  return user?.email === email ? undefined : { error: 'account_not_linked' }
}

/** The code with which somebody began to sign up by a provider; a text of the browser's. */
async function findReferralCode(): Promise<string | undefined> {
  const code: unknown = (await getOAuthState())?.['referralCode']
  return typeof code === 'string' ? code : undefined
}

/**
 * Queues a mail with a link. The reference is unique per mail, so no mail counts as a duplicate. A reader without an account
 * gets it in the language of the request.
 */
function createMail(db: Database) {
  return async (
    template: TemplateName,
    email: string,
    url: string,
    request: Request | undefined,
  ): Promise<void> => {
    const customer = await findCustomer(db, email)
    await queueMail(db, {
      customerId: customer?.id ?? null,
      email,
      template,
      // The header is a stranger's text of any length: only its language is kept.
      data: { url, locale: languageOf(request?.headers.get('accept-language') ?? '') },
      reference: sha256(`${url} ${createId()}`).toString('hex'),
    })
  }
}

/** Includes the page to return to, if one was requested. */
function linkQuery(token: string, metadata: Readonly<Record<string, unknown>> = {}): string {
  const { returnTo } = metadata
  return String(
    new URLSearchParams({ token, ...(typeof returnTo === 'string' ? { returnTo } : {}) }),
  )
}

/** The link leads to the caller's own page, if a callback address was given, or else to our page. */
function newPasswordLink(url: string, token: string): string {
  const link = new URL(url)
  return link.searchParams.get('callbackURL')
    ? url
    : `${link.origin}${NEW_PASSWORD_PATH}?token=${token}`
}
