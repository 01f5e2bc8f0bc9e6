/**
 * The routes that guard an account, for its signed-in customer: the second factor, passkeys, and the list of sessions.
 * They belong to the dashboard, as better-auth's do, and not to /v1. Acts that make an account easier to enter need a
 * recent proof: the sign-in itself, or the password or a code once more.
 */
import { audited, type RecordAct } from '../../audit-log/audited.ts'
import { plainIp } from '../../customers/ip-allowlist.ts'
import type { Database } from '../../db/open.ts'
import type { SecurityAct } from '../../email/security-templates.ts'
import { isUuid } from '../../lib/ids.ts'
import { removePasskey } from '../../sign-in/passkeys.ts'
import {
  beginSecondFactor,
  checkFirstCode,
  disableSecondFactor,
  enableSecondFactor,
  renewBackupCodes,
} from '../../sign-in/second-factor.ts'
import { endOtherSessions, endSession } from '../../sign-in/sessions.ts'
import { reportSecurityAct } from '../../sign-in/report-security-act.ts'
import type { SignInDeps } from './sign-in-deps.ts'
import { actorOfSession } from './actor-of-session.ts'
import { drawSecret } from './draw-secret.ts'
import { proveAgain } from './prove-again.ts'
import { securityRoute, refusal, type SecurityCall } from './security-route.ts'
import { securityState } from './security-state.ts'

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
      const { userId, customerId } = call.session
      const checked = await checkFirstCode(
        deps.db,
        deps.signIn.factorKeys,
        userId,
        call.text('code'),
      )
      if (checked.kind !== 'right') throw refusal(checked)
      return act(deps, call, async (trx, report) => {
        const backupCodes = await enableSecondFactor(trx, userId)
        if (!backupCodes) throw refusal(409, 'SECOND_FACTOR_IS_ON')
        await report('second_factor.enabled', customerId)
        return { backupCodes }
      })
    },
  }),
  securityRoute('POST', '/second-factor/disable', {
    needs: 'proof',
    handle: (call, deps) =>
      act(deps, call, async (trx, report) => {
        if (!(await disableSecondFactor(trx, call.session.userId)))
          throw refusal(409, 'SECOND_FACTOR_IS_OFF')
        await report('second_factor.disabled', call.session.customerId)
        return { status: true }
      }),
  }),
  securityRoute('POST', '/second-factor/backup-codes', {
    needs: 'proof',
    handle: (call, deps) =>
      act(deps, call, async (trx, report) => {
        const backupCodes = await renewBackupCodes(trx, call.session.userId)
        if (!backupCodes) throw refusal(409, 'SECOND_FACTOR_IS_OFF')
        await report('backup_codes.renewed', call.session.customerId)
        return { backupCodes }
      }),
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
  ...secondFactor,
  securityRoute('POST', '/passkeys/remove', {
    fields: ['id'],
    needs: 'proof',
    handle: (call, deps) =>
      act(deps, call, async (trx, report) => {
        const id = idOf(call)
        const name = await removePasskey(trx, { userId: call.session.userId, id })
        if (name === undefined) throw refusal(404, 'PASSKEY_NOT_FOUND')
        await report('passkey.removed', id, { name })
        return { status: true }
      }),
  }),
  securityRoute('POST', '/sessions/end', {
    fields: ['id'],
    handle: (call, deps) =>
      act(deps, call, async (trx, report) => {
        const id = idOf(call)
        if (!(await endSession(trx, { userId: call.session.userId, id })))
          throw refusal(404, 'SESSION_NOT_FOUND')
        await report('session.ended', id)
        return { status: true }
      }),
  }),
  securityRoute('POST', '/sessions/end-others', {
    handle: (call, deps) =>
      act(deps, call, async (trx, report) => {
        const ended = await endOtherSessions(trx, call.session)
        if (ended > 0)
          await report('sessions.ended', call.session.customerId, { details: { ended } })
        return { ended }
      }),
  }),
]

type ReportAct = (
  act: SecurityAct,
  subjectId: string,
  more?: { details?: Readonly<Record<string, number>>; name?: string },
) => Promise<void>

/** Runs the work, its audit row and its mail in one transaction. */
function act<Result>(
  { db }: SignInDeps,
  { session, request }: SecurityCall,
  work: (trx: Database, report: ReportAct) => Promise<Result>,
): Promise<Result> {
  const { customerId } = session
  return audited(db, actorOfSession(session, request), (trx: Database, record: RecordAct) =>
    work(trx, (done, subjectId, more) =>
      reportSecurityAct(trx, record, {
        act: done,
        customerId,
        subjectId,
        ip: plainIp(request.ip),
        ...more,
      }),
    ),
  )
}

function idOf(call: SecurityCall): string {
  const id = call.text('id')
  if (!isUuid(id)) throw refusal(400, 'INVALID_REQUEST', 'id: must be an id')
  return id
}
