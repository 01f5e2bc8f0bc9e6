/** What a gateway's client tells of the request behind it, whichever way that is answered. */
import type { FastifyRequest } from 'fastify'
import type { ServerResponse } from 'node:http'

export function hasLeft(raw: ServerResponse): boolean {
  return raw.destroyed && !raw.writableFinished
}

export function onLeave(raw: ServerResponse, callback: () => void): void {
  raw.once('close', () => {
    if (!raw.writableFinished) callback()
  })
}

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
