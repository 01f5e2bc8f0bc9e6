import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { languageOf, type Language } from '../../platform/lib/language.ts'

/** Headers in which client libraries send the key if not in `Authorization`. */
const KEY_HEADERS = ['x-api-key', 'api-key', 'x-goog-api-key'] as const

const EMPTY = /^\s*(?:Bearer\s*)?$/i

/**
 * Returns the key of a request as an `Authorization` header, wherever the client put it; undefined if there is none. A
 * browser sends none of these headers by itself.
 */
export function authorizationOf(headers: IncomingHttpHeaders): string | undefined {
  const { authorization } = headers
  // Some clients send both, and leave the one that they do not use empty.
  if (authorization !== undefined && !EMPTY.test(authorization)) return authorization
  for (const name of KEY_HEADERS) {
    const key = headers[name]
    if (typeof key === 'string') return `Bearer ${key}`
  }
  return authorization
}

/** The cookie of a chosen language; the dashboard writes it, too (`web/src/language/chosen-language.ts`). */
export const LANGUAGE_COOKIE = 'catraca.language'

/** The language of a visitor: the one that was chosen in this browser, or else the browser's. */
export function visitorLanguage({ headers }: Pick<FastifyRequest, 'headers'>): Language {
  const [, chosen] =
    /(?:^|;\s*)catraca\.language=([\w-]{2,5})(?:;|$)/.exec(headers.cookie ?? '') ?? []
  if (chosen !== undefined) return languageOf(chosen)
  return prefersEnglish(headers) ? 'en-US' : 'pt-BR'
}

/** Whether the browser's user reads English rather than Portuguese; browsers send their languages in order. */
export function prefersEnglish({
  'accept-language': languages = '',
}: IncomingHttpHeaders): boolean {
  return /^\s*en\b/i.test(languages.split(',').find((tag) => /^\s*(pt|en)\b/i.test(tag)) ?? '')
}

/**
 * Returns the address at which this client reaches the server; `publicUrl` if the operator configured it.
 * `X-Forwarded-Host` is never believed: proxies pass on that of their clients, and shared caches do not tell its values
 * apart.
 */
export function originOf(
  { protocol, headers: { host = '' } }: FastifyRequest,
  publicUrl: string | undefined,
): string {
  // The protocol too may be any text of a header.
  return publicUrl ?? `${protocol === 'https' ? 'https' : 'http'}://${host}`
}

/**
 * Returns the origin of the links in mails; undefined if it is not known. A request may claim any host, so only sandbox
 * mode trusts it.
 */
export function originForMails(
  {
    publicUrl,
    mode,
  }: { readonly publicUrl: string | undefined; readonly mode: 'sandbox' | 'live' },
  request: FastifyRequest,
): string | undefined {
  return publicUrl ?? (mode === 'sandbox' ? originOf(request, undefined) : undefined)
}
