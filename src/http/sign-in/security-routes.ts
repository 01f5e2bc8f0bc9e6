/**
 * The routes that guard an account, for its signed-in customer: the second factor, passkeys, accounts at providers, and
 * the list of sessions. They belong to the dashboard, as better-auth's do, and not to /v1. Acts that make an account easier to enter need a
 * recent proof: the sign-in itself, or the password or a code once more.
 */
import { sql } from 'kysely'
import type { Actor } from '../../platform/audit-log/audited.ts'
import { acceptTerms } from '../../customers/legal/legal-versions.ts'
import { isUuid } from '../../platform/lib/ids.ts'
import {
  beginSecondFactor,
  checkFirstCode,
  hasSecondFactor,
  checkFactorCode,
} from '../../identity/sign-in/second-factor.ts'
import {
  disableSecondFactor,
  enableSecondFactor,
  endOtherSessions,
  endSession,
  removePasskey,
  renewBackupCodes,
  unlinkProvider,
} from '../../identity/sign-in/security-acts.ts'
import { listPasskeys } from '../../identity/sign-in/passkeys.ts'
import { listLinkedAccounts, PROVIDERS } from '../../identity/sign-in/providers.ts'
import { actorOfSession, isPasswordOf } from './own-session.ts'
import { factorHolder, limitCaller } from './limit-caller.ts'
import { securityRoute, refusal, type SecurityCall } from './security-route.ts'
import { base32, totpUri } from '../../identity/sign-in/totp.ts'
import { listSessions, markProved, type Session } from '../../identity/sign-in/sessions.ts'
import type { HttpParts } from '../rest/parts.ts'
import { authOf } from './auth-routes.ts'

const secondFactor = [
  securityRoute('POST', '/second-factor/begin', {
    needs: 'proof',
    async handle({ session }, deps) {
      const secret = await beginSecondFactor(deps.db, deps.signIn.factorKeys, session.userId)
      if (!secret) throw refusal(409, 'SECOND_FACTOR_IS_ON')
      return drawSecret(secret, session.email)
    },
  }),
  securityRoute('POST', '/second-factor/enable', {
    fields: ['code'],
    needs: 'proof',
    async handle(call, deps) {
      const checked = await checkFirstCode(
        deps.db,
        deps.signIn.factorKeys,
        factorHolder(deps, call.request, call.session, { isWaiting: false }),
        call.text('code'),
      )
      if (checked.kind !== 'right') throw refusal(checked)
      const backupCodes = await enableSecondFactor(deps.db, actorOfCall(call), call)
      if (!backupCodes) throw refusal(409, 'SECOND_FACTOR_IS_ON')
      return { backupCodes }
    },
  }),
  securityRoute('POST', '/second-factor/disable', {
    needs: 'proof',
    async handle(call, deps) {
      if (!(await disableSecondFactor(deps.db, actorOfCall(call), call)))
        throw refusal(409, 'SECOND_FACTOR_IS_OFF')
      return { status: true }
    },
  }),
  securityRoute('POST', '/second-factor/backup-codes', {
    needs: 'proof',
    async handle(call, deps) {
      const backupCodes = await renewBackupCodes(deps.db, actorOfCall(call), call)
      if (!backupCodes) throw refusal(409, 'SECOND_FACTOR_IS_OFF')
      return { backupCodes }
    },
  }),
]

export const securityRoutes = [
  securityRoute('GET', '/security', {
    handle: ({ session }, deps) => securityState(deps, session),
  }),
  securityRoute('POST', '/security/prove', {
    fields: ['password', 'code'],
    handle: (call, deps) => proveAgain(deps, call),
  }),
  securityRoute('POST', '/legal/accept', {
    fields: ['version'],
    async handle(call, deps) {
      const input = { customerId: call.session.customerId, version: call.text('version') }
      if (!(await acceptTerms(deps.db, actorOfCall(call), input)))
        throw refusal(409, 'TERMS_CHANGED')
      return { status: true }
    },
  }),
  ...secondFactor,
  securityRoute('POST', '/passkeys/remove', {
    fields: ['id'],
    needs: 'proof',
    async handle(call, deps) {
      const input = { session: call.session, id: idOf(call) }
      if (!(await removePasskey(deps.db, actorOfCall(call), input)))
        throw refusal(404, 'PASSKEY_NOT_FOUND')
      return { status: true }
    },
  }),
  securityRoute('POST', '/providers/unlink', {
    fields: ['provider'],
    needs: 'proof',
    async handle(call, deps) {
      const provider = PROVIDERS.find((name) => name === call.text('provider'))
      const { session } = call
      if (!provider || !(await unlinkProvider(deps.db, actorOfCall(call), { session, provider })))
        throw refusal(404, 'PROVIDER_NOT_LINKED')
      return { status: true }
    },
  }),
  securityRoute('POST', '/sessions/end', {
    fields: ['id'],
    async handle(call, deps) {
      const input = { session: call.session, id: idOf(call) }
      if (!(await endSession(deps.db, actorOfCall(call), input)))
        throw refusal(404, 'SESSION_NOT_FOUND')
      return { status: true }
    },
  }),
  securityRoute('POST', '/sessions/end-others', {
    handle: async (call, deps) => ({
      ended: await endOtherSessions(deps.db, actorOfCall(call), call),
    }),
  }),
]

