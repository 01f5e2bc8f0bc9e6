/**
 * `/auth/*`: better-auth behind a list of what of it may be asked, with which fields. Mail is sent, and passwords
 * are tried, so many times for one address and no more, wherever that is asked from.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { plainIp } from '../../customers/ip-allowlist.ts'
import { isMailAddress } from '../../email/mail-address.ts'
import { isObject } from '../../lib/is-object.ts'
import type { Auth } from '../../sign-in/create-auth.ts'
import { limitAttempts, type Limit } from '../../sign-in/limit-attempts.ts'
import { AUTH_PATH, CLIENT_IP_HEADER } from '../../sign-in/sign-in-terms.ts'
import type { HttpDeps } from '../http-deps.ts'
import { originOf } from '../leaving-client.ts'
import { restError } from '../rest-error.ts'

/** What may be asked, and the fields that are passed on; the others are not looked at. */
const POSTS: Readonly<Record<string, readonly string[]>> = {
  '/sign-up/email': ['name', 'email', 'password', 'referralCode'],
  '/sign-in/email': ['email', 'password', 'rememberMe'],
  '/sign-in/magic-link': ['email', 'name'],
  '/sign-out': [],
  '/send-verification-email': ['email'],
  '/request-password-reset': ['email', 'redirectTo'],
  '/reset-password': ['token', 'newPassword'],
  '/change-password': ['currentPassword', 'newPassword', 'revokeOtherSessions'],
  '/revoke-session': ['token'],
  '/revoke-sessions': [],
  '/revoke-other-sessions': [],
}
const GETS = /^\/(get-session|list-sessions|reset-password\/[A-Za-z0-9]{1,64})$/

/** Of one address, whoever asks. A link by mail is another way in than the password. */
const PASSWORDS: Limit = { max: 10, seconds: 600 }
const MAILS: Limit = { max: 5, seconds: 3_600 }
const SENDS_MAIL = new Set([
  '/sign-up/email',
  '/sign-in/magic-link',
  '/send-verification-email',
  '/request-password-reset',
])

export const AUTH_BODY_BYTES_MAX = 8_192
const TEXT_MAX = 1_000
const LENGTHS: Readonly<Record<string, number>> = { name: 100, referralCode: 40, password: 200 }
const USER_AGENT_MAX = 400

export function addAuthRoutes(server: FastifyInstance, deps: HttpDeps): void {
  server.route<{ Params: { '*': string } }>({
    method: ['GET', 'POST'],
    url: `${AUTH_PATH}/*`,
    schema: { hide: true },
    bodyLimit: AUTH_BODY_BYTES_MAX,
    async handler(request, reply) {
      const path = `/${request.params['*']}`
      const fields = request.method === 'POST' ? POSTS[path] : undefined
      if (!fields && !(request.method === 'GET' && GETS.test(path)))
        return restError(reply, 404, 'not_found')
      const auth = await authOf(deps, request)
      if (!auth) return signInIsOff(reply)
      const body = fields && readBody(request, fields)
      if (body && 'wrong' in body) return fault(reply, 400, 'INVALID_REQUEST', body.wrong)
      const email = body?.fields['email']
      if (typeof email === 'string') {
        const retryAfter = await limitAddress(deps, path, email)
        if (retryAfter !== undefined) return tooMany(reply, retryAfter)
      }
      const answer = await auth.handler(webRequest(deps, request, body?.fields))
      return sendAnswer(reply, answer)
    },
  })
}

export async function authOf(deps: HttpDeps, request: FastifyRequest): Promise<Auth | undefined> {
  const origin = originOf(request, deps.publicUrl)
  return URL.canParse(origin) ? deps.signIn.authFor(new URL(origin).origin) : undefined
}

export function signInIsOff(reply: FastifyReply): FastifyReply {
  return restError(reply, 503, 'sign_in_unavailable', 'the server does not know its PUBLIC_URL')
}

/** Undefined: go on. */
export async function limitAddress(
  { db }: HttpDeps,
  path: string,
  email: string,
): Promise<number | undefined> {
  const address = email.toLowerCase()
  if (path === '/sign-in/email') return limitAttempts(db, `password ${address}`, PASSWORDS)
  return SENDS_MAIL.has(path) ? limitAttempts(db, `mail ${address}`, MAILS) : undefined
}

/** What better-auth is told of who asks: nothing that a client could claim. */
export function clientHeaders(request: FastifyRequest): Headers {
  const { 'user-agent': userAgent = '', cookie, origin, referer } = request.headers
  const headers = new Headers({ [CLIENT_IP_HEADER]: plainIp(request.ip) })
  headers.set('user-agent', userAgent.slice(0, USER_AGENT_MAX))
  const given = { cookie, origin, referer }
  for (const [name, value] of Object.entries(given)) if (value) headers.set(name, value)
  for (const name of ['sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest']) {
    const value = request.headers[name]
    if (typeof value === 'string') headers.set(name, value)
  }
  return headers
}

/** With its cookies, each a header of its own. */
export function passCookies(reply: FastifyReply, answer: Response): void {
  const cookies = answer.headers.getSetCookie()
  if (cookies.length > 0) reply.header('set-cookie', cookies)
}

type Fields = Readonly<Record<string, unknown>>

function readBody(
  request: FastifyRequest,
  names: readonly string[],
): { fields: Fields } | { wrong: string } {
  const raw = request.body
  if (!Buffer.isBuffer(raw) || raw.length === 0) return { fields: {} }
  // What a form of elsewhere could send is none.
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
    return { wrong: 'content-type: must be application/json' }
  let body: unknown
  try {
    body = JSON.parse(raw.toString('utf8'))
  } catch {
    return { wrong: 'body: must be JSON' }
  }
  if (!isObject(body)) return { wrong: 'body: must be an object' }
  const fields: Record<string, unknown> = {}
  for (const name of names) {
    const value = (body as Fields)[name]
    if (value === undefined || value === null) continue
    const wrong = faultOf(name, value)
    if (wrong !== undefined) return { wrong: `${name}: ${wrong}` }
    fields[name] = value
  }
  return { fields }
}

function faultOf(name: string, value: unknown): string | undefined {
  if (typeof value === 'boolean') return undefined
  if (typeof value !== 'string') return 'must be text'
  if (!value.isWellFormed() || /\p{Cc}/u.test(value)) return 'must be one line of text'
  if (value.length > (LENGTHS[name] ?? TEXT_MAX)) return 'is too long'
  if (name === 'email' && !isMailAddress(value)) return 'must be an e-mail address'
  return undefined
}

function webRequest(deps: HttpDeps, request: FastifyRequest, fields: Fields | undefined): Request {
  const url = new URL(request.url, originOf(request, deps.publicUrl))
  const headers = clientHeaders(request)
  if (!fields) return new Request(url, { headers })
  headers.set('content-type', 'application/json')
  return new Request(url, { method: 'POST', headers, body: JSON.stringify(fields) })
}

async function sendAnswer(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  passCookies(reply, answer)
  const retryAfter = Number(answer.headers.get('x-retry-after'))
  if (answer.status === 429) return tooMany(reply, retryAfter || 60)
  const location = answer.headers.get('location')
  if (location !== null) reply.header('location', location)
  return reply
    .code(answer.status)
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(await answer.text())
}

function tooMany(reply: FastifyReply, retryAfter: number): FastifyReply {
  reply.header('retry-after', retryAfter)
  return fault(reply, 429, 'TOO_MANY_REQUESTS', `try again in ${retryAfter} s`)
}

/** As better-auth says it. */
function fault(reply: FastifyReply, status: number, code: string, message: string): FastifyReply {
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ code, message }))
}
