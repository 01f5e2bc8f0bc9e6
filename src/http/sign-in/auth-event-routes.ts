import { plainIp } from '../../customers/ip-allowlist.ts'
import { takeAuthEvent } from '../../identity/take-auth-event.ts'
import { verifyWebhook } from '../../deliveries/webhooks/verify-webhook.ts'
import type { HttpParts } from '../rest/parts.ts'
import { hiddenRoute } from '../rest/route.ts'
import { restError, sendJson } from '../rest/rest-refusal.ts'

type Deps = Pick<HttpParts, 'config' | 'db' | 'log' | 'operatorRoles'>

export const AUTH_EVENTS_PATH = '/v1/inbound/auth'
const BODY_BYTES_MAX = 256 * 1024

/**
 * The webhook of the identity provider. A message without a fresh signature by the operator's secret is refused without
 * a reason. A signed message that was handled before, or that has no effect, is answered with 200, so that the provider
 * does not repeat it.
 */
export const authEventRoutes = [
  hiddenRoute({
    method: 'POST',
    url: AUTH_EVENTS_PATH,
    access: 'signed',
    bodyBytesMax: BODY_BYTES_MAX,
    async handle(
      request,
      reply,
      { db, config: { authWebhookSecret: secret }, operatorRoles, log }: Deps,
    ) {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const message = secret && verifyWebhook(secret, request.headers, body, new Date())
      if (!message) return restError(reply, 401, 'invalid_signature')
      const { outcome, type } = await takeAuthEvent(
        db,
        { ...message, body: parse(body) },
        { actor: { kind: 'system', ip: plainIp(request.ip) }, adminEmails: operatorRoles },
      )
      const facts = { messageId: message.id, type, outcome }
      if (outcome === 'unreadable') log.error('auth_event_unreadable', facts)
      else log.debug('auth_event_taken', facts)
      return sendJson(reply, { received: true })
    },
  }),
]

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
