import { betterAuth } from 'better-auth'
import { magicLink } from 'better-auth/plugins/magic-link'
import { findCustomer } from '../../customers/customers.ts'
import type { Database } from '../../platform/db/open.ts'
import { queueMail } from '../../deliveries/email/queue-mail.ts'
import type { TemplateName } from '../../deliveries/email/render-mail.ts'
import { createId, sha256 } from '../../platform/lib/ids.ts'
import type { Log } from '../../platform/lib/log.ts'
import { authTables } from './auth-tables.ts'
import type { ConfirmTokens } from './confirm-tokens.ts'
import { ensureCustomer } from './ensure-customer.ts'
import { limitAttempts } from '../../platform/admission/attempts.ts'
import { passkeyPlugin } from './passkey-plugin.ts'
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
import { recordPasswordReset } from './security-acts.ts'
import { recordSessionStarted } from './start-session.ts'

export type Auth = ReturnType<typeof createAuth>

const SESSION_DAYS = 14
const LINK_MINUTES = 15
const PASSWORD_SIGN_IN = '/sign-in/email'
const PASSKEY_SIGN_IN = '/passkey/verify-authentication'
const NEW_PASSWORD_MINUTES = 60

export function createAuth(options: {
  readonly db: Database
  readonly secret: string
  /** The origin at which browsers reach this server. */
  readonly origin: string
  readonly confirmTokens: ConfirmTokens
  readonly log: Log
}) {
  const { db, secret, origin, confirmTokens, log } = options
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
      sendResetPassword: ({ user, url, token }) =>
        mail('nova_senha', user.email, newPasswordLink(url, token)),
      onPasswordReset: ({ user }) => recordPasswordReset(db, user),
      // Only the mail says that an account exists; the answer is the same in both cases.
      onExistingUserSignUp: ({ user }) =>
        user.emailVerified
          ? mail('conta_existente', user.email, `${origin}/entrar`)
          : mail('confirmar_email', user.email, confirmLink(user.id)),
    },
    emailVerification: {
      sendOnSignUp: true,
      sendOnSignIn: false,
      sendVerificationEmail: ({ user }) =>
        mail('confirmar_email', user.email, confirmLink(user.id)),
    },
    user: {
      ...authTables().user,
      changeEmail: { enabled: false },
      deleteUser: { enabled: false },
    },
    plugins: [
      magicLink({
        expiresIn: LINK_MINUTES * 60,
        sendMagicLink: ({ email, token, metadata }) =>
          mail('link_de_entrada', email, `${origin}${LINK_PATH}?${linkQuery(token, metadata)}`),
        rateLimit: { window: 60, max: 10 },
      }),
      passkeyPlugin(origin, db),
    ],
    databaseHooks: {
      session: {
        create: {
          // No hook shares the transaction of better-auth's write. Before the write, a row may stay of a session that
          // was not stored; after it, a session could act that is in no row.
          async before(session, context) {
            const ip = context?.headers?.get(CLIENT_IP_HEADER) ?? undefined
            const customerId = await ensureCustomer(db, session.userId, {
              ip,
              hasPassword: context?.path === PASSWORD_SIGN_IN,
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

/** Queues a mail with a link. The reference is unique per mail, so no mail counts as a duplicate. */
function createMail(db: Database) {
  return async (template: TemplateName, email: string, url: string): Promise<void> => {
    const customer = await findCustomer(db, email)
    await queueMail(db, {
      customerId: customer?.id ?? null,
      email,
      template,
      data: { url },
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
