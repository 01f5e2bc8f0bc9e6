/** Requests to a gateway, and reading their answers. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'

export interface Asked {
  readonly requestId: string
  readonly askedAtMs: number
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed text, if it is JSON. */
  readonly json: any
}

export interface Ask {
  /** Of a key, or of a login session (`open-session.ts`). */
  readonly secret?: string | undefined
  readonly headers?: Record<string, string>
  readonly method?: string
  readonly body?: unknown
}

/** Of a test's server, for `/metrics` and `/mailbox`. */
export const OPERATOR_TOKEN = 'ficha'
export const BY_OPERATOR = { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } }

/** Sends a request with a fresh request id. A `body` of text or bytes is sent unchanged. */
export async function ask(baseUrl: string, path: string, options: Ask = {}): Promise<Asked> {
  const requestId = randomUUID()
  const askedAtMs = Date.now()
  const { secret, headers, body, method = body === undefined ? 'GET' : 'POST' } = options
  const answer = await fetch(`${baseUrl}${path}`, {
    method,
    headers: {
      'x-svc-request-id': requestId,
      ...credentialHeaders(secret),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: asBody(body) }),
  })
  const text = await answer.text()
  const { status } = answer
  return { requestId, askedAtMs, status, headers: answer.headers, text, json: parse(text) }
}

const SESSION = 'login session '

/** A login session in place of a key's secret. */
export function sessionSecret(session: { cookie: string; csrfToken: string }): string {
  return SESSION + JSON.stringify(session)
}

export function credentialHeaders(secret: string | undefined): Record<string, string> {
  if (secret === undefined) return {}
  if (!secret.startsWith(SESSION)) return { authorization: `Bearer ${secret}` }
  const { cookie, csrfToken } = JSON.parse(secret.slice(SESSION.length))
  return { cookie, 'x-csrf-token': csrfToken }
}

export function askChat(
  baseUrl: string,
  secret: string | undefined,
  body: unknown,
  headers?: Record<string, string>,
): Promise<Asked> {
  return ask(baseUrl, '/chat/completions', { secret, body, ...(headers ? { headers } : {}) })
}

function asBody(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return body
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A request that is sound. */
export function sound(model = 'sandbox-chat', more: object = {}): Record<string, unknown> {
  return { model, messages: [{ role: 'user', content: 'Olá, catraca!' }], ...more }
}

/** The data of each event of a stream's text, without the comments that keep a slow stream's connection. */
export function eventsOf(text: string): string[] {
  return text
    .split('\n\n')
    .filter((event) => event !== '' && !event.startsWith(':'))
    .map((event) => {
      assert.ok(event.startsWith('data: '), `an event is "${event.slice(0, 80)}"`)
      return event.slice('data: '.length)
    })
}

/** The amount as the answer's own text has it: a parsed number could have lost digits. */
export function billedIn(text: string): string | undefined {
  return /"cost_billed_brl":([0-9.eE+-]+)/.exec(text)?.[1]
}
