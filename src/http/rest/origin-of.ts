import type { FastifyRequest } from 'fastify'

/** The address at which this client reaches the server; `publicUrl` if the operator configured it. */
export function originOf(request: FastifyRequest, publicUrl: string | undefined): string {
  return publicUrl ?? `${request.protocol}://${request.host}`
}

/** For links in mails. A request may claim any host, so only sandbox mode trusts it. */
export function originForMails(
  {
    publicUrl,
    mode,
  }: { readonly publicUrl: string | undefined; readonly mode: 'sandbox' | 'live' },
  request: FastifyRequest,
): string | undefined {
  return publicUrl ?? (mode === 'sandbox' ? originOf(request, undefined) : undefined)
}
