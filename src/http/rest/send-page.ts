import type { FastifyReply } from 'fastify'

/** Sends a page whose address is a secret of its reader. `referrerPolicy` decides which sites may see the address. */
export function sendPrivatePage(
  reply: FastifyReply,
  status: number,
  html: string,
  { policy, referrerPolicy }: { policy: string; referrerPolicy: 'no-referrer' | 'same-origin' },
): FastifyReply {
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .header('content-security-policy', policy)
    .header('x-content-type-options', 'nosniff')
    .header('x-robots-tag', 'noindex')
    .header('referrer-policy', referrerPolicy)
    .header('cache-control', 'no-store')
    .send(html)
}

/** Sends an HTML page that has no script, loads nothing and cannot be framed. */
export function sendStaticPage(
  reply: FastifyReply,
  html: string,
  { status = 200, maxAgeSeconds }: { status?: number; maxAgeSeconds: number },
): FastifyReply {
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .header(
      'content-security-policy',
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    .header('x-content-type-options', 'nosniff')
    .header('cache-control', `public, max-age=${maxAgeSeconds}`)
    .send(html)
}
