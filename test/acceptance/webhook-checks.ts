/** Webhooks as their receiver sees them: signatures of the format, secrets that are exchanged, and replays. */
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Context } from './context.ts'
import { until } from './until.ts'

const UUID = '00000000-0000-4000-8000-000000000000'

interface Delivery {
  readonly id: string
  readonly timestamp: string
  readonly signature: string
  readonly body: string
}

export async function checkWebhooks(context: Context): Promise<void> {
  const { checks, ask } = context
  const received: Delivery[] = []
  const receiver = createServer(async (request, response) => {
    received.push(await readDelivery(request))
    response.end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const { port } = receiver.address() as AddressInfo
  const post = (path: string) => ask(path, { method: 'POST', body: {} })
  const next = async (count: number): Promise<Delivery | undefined> => {
    checks.is(`delivery ${count} arrives`, await until(async () => received.length >= count))
    return received[count - 1]
  }

  const made = (await ask('/webhooks', { body: { url: `http://127.0.0.1:${port}/catraca` } })).json
  const path = `/webhooks/${made.id}`
  const sent = (await post(`${path}/test`)).json
  const first = await next(1)
  checks.is('a delivery is signed by the secret', isSigned(first, made.signing_secret))

  const rotated = await post(`${path}/rotate-secret`)
  checks.equal('rotate-secret: status', rotated.status, 200)
  checks.shape('rotate-secret', rotated.json, { signing_secret: 'text' })
  const { signing_secret: secret } = rotated.json
  checks.is('rotate-secret: another one', secret !== made.signing_secret)
  checks.shape('GET /webhooks/{id}: the secret is not shown again', (await ask(path)).json, {
    signing_secret: 'absent',
  })

  const replay = await post(`/webhooks/attempts/${sent.delivery_id}/replay`)
  checks.equal('replay: status', replay.status, 200)
  checks.is('replay: a new delivery_id', replay.json.delivery_id !== sent.delivery_id, replay.json)
  checks.equal('replay: the old payload', replay.json.body, sent.body)
  const second = await next(2)
  checks.equal('replay: the receiver gets the old payload', second?.body, first?.body)
  checks.is('after rotate-secret: signed by the new secret', isSigned(second, secret))
  checks.is('after rotate-secret: not by the old', !isSigned(second, made.signing_secret))
  for (const wrong of [`/webhooks/${UUID}/rotate-secret`, `/webhooks/attempts/${UUID}/replay`])
    checks.equal(`POST ${wrong}: status`, (await post(wrong)).status, 404)
  const foreign = await context.other(`${path}/rotate-secret`, { method: 'POST', body: {} })
  checks.is('the webhook of another', foreign.status === 403 || foreign.status === 404)
  await ask(path, { method: 'DELETE' })
  receiver.close()
  receiver.closeAllConnections()
}

async function readDelivery(request: IncomingMessage): Promise<Delivery> {
  let body = ''
  for await (const part of request.setEncoding('utf8')) body += String(part)
  const header = (name: string): string => String(request.headers[name])
  return {
    id: header('webhook-id'),
    timestamp: header('webhook-timestamp'),
    signature: header('webhook-signature'),
    body,
  }
}

/** As Standard Webhooks 1.0.0 says. */
function isSigned(delivery: Delivery | undefined, secret: string): boolean {
  if (!delivery || Math.abs(Number(delivery.timestamp) - Date.now() / 1_000) > 300) return false
  const mac = createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
  mac.update(`${delivery.id}.${delivery.timestamp}.${delivery.body}`)
  return delivery.signature.split(' ').includes(`v1,${mac.digest('base64')}`)
}
