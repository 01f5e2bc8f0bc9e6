/**
 * `/auth/*`: better-auth behind a list of the allowed requests and their fields. The mails and the wrong passwords for
 * one address are limited (`limit-sign-in.ts`). `security-routes.ts` has the routes that guard an account.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { plainIp } from '../../customers/ip-allowlist.ts'
import type { Auth } from '../../identity/sign-in/create-auth.ts'
import type { SignInLimited } from '../../identity/sign-in/limit-sign-in.ts'
import { type Session, startWaitingSession } from '../../identity/sign-in/sessions.ts'
import { CURRENT_LEGAL_VERSION } from '../../customers/legal/legal-versions.ts'
import { AUTH_PATH, CLIENT_IP_HEADER } from '../../identity/sign-in/sign-in-terms.ts'
import type { HttpParts } from '../rest/parts.ts'
import { originOf, visitorLanguage } from '../rest/request-headers.ts'
import { hiddenRoute } from '../rest/route.ts'
import { restError } from '../rest/rest-refusal.ts'
import { AUTH_BODY_BYTES_MAX, readBody, type Fields } from './auth-body.ts'
import { limitCaller, type SignInCaller, factorHolder } from './limit-caller.ts'
import {
  ownSession,
  type Needs,
  sendAuthJson,
  sendFault,
  sendTooMany,
  isFromOwnPage,
} from './own-session.ts'
import { settle } from './settle-answer.ts'
import { checkFactorCode } from '../../identity/sign-in/second-factor.ts'

type Deps = Pick<HttpParts, 'config' | 'db' | 'signIn'>

interface Asked {
  /** The fields that are passed on; all others are ignored. */
  readonly fields?: readonly string[]
  readonly needs?: Needs
  /** The answer is the same for every caller, so the session is not passed on. */
  readonly isOfNobody?: true
}

/** The allowed requests. */
const ASKED: Readonly<Record<string, Asked>> = {
  'POST /sign-up/email': { fields: ['name', 'email', 'password', 'referralCode', 'acceptedTerms'] },
  'POST /sign-in/email': { fields: ['email', 'password', 'rememberMe'] },
  'POST /sign-in/magic-link': { fields: ['email', 'name', 'returnTo'] },
  'POST /sign-out': {},
  'POST /send-verification-email': { fields: ['email'] },
  'POST /request-password-reset': { fields: ['email', 'redirectTo'] },
  'POST /reset-password': { fields: ['token', 'newPassword'] },
  'POST /change-password': { fields: ['currentPassword', 'newPassword'], needs: 'session' },
  'GET /get-session': { needs: 'session' },
  'GET /passkey/generate-authenticate-options': { isOfNobody: true },
  'POST /passkey/verify-authentication': { fields: ['response'] },
  'GET /passkey/generate-register-options': { needs: 'proof' },
  'POST /passkey/verify-registration': { fields: ['response', 'name'], needs: 'proof' },
}
const RESET_LINK = /^\/reset-password\/[A-Za-z0-9]{1,64}$/

const SENDS_MAIL = new Set([
  '/sign-up/email',
  '/sign-in/magic-link',
  '/send-verification-email',
  '/request-password-reset',
])
const TRIES_PASSWORD = new Set(['/sign-in/email', '/change-password'])

const TERMS_WANTED = 'acceptedTerms: deve ser a versão de GET /auth/legal'
const USER_AGENT_MAX = 400

