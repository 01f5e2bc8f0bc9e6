/** The second step of signing in: a code, after the password or the link. */
import { plainIp } from '../../customers/ip-allowlist.ts'
import { checkFactorCode } from '../../identity/sign-in/second-factor.ts'
import { AUTH_PATH } from '../../identity/sign-in/sign-in-terms.ts'
import { startWaitingSession } from '../../identity/sign-in/sessions.ts'
import type { HttpParts } from '../rest/parts.ts'
import { hiddenRoute } from '../rest/route.ts'
import { AUTH_BODY_BYTES_MAX, readBody } from './auth-body.ts'
import { factorHolder } from './limit-caller.ts'
import { isFromOwnPage, sendAuthJson, sendFault, sendTooMany } from './own-session.ts'

type Deps = Pick<HttpParts, 'config' | 'db' | 'signIn'>

export const codeRoutes = [
  hiddenRoute({
    method: 'POST',
    url: `${AUTH_PATH}/sign-in/code`,
    access: 'public',
    bodyBytesMax: AUTH_BODY_BYTES_MAX,
    async handle(request, reply, deps: Deps) {
      const { db, signIn } = deps
      const body = readBody(request, ['code'])
      if ('wrong' in body) return sendFault(reply, 400, 'INVALID_REQUEST', body.wrong)
      if (!isFromOwnPage(deps, request))
        return sendFault(
          reply,
          403,
          'INVALID_ORIGIN',
          'the request comes from a page of another site',
        )
      const waiting = await signIn.findWaitingSession(request.headers.cookie)
      if (!waiting)
        return sendFault(reply, 401, 'SIGN_IN_AGAIN', 'nenhuma entrada espera um código')
      const { code } = body.fields
      const given = typeof code === 'string' ? code : ''
      const checked = await checkFactorCode(
        db,
        signIn.factorKeys,
        factorHolder(deps, request, waiting, { isWaiting: true }),
        given,
      )
      if (checked.kind === 'too_many') return sendTooMany(reply, checked.retryAfter)
      if (checked.kind === 'wrong')
        return sendFault(reply, 400, 'INVALID_CODE', 'o código não confere, ou já foi usado')
      if (!(await startWaitingSession(db, waiting, plainIp(request.ip))))
        return sendFault(reply, 401, 'SIGN_IN_AGAIN', 'nenhuma entrada espera um código')
      return sendAuthJson(reply, 200, JSON.stringify({ status: true }))
    },
  }),
]
