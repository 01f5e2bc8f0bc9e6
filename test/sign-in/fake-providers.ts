/**
 * Google, GitHub and Microsoft, as far as signing in goes: codes that are worth one exchange, by the client that asked,
 * with the verifier of its challenge. A hook of `fetch` sends their own addresses here, so that the server needs no
 * setting for tests.
 */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'

export const CLIENT = { id: 'cliente-catraca', secret: 'segredo-do-cliente' }

export interface Person {
  readonly id: string
  readonly email: string
  readonly isVerified: boolean
  /** At Google: whether the domain of the address is a Workspace. */
  readonly isOfWorkspace?: boolean
  readonly name?: string
}

interface Grant {
  readonly person: Person
  readonly challenge: string
  readonly redirectUri: string
}

const HOSTS = new Set([
  'oauth2.googleapis.com',
  'github.com',
  'api.github.com',
  'login.microsoftonline.com',
])

export interface FakeProviders {
  /** The person agrees on the provider's page; returns where the browser is sent. */
  agree(authorizeUrl: string, person: Person): string
  /** The requests that servers made, as `host path`. */
  readonly asked: string[]
  stop(): Promise<void>
}

export async function startFakeProviders(): Promise<FakeProviders> {
  const grants = new Map<string, Grant>()
  const asked: string[] = []
  const server = createServer((request, response) => {
    void (async () => {
      const [, host = '', ...rest] = (request.url ?? '').split('/')
      const path = `/${rest.join('/')}`
      asked.push(`${host} ${path}`)
      const form = new URLSearchParams(await text(request))
      const answer = answerTo(host, path, { form, grants, bearer: request.headers.authorization })
      response.writeHead(answer === undefined ? 400 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer ?? { error: 'invalid_grant' }))
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const real = globalThis.fetch
  globalThis.fetch = (input, init) => {
    const url = new URL(input instanceof Request ? input.url : String(input))
    if (url.protocol !== 'https:') return real(input, init)
    assert.ok(HOSTS.has(url.hostname), `a connection to ${url.hostname}`)
    return real(`http://127.0.0.1:${port}/${url.hostname}${url.pathname}${url.search}`, init)
  }
  return {
    asked,
    agree(authorizeUrl, person) {
      const given = new URL(authorizeUrl).searchParams
      assert.equal(given.get('client_id'), CLIENT.id)
      assert.equal(given.get('code_challenge_method'), 'S256')
      const redirectUri = given.get('redirect_uri') ?? ''
      const code = randomBytes(12).toString('hex')
      grants.set(code, { person, challenge: given.get('code_challenge') ?? '', redirectUri })
      const back = new URL(redirectUri)
      back.searchParams.set('code', code)
      back.searchParams.set('state', given.get('state') ?? '')
      return back.href
    },
    async stop() {
      globalThis.fetch = real
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface Asked {
  readonly form: URLSearchParams
  readonly grants: Map<string, Grant>
  readonly bearer: string | undefined
}

function answerTo(host: string, path: string, { form, grants, bearer }: Asked): object | undefined {
  if (host === 'api.github.com') {
    const person = JSON.parse(
      Buffer.from(bearer?.slice('Bearer '.length) ?? '', 'base64url').toString(),
    ) as Person
    const { id, email, isVerified, name } = person
    return path === '/user/emails'
      ? [{ email, primary: true, verified: isVerified }]
      : {
          id,
          login: 'pessoa',
          name: name ?? null,
          email: null,
          avatar_url: 'https://example.com/a',
        }
  }
  const grant = grants.get(form.get('code') ?? '')
  grants.delete(form.get('code') ?? '')
  const challenge = createHash('sha256')
    .update(form.get('code_verifier') ?? '')
    .digest('base64url')
  const isRight =
    form.get('client_id') === CLIENT.id &&
    form.get('client_secret') === CLIENT.secret &&
    grant?.challenge === challenge &&
    grant.redirectUri === form.get('redirect_uri')
  if (!isRight || !grant) return undefined
  const { person } = grant
  const token = Buffer.from(JSON.stringify(person)).toString('base64url')
  const tokens = { access_token: token, token_type: 'bearer', expires_in: 3600, refresh_token: 'r' }
  if (host === 'github.com') return { ...tokens, scope: 'read:user,user:email' }
  return { ...tokens, id_token: idToken(host, person) }
}

function idToken(
  host: string,
  { id, email, isVerified, isOfWorkspace = true, name = 'Ana' }: Person,
): string {
  const claims =
    host === 'oauth2.googleapis.com'
      ? {
          sub: id,
          email,
          email_verified: isVerified,
          ...(isOfWorkspace ? { hd: email.split('@')[1] } : {}),
          name,
          picture: 'https://example.com/p',
        }
      : // What any directory may claim of itself, and what only Microsoft writes.
        {
          sub: id,
          oid: id,
          tid: 'd',
          email,
          email_verified: true,
          name,
          ...(isVerified ? { verified_primary_email: [email] } : {}),
        }
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'RS256', kid: 'k' })}.${part(claims)}.c2ln`
}
