/**
 * Signing in with an account at Google, GitHub or Microsoft: the way there, and the way back. better-auth's own redirects
 * are not sent: each leads to a page of ours that is written here.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isOwnPath } from '../../identity/sign-in/own-path.ts'
import type { Provider } from '../../identity/sign-in/providers.ts'
import { AUTH_PATH } from '../../identity/sign-in/sign-in-terms.ts'
import { within } from '../../platform/lib/within.ts'
import type { HttpParts } from '../rest/parts.ts'
import { originOf } from '../rest/request-headers.ts'
import { restError } from '../rest/rest-refusal.ts'
import { hiddenRoute } from '../rest/route.ts'
import { AUTH_BODY_BYTES_MAX, readBody } from './auth-body.ts'
import { CODE_PAGE } from './auth-page-routes.ts'
import { authOf, clientHeaders, passCookies, signInIsOff } from './auth-routes.ts'
import { rememberDevice } from './login-session-routes.ts'
import { isFromOwnPage, sendAuthJson, sendFault, sendTooMany } from './own-session.ts'

type Deps = Pick<HttpParts, 'config' | 'db' | 'signIn' | 'log'>

/** Two or three short requests to the provider; nobody waits longer in front of a white page. */
const PROVIDER_MS_MAX = 20_000
const FIELDS = ['provider', 'returnTo', 'referralCode']

export const providerRoutes = [
  hiddenRoute({
    method: 'GET',
    url: `${AUTH_PATH}/providers`,
    access: 'public',
    handle: (_request, reply, { signIn }: Deps) =>
      Promise.resolve(sendAuthJson(reply, 200, JSON.stringify({ providers: signIn.providers }))),
  }),
  hiddenRoute({
    method: 'POST',
    url: `${AUTH_PATH}/sign-in/provider`,
    access: 'public',
    bodyBytesMax: AUTH_BODY_BYTES_MAX,
    async handle(request, reply, deps: Deps) {
      const body = readBody(request, FIELDS)
      if ('wrong' in body) return sendFault(reply, 400, 'INVALID_REQUEST', body.wrong)
      const { provider, returnTo = '/', referralCode } = body.fields
      if (!isOn(deps, provider)) return restError(reply, 404, 'not_found')
      if (!isFromOwnPage(deps, request))
        return sendFault(reply, 403, 'INVALID_ORIGIN', 'o pedido veio de uma página de outro site')
      const auth = await authOf(deps, request)
      if (!auth) return signInIsOff(reply)
      const origin = originOf(request, deps.config.publicUrl)
      const headers = clientHeaders(request)
      headers.set('content-type', 'application/json')
      const answer = await auth.handler(
        new Request(`${origin}${AUTH_PATH}/sign-in/social`, {
          method: 'POST',
          headers,
          body: JSON.stringify({
            provider,
            disableRedirect: true,
            callbackURL: `${origin}/?${new URLSearchParams({ voltar: String(returnTo) }).toString()}`,
            errorCallbackURL: `${origin}${ENTRANCE}`,
            additionalData: { referralCode },
          }),
        }),
      )
      if (answer.status === 429) return sendTooMany(reply, 60)
      if (!answer.ok) return sendFault(reply, 503, 'SIGN_IN_UNAVAILABLE', 'tente de novo')
      passCookies(reply, answer)
      const { url } = (await answer.json()) as { url: string }
      return sendAuthJson(reply, 200, JSON.stringify({ url }))
    },
  }),
  hiddenRoute({
    method: 'GET',
    url: `${AUTH_PATH}/callback/:provider`,
    access: 'public',
    async handle(request, reply, deps: Deps) {
      if (!isOn(deps, (request.params as { provider: string }).provider))
        return restError(reply, 404, 'not_found')
      const auth = await authOf(deps, request)
      if (!auth) return signInIsOff(reply)
      const url = new URL(request.url, originOf(request, deps.config.publicUrl))
      const asked = auth.handler(new Request(url, { headers: clientHeaders(request) }))
      const answer = await within(PROVIDER_MS_MAX, asked).catch((error: unknown) => {
        deps.log.error('sign_in_failed', { error })
        return undefined
      })
      return comeBack(deps, { request, reply }, answer)
    },
  }),
]

function isOn({ signIn }: Deps, provider: unknown): boolean {
  return signIn.providers.includes(provider as Provider)
}

const ENTRANCE = '/entrar'

/** What went wrong, in a word that the page explains. Providers and better-auth have many others. */
const FAULTS: ReadonlyMap<string | null | undefined, string> = new Map([
  ['access_denied', 'cancelado'],
  ['email_not_verified', 'email'],
  ['email_not_found', 'email'],
  ['account_not_linked', 'ligar'],
])

/** Who came by a provider proved the address, as by the link of a mail: their browser is known from then on. */
async function comeBack(
  deps: Deps,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  answer: Response | undefined,
): Promise<FastifyReply> {
  const set = answer?.headers.getSetCookie() ?? []
  const location = URL.parse(answer?.headers.get('location') ?? '')?.searchParams
  const cookies = set.map((cookie) => cookie.split(';', 1)[0]).join('; ')
  const waiting = await deps.signIn.findWaitingSession(cookies)
  const isIn = waiting !== undefined || (await deps.signIn.findSession(cookies)) !== undefined
  const wanted = location?.get('voltar') ?? ''
  const voltar = isOwnPath(wanted) ? wanted : '/'
  if (answer) passCookies(reply, answer)
  if (waiting) rememberDevice(deps, request, reply, waiting.email)
  const erro = FAULTS.get(location?.get('error')) ?? 'falhou'
  const target = waiting
    ? `${CODE_PAGE}?${new URLSearchParams({ voltar }).toString()}`
    : isIn
      ? voltar
      : `${ENTRANCE}?${new URLSearchParams({ erro }).toString()}`
  return reply.code(303).header('location', target).header('cache-control', 'no-store').send()
}
