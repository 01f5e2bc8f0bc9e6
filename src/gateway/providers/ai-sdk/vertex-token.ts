import { createSign } from 'node:crypto'
import { APICallError } from '@ai-sdk/provider'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { Fetch } from './open-fetch.ts'

export interface ServiceAccount {
  readonly clientEmail: string
  /** PEM. */
  readonly privateKey: string
  readonly tokenUrl?: string | undefined
}

const TOKEN_URL = 'https://oauth2.googleapis.com/token'
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const ASSERTION_SECONDS = 3600
/** A token is renewed this long before it expires, so that none expires in transit. */
const RENEW_BEFORE_MS = 5 * 60_000

/**
 * Returns a function that gets access tokens of a service account and renews them before they expire; concurrent callers
 * share one request. The packages' own implementation would use other connections, without our time-outs, and read the
 * environment. Rejects with an `APICallError` if no token is issued.
 */
export function createVertexToken(account: ServiceAccount, fetch: Fetch): () => Promise<string> {
  let token: { text: string; renewAtMs: number } | undefined
  let pending: Promise<string> | undefined

  async function renew(): Promise<string> {
    const url = account.tokenUrl ?? TOKEN_URL
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: signAssertion(account, url),
      }).toString(),
    })
    const text = await response.text()
    const answer = response.ok ? readToken(text) : undefined
    if (!answer) throw tokenRefused(url, response.status, text)
    token = { text: answer.text, renewAtMs: Date.now() + answer.seconds * 1000 - RENEW_BEFORE_MS }
    return token.text
  }

  return async () => {
    if (token && Date.now() < token.renewAtMs) return token.text
    pending ??= renew().finally(() => (pending = undefined))
    return pending
  }
}

function signAssertion({ clientEmail, privateKey }: ServiceAccount, audience: string): string {
  const seconds = Math.floor(Date.now() / 1000)
  const head = { alg: 'RS256', typ: 'JWT' }
  const claims = {
    iss: clientEmail,
    scope: SCOPE,
    aud: audience,
    iat: seconds,
    exp: seconds + ASSERTION_SECONDS,
  }
  const signed = [head, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const signature = createSign('RSA-SHA256').update(signed).sign(privateKey, 'base64url')
  return `${signed}.${signature}`
}

function readToken(text: string): { text: string; seconds: number } | undefined {
  try {
    const answer: unknown = JSON.parse(text)
    if (!isObject(answer) || typeof answer.access_token !== 'string') return undefined
    const seconds = typeof answer.expires_in === 'number' ? answer.expires_in : 0
    return { text: answer.access_token, seconds }
  } catch {
    return undefined
  }
}

/** A refusal means refused credentials, whatever its status; 429 and 5xx are faults of the token endpoint itself. */
function tokenRefused(url: string, status: number, text: string): APICallError {
  return new APICallError({
    message: 'no access token was given',
    url,
    requestBodyValues: {},
    statusCode: status >= 500 || status === 429 ? status : 401,
    responseBody: status === 200 ? 'the token endpoint gave no token' : text,
  })
}
