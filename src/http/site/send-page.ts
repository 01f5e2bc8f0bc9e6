import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SITE_STYLE } from './site-style.ts'
import type { WrittenPage } from './site-pages.ts'

/** `styles`: of further `<style>` elements. A page connects to nothing unless it names a source. */
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

/** `private`: the same address shows the dashboard to a browser that is signed in, so every visit asks again. */
export const OF_THIS_BROWSER = 'private, no-cache'
export const OF_EVERYBODY = 'public, max-age=60'

/** Sends a page in the smallest encoding that the client takes, or a 304 if it has this version. */
export function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  page: WrittenPage,
  { cacheControl, policy = POLICY }: { cacheControl: string; policy?: string | undefined },
): FastifyReply {
  const encoding = encodingFor(request.headers['accept-encoding'])
  reply
    .headers(HEADERS)
    .header('content-security-policy', policy)
    .header('cache-control', cacheControl)
    .header(
      'vary',
      cacheControl === OF_THIS_BROWSER ? 'accept-encoding, cookie' : 'accept-encoding',
    )
    .header('etag', `"${page.tag}${encoding === 'plain' ? '' : `-${encoding}`}"`)
  if (knows(request.headers['if-none-match'], page.tag)) return reply.code(304).send()
  if (encoding !== 'plain') reply.header('content-encoding', encoding)
  return reply.code(page.status).type(page.type).send(page[encoding])
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
