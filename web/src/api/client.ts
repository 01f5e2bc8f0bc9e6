/**
 * The client of the REST API, typed by path: `api.get('/me/refunds', { query: { limit: 20 } })`,
 * `api.post('/topups', body)`, `api.delete('/api-keys/{id}', { path: { id } })`.
 */
import type { Once } from '../lib/submit-gate.ts'
import { cacheOwner } from './cache-owner.ts'
import type { Contract } from './contract.ts'
import { noteDataAge } from './data-age.ts'
import { readJson, refusalOf, send } from './send.ts'
import { csrfToken, forgetSession, knownToken, renewSession } from './session.ts'

type Method = keyof Contract
type Path<M extends Method> = keyof Contract[M] & string
type Part<M extends Method, P extends Path<M>, Name extends string> =
  Contract[M][P] extends Record<Name, infer Found> ? Found : never

/** The answer of an operation, as in `Answer<'get', '/me/profile'>`. */
export type Answer<M extends Method, P extends Path<M>> = Part<M, P, 'answer'>
/** The body of an operation, as in `Body<'post', '/topups'>`. */
export type Body<M extends Method, P extends Path<M>> = Part<M, P, 'body'>
export type Query<M extends Method, P extends Path<M>> = Part<M, P, 'query'>

type PathOption<M extends Method, P extends Path<M>> = [Part<M, P, 'path'>] extends [never]
  ? object
  : { path: Part<M, P, 'path'> }
type QueryOption<M extends Method, P extends Path<M>> = [Part<M, P, 'query'>] extends [never]
  ? object
  : { query?: { [Name in keyof Part<M, P, 'query'>]: Part<M, P, 'query'>[Name] | undefined } }
/** What creates something or moves money says to which submit it belongs (`useSubmit`). */
type OnceOption<M extends Method, P extends Path<M>> = [Part<M, P, 'idempotency_key'>] extends [
  never,
]
  ? object
  : { once: Once }
type Options<M extends Method, P extends Path<M>> = PathOption<M, P> &
  OnceOption<M, P> &
  QueryOption<M, P> & { signal?: AbortSignal; cache?: 'no-cache' }
type OptionsArgument<M extends Method, P extends Path<M>> =
  object extends Options<M, P> ? [options?: Options<M, P>] : [options: Options<M, P>]
type BodyArgument<M extends Method, P extends Path<M>> = [Part<M, P, 'body'>] extends [never]
  ? [body?: undefined]
  : [body: Part<M, P, 'body'>]

export const api = {
  get: <P extends Path<'get'>>(path: P, ...[options]: OptionsArgument<'get', P>) =>
    call<Answer<'get', P>>('GET', path, undefined, options),
  post: <P extends Path<'post'>>(
    path: P,
    ...[body, options]: [...BodyArgument<'post', P>, ...OptionsArgument<'post', P>]
  ) => call<Answer<'post', P>>('POST', path, body, options as GivenOptions),
  put: <P extends Path<'put'>>(
    path: P,
    ...[body, options]: [...BodyArgument<'put', P>, ...OptionsArgument<'put', P>]
  ) => call<Answer<'put', P>>('PUT', path, body, options as GivenOptions),
  patch: <P extends Path<'patch'>>(
    path: P,
    ...[body, options]: [...BodyArgument<'patch', P>, ...OptionsArgument<'patch', P>]
  ) => call<Answer<'patch', P>>('PATCH', path, body, options as GivenOptions),
  delete: <P extends Path<'delete'>>(path: P, ...[options]: OptionsArgument<'delete', P>) =>
    call<Answer<'delete', P>>('DELETE', path, undefined, options),
  /** The only DELETE with a body: it carries the customer's confirmation. */
  deleteAccount: (body: Body<'delete', '/me'>) =>
    call<Answer<'delete', '/me'>>('DELETE', '/me', body),
}

interface GivenOptions {
  readonly path?: unknown
  readonly query?: unknown
  readonly signal?: AbortSignal
  readonly cache?: 'no-cache'
  readonly once?: Once
}

async function call<Result>(
  method: string,
  template: string,
  body: unknown,
  options: GivenOptions = {},
): Promise<Result> {
  const url = urlOf(template, options)
  const text = body === undefined ? '' : JSON.stringify(body)
  const { once } = options
  const token = method === 'GET' ? knownToken() : await csrfToken()
  const ask = (token: string | undefined): Promise<Response> =>
    send(url, {
      method,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { 'x-csrf-token': token }),
        ...(once ? { 'idempotency-key': once.keyOf(`${method} ${url} ${text}`) } : {}),
      },
      ...(body === undefined ? {} : { body: text }),
      ...(options.signal ? { signal: options.signal } : {}),
      ...(options.cache ? { cache: options.cache } : {}),
    })
  const owner = cacheOwner()
  let answer = await ask(token)
  if (answer.status === 403 && (await refusalOf(answer.clone())).code === 'csrf_token_missing') {
    // The cookie has another session by now. The same customer's request goes on; another one's never was made.
    const session = await renewSession()
    if (session && session.customer.id === owner) answer = await ask(session.csrf_token)
  }
  if (answer.ok) {
    if (method === 'GET') noteDataAge(template, answer)
    return (await readJson(answer)) as Result
  }
  const refused = await refusalOf(answer)
  if (refused.status === 401) forgetSession()
  // The notice with the reason appears.
  if (refused.code === 'account_suspended') void renewSession().catch(() => {})
  throw refused
}

type QueryValues = Readonly<Record<string, string | number | boolean | undefined>>

/** The URL of an operation, for links that the browser follows itself (a CSV, a receipt). */
export function urlOf(template: string, { path, query }: GivenOptions = {}): string {
  const values = path as Record<string, string> | undefined
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values?.[name] ?? ''),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries((query ?? {}) as QueryValues)) {
    if (value !== undefined && value !== '') search.append(name, String(value))
  }
  return `/v1${filled}${search.size > 0 ? `?${search}` : ''}`
}
