import type { FastifyReply } from 'fastify'

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
