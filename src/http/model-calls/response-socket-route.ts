import type { WebSocketServer } from 'ws'
import { keySubject } from '../../gateway/calls/limits.ts'
import { refuseCall } from '../../gateway/calls/refuse-call.ts'
import { refusals } from '../../gateway/calls/refusal.ts'
import { responsesErrors } from '../rest/error-formats.ts'
import { whenClosed } from '../rest/leaving-client.ts'
import { originOf } from '../rest/request-headers.ts'
import type { Route } from '../rest/route.ts'
import { checkedCallers, type CheckedCaller } from '../server/explain-fault.ts'
import { upgradeOf } from '../server/serve-upgrades.ts'
import { createHttpClient } from './http-client.ts'
import { createCheck, saidInHeaders, type ModelCallDeps } from './model-call-route.ts'
import type { ResponseSockets } from './response-sockets.ts'
import { serveSocket } from './serve-socket.ts'

type Deps = ModelCallDeps & { readonly responseSockets: ResponseSockets }

/**
 * Responses over a WebSocket. Its caller is checked before it is one, as that of any call, and again for each message.
 */
export const responseSocketRoute: Route<Deps> = {
  method: 'GET',
  url: '/v1/responses',
  access: 'calls',
  schema: { hide: true },
  handlersOf(deps) {
    let opened: WebSocketServer | undefined
    /** Undefined if its library cannot be loaded now. */
    async function serverOf(): Promise<WebSocketServer | undefined> {
      try {
        return (opened ??= await openServer(deps.config.bodyBytesMax))
      } catch (error) {
        deps.log.error('websocket_library_not_loaded', { error })
        return undefined
      }
    }
    return {
      onRequest: createCheck(deps, false, responsesErrors),
      async handler(request, reply) {
        const upgrade = upgradeOf(request.raw)
        if (!upgrade) return reply.callNotFound()
        const { key, ...caller } = checkedCallers.get(request) as CheckedCaller
        const { customerId } = key
        const server = await serverOf()
        const place = server ? deps.responseSockets.take(customerId) : 'all'
        if (!server || typeof place === 'string') {
          const client = createHttpClient(request, reply, {
            publicUrl: deps.config.publicUrl,
            errorFormat: responsesErrors,
          })
          const refused = {
            own: refusals.tooManySockets(deps.responseSockets.perCustomerMax),
            // Clients go on over HTTP at once.
            all: refusals.upgradeRefused(),
            closing: refusals.serviceUnavailable(),
          }[typeof place === 'string' ? place : 'all']
          const limits = deps.limits.lastKnown(keySubject(key))
          return refuseCall(deps, caller, client, { refused, key }, limits)
        }
        reply.hijack()
        whenClosed(reply.raw, () => place[Symbol.dispose]())
        const { socket, head } = upgrade
        if (socket.destroyed) return
        server.handleUpgrade(request.raw, socket, head, (ws) => {
          const { authorization, ip } = caller
          const origin = originOf(request, deps.config.publicUrl)
          const said = saidInHeaders(request.headers)
          const conversation = deps.modelCalls.openConversation(customerId)
          const of = { ...said, authorization, ip, origin, customerId }
          place.watch(serveSocket(deps, ws, socket, of, conversation))
        })
      },
    }
  },
}

/** Loaded by the first connection: most servers have none. */
async function openServer(maxPayload: number): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws')
  // Without compression: what a message takes in memory is what arrives.
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload,
  })
}
