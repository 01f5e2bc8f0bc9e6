/** Processes better-auth's answers: records the acts that better-auth has performed, and rewrites some answers. */
import type { FastifyRequest } from 'fastify'
import { findAwaitingFactor } from '../../identity/sign-in/find-awaiting-factor.ts'
import type { Session } from '../../identity/sign-in/sessions.ts'
import { recordNewPasskey, recordNewPassword } from '../../identity/sign-in/security-acts.ts'
import type { HttpParts } from '../rest/parts.ts'
import { actorOfSession } from './own-session.ts'

type Deps = Pick<HttpParts, 'db'>

interface Answered {
  readonly path: string
  readonly request: FastifyRequest
  readonly session: Session | undefined
  readonly answer: Response
}

export async function settle(deps: Deps, answered: Answered): Promise<Response> {
  const { path, session, answer } = answered
  if (path === '/sign-in/email') return withoutAwaited(deps, answer)
  if (path === '/passkey/generate-authenticate-options') return wantVerifiedUser(answer)
  if (path === '/passkey/verify-registration' && answer.status >= 500) return refused(answer)
  if (!session || !answer.ok) return answer
  if (path === '/passkey/verify-registration') return settlePasskey(deps, answered, session)
  if (path === '/change-password') return settleNewPassword(deps, answered, session)
  return answer
}

/** Reveals nothing of the account before the code of the second factor. */
async function withoutAwaited({ db }: Deps, answer: Response): Promise<Response> {
  if (!answer.ok || (await findAwaitingFactor(db, answer)) === undefined) return answer
  return rewritten(answer, 200, { awaitsFactor: true })
}

/** Without it the plugin would accept an unverified holder of the device, and refuse them only afterwards. */
async function wantVerifiedUser(answer: Response): Promise<Response> {
  if (!answer.ok) return answer
  const options = (await answer.json()) as object
  return rewritten(answer, 200, { ...options, userVerification: 'required' })
}

/** A credential for another challenge, or for none, is the client's fault. */
function refused(answer: Response): Response {
  const code = 'FAILED_TO_VERIFY_REGISTRATION'
  return rewritten(answer, 400, { code, message: 'não é a chave de acesso que foi pedida' })
}

async function settlePasskey(
  { db }: Deps,
  { answer, request }: Answered,
  session: Session,
): Promise<Response> {
  const { id, name } = (await answer.json()) as { id: string; name: string }
  await recordNewPasskey(db, actorOfSession(session, request), { session, id, name })
  return rewritten(answer, 200, { id, name })
}

/** A new password ends every other session. */
async function settleNewPassword(
  { db }: Deps,
  { answer, request }: Answered,
  session: Session,
): Promise<Response> {
  await recordNewPassword(db, actorOfSession(session, request), { session })
  return rewritten(answer, 200, { status: true })
}

/** Sends the answer with its cookies. */
function rewritten(answer: Response, status: number, body: object): Response {
  const headers = new Headers()
  for (const cookie of answer.headers.getSetCookie()) headers.append('set-cookie', cookie)
  return new Response(JSON.stringify(body), { status, headers })
}
