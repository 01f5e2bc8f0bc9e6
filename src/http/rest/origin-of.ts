import type { FastifyRequest } from 'fastify'

/** Where this server is reached by this client; `publicUrl` where the operator says so. */
export function originOf(request: FastifyRequest, publicUrl: string | undefined): string {
  return publicUrl ?? `${request.protocol}://${request.host}`
}

/** For links in mails: a request may claim any address, which only a sandbox believes. */
export function originForMails(
  {
    publicUrl,
    mode,
  }: { readonly publicUrl: string | undefined; readonly mode: 'sandbox' | 'live' },
  request: FastifyRequest,
): string | undefined {
  return publicUrl ?? (mode === 'sandbox' ? originOf(request, undefined) : undefined)
}
