/** A receiver as customers have them, which verifies with the reference library; and a customer with a webhook there. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import type { Database } from '../../src/platform/db/open.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import type { Log } from '../../src/platform/lib/log.ts'
import type { EventType } from '../../src/platform/events/record-event.ts'
import { queueWebhooks } from '../../src/deliveries/webhooks/queue-messages.ts'
import {
  createWebhook,
  type WebhookEndpoint,
} from '../../src/deliveries/webhooks/webhook-endpoints.ts'
import {
  createWebhookDelivery,
  type WebhookDeliveryDeps,
} from '../../src/deliveries/webhooks/webhook-delivery.ts'
import type { Runner } from '../../src/deliveries/create-runner.ts'
import type { ReceiverSettings } from '../../src/deliveries/receiver.ts'
import { seedCustomer } from './test-database.ts'

export interface Received {
  readonly path: string
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Answer = (response: ServerResponse, received: Received) => void

export interface Receiver {
  readonly url: string
  readonly received: Received[]
  answer: Answer
  close(): void
}

export async function startReceiver(): Promise<Receiver> {
  const receiver = {
    url: '',
    received: [] as Received[],
    answer: ((response) => response.writeHead(200).end('ok')) as Answer,
    close(): void {
      server.closeAllConnections()
      server.close()
    },
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { url: path = '', method = '', headers } = request
      const received = { path, method, headers, body: Buffer.concat(chunks).toString() }
      receiver.received.push(received)
      receiver.answer(response, received)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return receiver
}

/** Whether the reference library accepts the message as signed with the secret. */
export function isSignedWith(signingSecret: string, { body, headers }: Received): boolean {
  try {
    new Webhook(signingSecret).verify(body, headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}

export const SETTINGS: ReceiverSettings = {
  sealingKey: randomBytes(32),
  allowHttp: true,
  allowPrivate: true,
}

export const SILENT: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
}

export interface SeededWebhook {
  readonly customerId: string
  readonly endpoint: WebhookEndpoint
  readonly signingSecret: string
}

export async function seedWebhook(
  db: Database,
  url: string,
  more: { customerId?: string; eventTypes?: EventType[] } = {},
): Promise<SeededWebhook> {
  const customerId = more.customerId ?? (await seedCustomer(db, { balanceBrl: '0' })).customerId
  const input = { customerId, url, description: null, eventTypes: more.eventTypes ?? null }
  const made = await createWebhook(db, SYSTEM, SETTINGS.sealingKey, input)
  if (!('endpoint' in made)) throw new Error(made.kind)
  return { customerId, ...made }
}

/** Queues an event as the worker of events does; returns its id. */
export async function queueEvent(
  db: Database,
  customerId: string,
  data: Record<string, unknown> = {},
  type: EventType = 'topup.paid',
): Promise<string> {
  const event = { id: createId(), customerId, type, data, createdAt: new Date() }
  await db.transaction().execute((trx) => queueWebhooks(trx, event))
  return event.id
}

export function createDelivery(db: Database, more: Partial<WebhookDeliveryDeps> = {}): Runner {
  return createWebhookDelivery({ db, settings: SETTINGS, log: SILENT, ...more })
}

/** Until nothing is due any more and nothing runs. */
export async function deliverAll(delivery: Runner): Promise<void> {
  do await delivery.whenIdle()
  while ((await delivery.startDue()) > 0)
}

export function attemptsOf(db: Database, endpointId: string) {
  return db
    .selectFrom('webhook_attempts')
    .selectAll()
    .where('endpoint_id', '=', endpointId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}
