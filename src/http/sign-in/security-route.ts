import type { FastifyRequest } from 'fastify'
import type { Checked } from '../../identity/sign-in/second-factor.ts'
import type { Session } from '../../identity/sign-in/sessions.ts'
import { AUTH_PATH } from '../../identity/sign-in/sign-in-terms.ts'
import type { HttpParts } from '../rest/parts.ts'
import { hiddenRoute, type Route } from '../rest/route.ts'
import { AUTH_BODY_BYTES_MAX, readBody } from './auth-body.ts'
import { ownSession, type Needs, sendAuthJson, sendFault, sendTooMany } from './own-session.ts'

type Deps = Pick<HttpParts, 'config' | 'db' | 'signIn'>

export interface SecurityCall {
  readonly session: Session
  readonly request: FastifyRequest
  /** The text of a field; empty if the field is missing. */
  text(field: string): string
}

/** An error in better-auth's format. */
export class SecurityRefusal extends Error {
  readonly status: number
  readonly code: string
  readonly retryAfter: number | undefined
  constructor(status: number, code: string, message: string, retryAfter?: number) {
    super(message)
    this.name = 'SecurityRefusal'
    this.status = status
    this.code = code
    this.retryAfter = retryAfter
  }
}

export function refusal(checked: Checked): SecurityRefusal
export function refusal(status: number, code: string, message?: string): SecurityRefusal
export function refusal(what: number | Checked, code = '', message = code): SecurityRefusal {
  if (typeof what === 'number') return new SecurityRefusal(what, code, message)
  return what.kind === 'too_many'
    ? new SecurityRefusal(
        429,
        'TOO_MANY_REQUESTS',
        'códigos demais; espere e tente de novo',
        what.retryAfter,
      )
    : new SecurityRefusal(400, 'INVALID_CODE', 'o código não confere, ou já foi usado')
}

/** A route for a signed-in customer; its answer is sent as JSON. */
export function securityRoute(
  method: 'GET' | 'POST',
  path: string,
  route: {
    readonly fields?: readonly string[]
    readonly needs?: Needs
    handle(call: SecurityCall, deps: Deps): Promise<object>
  },
): Route<Deps> {
  const { fields = [], needs = 'session' } = route
  return hiddenRoute({
    method,
    url: `${AUTH_PATH}${path}`,
    access: 'session',
    bodyBytesMax: AUTH_BODY_BYTES_MAX,
    async handle(request, reply, deps: Deps) {
      const body = readBody(request, fields)
      if ('wrong' in body) return sendFault(reply, 400, 'INVALID_REQUEST', body.wrong)
      const session = await ownSession(deps, request, reply, needs)
      if (!session) return reply
      const text = (field: string): string => {
        const value = body.fields[field]
        return typeof value === 'string' ? value : ''
      }
      try {
        const answer = await route.handle({ session, request, text }, deps)
        return sendAuthJson(reply, 200, JSON.stringify(answer))
      } catch (error) {
        if (!(error instanceof SecurityRefusal)) throw error
        return error.retryAfter === undefined
          ? sendFault(reply, error.status, error.code, error.message)
          : sendTooMany(reply, error.retryAfter)
      }
    },
  })
}