export const authRoutes = [
  hiddenRoute({
    method: ['GET', 'POST'],
    url: `${AUTH_PATH}/*`,
    access: 'public',
    bodyBytesMax: AUTH_BODY_BYTES_MAX,
    async handle(request, reply, deps: Deps) {
      const path = `/${(request.params as { '*': string })['*']}`
      const asked = askedOf(request.method, path)
      if (!asked) return restError(reply, 404, 'not_found')
      const auth = await authOf(deps, request)
      if (!auth) return signInIsOff(reply)
      const body = readBody(request, asked.fields ?? [])
      if ('wrong' in body) return sendFault(reply, 400, 'INVALID_REQUEST', body.wrong)
      if (path === '/sign-up/email' && body.fields['acceptedTerms'] !== CURRENT_LEGAL_VERSION)
        return sendFault(reply, 400, 'TERMS_NOT_ACCEPTED', TERMS_WANTED)
      let session: Session | undefined
      if (asked.needs) {
        session = await ownSession(deps, request, reply, asked.needs)
        if (!session) return reply
      }
      const email = session?.email ?? body.fields['email']
      const limited =
        typeof email === 'string'
          ? await limitRequest(deps, path, { request, email, session })
          : undefined
      if (limited?.kind === 'refused') return sendTooMany(reply, limited.retryAfter)
      const passed = webRequest(deps, request, body.fields)
      if (asked.isOfNobody) passed.headers.delete('cookie')
      const answer = await auth.handler(passed)
      if (answer.ok && TRIES_PASSWORD.has(path)) await limited?.giveBack()
      return sendAnswer(reply, await settle(deps, { path, request, session, answer }))
    },
  }),
]

function askedOf(method: string, path: string): Asked | undefined {
  if (method === 'GET' && RESET_LINK.test(path)) return {}
  const name = `${method} ${path}`
  return Object.hasOwn(ASKED, name) ? ASKED[name] : undefined
}

export async function authOf(deps: Deps, request: FastifyRequest): Promise<Auth | undefined> {
  const origin = originOf(request, deps.config.publicUrl)
  return URL.canParse(origin) ? deps.signIn.authFor(new URL(origin).origin) : undefined
}

export function signInIsOff(reply: FastifyReply): FastifyReply {
  return restError(
    reply,
    503,
    'sign_in_unavailable',
    'o servidor não sabe o próprio endereço (PUBLIC_URL)',
  )
}

/** Undefined for requests that neither try a password nor send a mail. */
async function limitRequest(
  deps: Deps,
  path: string,
  client: SignInCaller,
): Promise<SignInLimited | undefined> {
  if (TRIES_PASSWORD.has(path)) return limitCaller(deps, 'password', client)
  return SENDS_MAIL.has(path) ? limitCaller(deps, 'mail', client) : undefined
}

/** Returns the headers that better-auth receives, without any that a client could forge. */
export function clientHeaders(request: FastifyRequest): Headers {
  const { 'user-agent': userAgent = '', cookie, origin, referer } = request.headers
  const headers = new Headers({ [CLIENT_IP_HEADER]: plainIp(request.ip) })
  headers.set('user-agent', userAgent.slice(0, USER_AGENT_MAX))
  headers.set('accept-language', visitorLanguage(request))
  const given = { cookie, origin, referer }
  for (const [name, value] of Object.entries(given)) if (value) headers.set(name, value)
  for (const name of ['sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest']) {
    const value = request.headers[name]
    if (typeof value === 'string') headers.set(name, value)
  }
  return headers
}

/** Sends the answer with its cookies, each in a separate header. */
export function passCookies(reply: FastifyReply, answer: Response): void {
  const cookies = answer.headers.getSetCookie()
  if (cookies.length > 0) reply.header('set-cookie', cookies)
}

function webRequest(deps: Deps, request: FastifyRequest, fields: Fields): Request {
  const url = new URL(request.url, originOf(request, deps.config.publicUrl))
  const headers = clientHeaders(request)
  if (request.method !== 'POST') return new Request(url, { headers })
  headers.set('content-type', 'application/json')
  const { returnTo, ...passed } = fields
  // Our own data for a link is in its metadata.
  const body = returnTo === undefined ? passed : { ...passed, metadata: { returnTo } }
  return new Request(url, { method: 'POST', headers, body: JSON.stringify(body) })
}

async function sendAnswer(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  passCookies(reply, answer)
  const retryAfter = Number(answer.headers.get('x-retry-after'))
  if (answer.status === 429) return sendTooMany(reply, retryAfter || 60)
  const location = answer.headers.get('location')
  if (location !== null) reply.header('location', location)
  return sendAuthJson(reply, answer.status, await answer.text())
}

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
