import type { FastifyRequest } from 'fastify'

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
