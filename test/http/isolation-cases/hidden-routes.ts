/** The routes that `/v1/openapi.json` leaves out, by the list with which the server registers them. */
import { loadConfig } from '../../../src/app/config/config.ts'
import { listRoutes } from '../../../src/app/resources.ts'
import type { Access } from '../../../src/http/rest/access.ts'
import type { Household } from './household.ts'

export interface HiddenRoute {
  readonly name: string
  readonly method: string
  readonly url: string
  readonly access: Access
}

export const HIDDEN: readonly HiddenRoute[] = listRoutes(loadConfig({ DATA_DIR: '.' }, '.'))
  .filter(({ schema }) => 'hide' in schema)
  .flatMap(({ method, url, access }) =>
    [method].flat().map((each) => ({ name: `${each} ${url}`, method: each, url, access })),
  )

/** What of the owner's may stand for each parameter. Of `*`: a path. */
export const PARAMETERS: Readonly<Record<string, (household: Household) => string[]>> = {
  // Not the token of her public bill, which shows the charge to whoever has it.
  '/conta/:token': ({ ids }) => [ids.publicBill, ids.charge, ids.session],
  '/mailbox/:id': ({ ids }) => [ids.key],
  '/mailbox/:id/html': ({ ids }) => [ids.key],
  '/unsubscribe/:token': ({ ids, owner }) => [owner.customerId, ids.alert],
  '/termos/:version': ({ ids }) => [ids.key],
  '/privacidade/:version': ({ ids }) => [ids.key],
  '/auth/callback/:provider': ({ ids }) => [ids.session, 'google'],
  '/auth/*': ({ ids }) => [ids.session, 'get-session', 'list-sessions', 'account-info'],
  '/modelos/*': ({ ids }) => [ids.key],
  '/docs/*': ({ ids }) => [ids.key],
  '/v1beta/models/*': ({ ids }) => [ids.key],
}

export interface HiddenRequest {
  readonly path: string
  readonly method: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** All requests of a route with the owner's ids, in every place and under the names that forms and bodies have. */
export function requestsOf(
  route: HiddenRoute,
  household: Household,
  headers: Record<string, string>,
): HiddenRequest[] {
  const { ids, owner } = household
  const fields = {
    id: ids.key,
    customer_id: owner.customerId,
    session_id: ids.session,
    sessionId: ids.session,
    passkey_id: ids.card,
    token: ids.publicBill,
    key: ids.key,
  }
  const form = new URLSearchParams(fields).toString()
  return pathsOf(route, household).flatMap((path): HiddenRequest[] => {
    const { method } = route
    if (method === 'GET') return [{ path: `${path}?${form}`, method, headers }]
    const send = (type: string, body: string): HiddenRequest => ({
      path,
      method,
      headers: { ...headers, 'content-type': type },
      body,
    })
    return [
      send('application/x-www-form-urlencoded', form),
      send('application/json', JSON.stringify(fields)),
    ]
  })
}

function pathsOf({ url }: HiddenRoute, household: Household): string[] {
  if (!hasParameter(url)) return [url]
  return (PARAMETERS[url]?.(household) ?? []).map((value) => withParameter(url, value))
}

export function hasParameter(url: string): boolean {
  return /[:*]/.test(url)
}

export function withParameter(url: string, value: string): string {
  return url.replace(/:\w+|\*/, encodeURIComponent(value))
}

export async function sendHidden(
  baseUrl: string,
  { path, method, headers = {}, body }: HiddenRequest,
) {
  const leaving = new AbortController()
  const askedAtMs = Date.now()
  const answer = await fetch(new URL(path, baseUrl), {
    method,
    redirect: 'manual',
    headers,
    signal: leaving.signal,
    ...(method === 'GET' ? {} : { body: body ?? '' }),
  })
  // A live stream has no end.
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream')
  const text = isStream ? '' : await answer.text()
  leaving.abort()
  return { status: answer.status, headers: answer.headers, text, askedAtMs }
}