function actorOfCall({ session, request }: SecurityCall): Actor {
  return actorOfSession(session, request)
}

function idOf(call: SecurityCall): string {
  const id = call.text('id')
  if (!isUuid(id)) throw refusal(400, 'INVALID_REQUEST', 'id: deve ser um id')
  return id
}

/** For the authenticator app: a QR code to scan, and text to type. */
async function drawSecret(
  secret: Buffer,
  account: string,
): Promise<{ secret: string; uri: string; qrPng: string }> {
  const uri = totpUri(secret, account)
  const { toBuffer } = await import('qrcode')
  const png = await toBuffer(uri, { errorCorrectionLevel: 'M', margin: 2, width: 320 })
  return { secret: base32(secret), uri, qrPng: png.toString('base64') }
}

type Deps = Pick<HttpParts, 'config' | 'db' | 'signIn'>

/**
 * Asks the signed-in person to prove their identity again: by a code if a second factor is on, otherwise by the
 * password. A person with neither has to sign in again.
 */
async function proveAgain(deps: Deps, call: SecurityCall): Promise<object> {
  const { db, signIn } = deps
  const { session, request } = call
  const byCode = await hasSecondFactor(db, session.userId)
  if (byCode) {
    const holder = factorHolder(deps, request, session, { isWaiting: false })
    const checked = await checkFactorCode(db, signIn.factorKeys, holder, call.text('code'))
    if (checked.kind !== 'right') throw refusal(checked)
  } else {
    const auth = await authOf(deps, request)
    if (!auth) throw refusal(503, 'SIGN_IN_UNAVAILABLE')
    const limited = await limitCaller(deps, 'password', { request, email: session.email, session })
    if (limited.kind === 'refused')
      throw refusal({ kind: 'too_many', retryAfter: limited.retryAfter })
    if (!(await isPasswordOf(auth, session.userId, call.text('password'))))
      throw refusal(400, 'INVALID_PASSWORD')
    await limited.giveBack()
  }
  if (!(await markProved(db, { sessionId: session.id, byCode }))) throw refusal(401, 'UNAUTHORIZED')
  return { status: true }
}

interface Guards {
  readonly hasPassword: boolean
  readonly enabledAt: Date | null
  readonly backupCodesLeft: number
}

/** Returns the security settings of an account, without its secrets, for the dashboard's page. */
async function securityState({ db }: Pick<HttpParts, 'db'>, session: Session): Promise<object> {
  const { userId } = session
  const { rows } = await sql<Guards>`
    select
      exists (select 1 from sign_in_accounts a where a.user_id = u.id and a.password is not null) as "hasPassword",
      f.enabled_at as "enabledAt",
      (select count(*)::int4 from sign_in_backup_codes b where b.user_id = u.id) as "backupCodesLeft"
    from sign_in_users u left join sign_in_second_factors f on f.user_id = u.id
    where u.id = ${userId}`.execute(db)
  const [guards] = rows
  const passkeys = await listPasskeys(db, userId)
  const linkedAccounts = await listLinkedAccounts(db, userId)
  const sessions = await listSessions(db, userId)
  return {
    email: session.email,
    isProved: session.isProved,
    hasPassword: guards?.hasPassword ?? false,
    secondFactor: {
      enabledAt: guards?.enabledAt ?? null,
      backupCodesLeft: guards?.backupCodesLeft ?? 0,
    },
    passkeys,
    linkedAccounts,
    sessions: sessions.map((each) => ({ ...each, isThis: each.id === session.id })),
  }
}
