import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { htmlText, type Html } from '../../platform/lib/html.ts'
import { inLanguage, languageOf } from '../../platform/lib/language.ts'
import { SITE_STYLE } from './site-style.ts'
import { tagOf, type PageText, type WrittenPage } from './site-pages.ts'
import { LANGUAGE_COOKIE, originOf, visitorLanguage } from '../../http/rest/request-headers.ts'
import type { SiteFacts } from './site-facts.ts'
import { hasSessionCookie } from '../../identity/sign-in/session-cookie.ts'
import type { SiteDeps } from './layout.ts'

const toGzip = promisify(gzip)

/**
 * Returns the content security policy of a page. `styles` are those of further `<style>` elements. A page connects to
 * nothing unless it names a source.
 */
export function pagePolicy(styles: readonly string[] = [], connects?: "'self'"): string {
  const hashes = [SITE_STYLE, ...styles].map(
    (style) => `'sha256-${hash('sha256', style, 'base64')}'`,
  )
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${hashes.join(' ')}`,
    "img-src 'self'",
    ...(connects ? [`connect-src ${connects}`] : []),
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

const POLICY = pagePolicy()

const HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
}

/**
 * The `cache-control` of pages that no shared cache may keep: the same address shows something else to a browser that is
 * signed in, the page has an address that its request chose, or it remembers a language. Every visit asks again.
 */
export const OF_THIS_BROWSER = 'private, no-cache'
/**
 * The `cache-control` of what visitors get, for shared caches alone: browsers ask again each time, since a sign-in
 * changes the header of a page.
 */
export const OF_EVERYBODY = 'public, max-age=0, s-maxage=60'

interface Sending {
  readonly cacheControl: string
  readonly policy?: string | undefined
}

/** Sends a page in the smallest encoding that the client takes, or a 304 if it has this version. */
export function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  page: WrittenPage,
  sending: Sending,
): FastifyReply {
  const encoding = encodingFor(request.headers['accept-encoding'])
  if (isKnown(request, reply, page.tag, encoding, sending)) return reply.code(304).send()
  return reply.code(page.status).type(page.type).send(page[encoding])
}

/**
 * Sends a page that is written for each visit. Anybody may ask for it, so it is compressed with the least work: a written
 * page in all its encodings takes several hundred times as long as this.
 */
export async function sendPageOfVisit(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, type, text }: PageText,
  sending: Sending,
): Promise<FastifyReply> {
  const plain = Buffer.from(htmlText(text))
  const isTaken = encodingFor(request.headers['accept-encoding']) !== 'plain'
  const encoding = isTaken ? 'gzip' : 'plain'
  if (isKnown(request, reply, tagOf(plain), encoding, sending)) return reply.code(304).send()
  const body = isTaken ? await toGzip(plain, { level: constants.Z_BEST_SPEED }) : plain
  return reply.code(status).type(type).send(body)
}

/** Sets the headers of the page; whether the client has this version. */
function isKnown(
  request: FastifyRequest,
  reply: FastifyReply,
  tag: string,
  encoding: 'br' | 'gzip' | 'plain',
  { cacheControl, policy = POLICY }: Sending,
): boolean {
  reply
    .headers(HEADERS)
    .header('content-security-policy', policy)
    .header('cache-control', cacheControl)
    .header('vary', 'accept-encoding, accept-language, cookie')
    .header('etag', `"${tag}${encoding === 'plain' ? '' : `-${encoding}`}"`)
  if (knows(request.headers['if-none-match'], tag)) return true
  if (encoding !== 'plain') reply.header('content-encoding', encoding)
  return false
}

function encodingFor(accepted = ''): 'br' | 'gzip' | 'plain' {
  const taken = accepted
    .toLowerCase()
    .split(',')
    .map((each) => each.split(';').map((part) => part.trim()))
    .filter(([, weight]) => weight === undefined || !/^q=0(\.0*)?$/.test(weight))
    .map(([name]) => name)
  if (taken.includes('br')) return 'br'
  return taken.includes('gzip') ? 'gzip' : 'plain'
}

/** The tags of all encodings of a version are the same version. */
function knows(given: string | undefined, tag: string): boolean {
  const tags = (given ?? '').split(',').map((each) => each.trim().replace(/^W\//, ''))
  return tags.some((each) => each === '*' || each.replace(/-(br|gzip)"$/, '"') === `"${tag}"`)
}

const HTML = 'text/html; charset=utf-8'

export interface Visit {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly deps: SiteDeps
}

/** A visit, whose pages say whether the browser is signed in: the cookie decides, unread. */
export function visitOf<Deps extends SiteDeps>(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Deps,
): Visit & { readonly deps: Deps } {
  return { request, reply, deps: { ...deps, isSignedIn: hasSessionCookie(request.headers.cookie) } }
}

const CHOICE_SECONDS = 365 * 86_400

/** A visit of a page that is in both languages. `?lang=` is an address for search engines, and chooses for later visits. */
export function visitInLanguage<Deps extends SiteDeps>(
  request: FastifyRequest,
  reply: FastifyReply,
  given: Deps,
): Visit & { readonly deps: Deps } {
  const visit = visitOf(request, reply, given)
  const { lang } = request.query as { lang?: unknown }
  if (lang !== 'pt' && lang !== 'en')
    return { ...visit, deps: { ...visit.deps, language: visitorLanguage(request) } }
  const language = languageOf(lang)
  const secure = request.protocol === 'https' ? '; Secure' : ''
  reply.header(
    'set-cookie',
    `${LANGUAGE_COOKIE}=${language}; Path=/; Max-Age=${CHOICE_SECONDS}; SameSite=Lax${secure}`,
  )
  return { ...visit, deps: { ...visit.deps, language } }
}

export interface Page {
  readonly status?: number
  readonly type?: string
  readonly cacheControl: string
  /** What a browser may do on the page, if it is more than the pages of the site need. */
  readonly policy?: string
  readonly write: (facts: SiteFacts, origin: string) => Html
}

/** Sends a page that is kept once written; `name` is that of the page for one origin. */
export async function sendWritten(
  { request, reply, deps }: Visit,
  name: string,
  { status = 200, type = HTML, cacheControl, policy, write }: Page,
): Promise<FastifyReply> {
  const facts = await deps.siteFacts()
  const origin = originOf(request, deps.config.publicUrl)
  const language = deps.language ?? 'pt-BR'
  const shown = `${name} ${language}${deps.isSignedIn ? ' signed in' : ''}`
  const page = await deps.sitePages.find(facts, `${origin} ${shown}`, () => ({
    status,
    type,
    text: inLanguage(language, () => write(facts, origin)),
  }))
  const isOwn =
    deps.isSignedIn === true || deps.config.publicUrl === undefined || reply.hasHeader('set-cookie')
  return sendPage(request, reply, page, {
    cacheControl: isOwn && cacheControl === OF_EVERYBODY ? OF_THIS_BROWSER : cacheControl,
    policy,
  })
}
