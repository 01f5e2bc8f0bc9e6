import { hasSecondFactor, checkFactorCode } from '../../identity/sign-in/second-factor.ts'
import { markProved } from '../../identity/sign-in/sessions.ts'
import type { HttpParts } from '../rest/parts.ts'
import { authOf } from './auth-routes.ts'
import { isPasswordOf } from './is-password-of.ts'
import { factorHolder, limitCaller } from './limit-caller.ts'
import { refusal, type SecurityCall } from './security-route.ts'

type Deps = Pick<HttpParts, 'config' | 'db' | 'signIn'>

/**
 * Asks the signed-in person to prove their identity again: by a code if a second factor is on, otherwise by the
 * password. A person with neither has to sign in again.
 */
export async function proveAgain(deps: Deps, call: SecurityCall): Promise<object> {
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
