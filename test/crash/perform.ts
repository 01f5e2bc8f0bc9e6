/**
 * The acts of processes that may be killed, by name. Each act loads only the modules that it needs, because
 * hundreds of such processes are started.
 */
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import type { ActOutcome } from '../../src/platform/idempotency/act-once.ts'
import { openDatabase, type Database } from '../../src/platform/db/open.ts'
import type { Log } from '../../src/platform/lib/log.ts'
import type { Processor } from '../../src/money/payments/processor.ts'
import type { Access } from './world.ts'

export const PERFORM: Readonly<
  Record<string, (access: Access, prepared: never) => Promise<unknown>>
> = {
  async 'create-top-up'(access, { order }: { order: TopUpOrder }) {
    const { createTopUp } = await import('../../src/money/payments/create-top-up.ts')
    return createTopUp(open(access), SYSTEM, await processorOf(access), topUpInput(order))
  },

  async 'repeat-top-up'(access, { order, key }: { order: TopUpOrder; key: string }) {
    return topUpOnce({ db: open(access), processor: await processorOf(access) }, order, key)
  },

  async 'repeat-key'(access, given: { customerId: string; key: string }) {
    return keyOnce(open(access), given)
  },

  async 'handle-events'(access) {
    const { handleEvents } = await import('../../src/money/payments/take-event.ts')
    return handleEvents(open(access), await processorOf(access), SILENT)
  },

  async refund(access, { order }: { order: RefundOrder }) {
    const { requestRefund } = await import('../../src/money/payments/refunds/request-refund.ts')
    const { processRefunds } = await import('../../src/money/payments/refunds/process-refunds.ts')
    const db = open(access)
    await db.transaction().execute((trx) => requestRefund(trx, SYSTEM, refundInput(order)))
    return processRefunds(db, await processorOf(access), SILENT)
  },

  async 'take-event'(access, { port }: { port: number }) {
    const { default: Fastify } = await import('fastify')
    const { processorEventRoutes } =
      await import('../../src/http/processor-events/processor-event-routes.ts')
    const { addRoutes } = await import('../../src/http/rest/route.ts')
    const db = open(access)
    const processor = await processorOf(access)
    const server = Fastify()
    server.removeAllContentTypeParsers()
    server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
      done(null, body)
    })
    const deps = { db, payments: { processor }, wakeProcessorEvents: () => {}, log: SILENT }
    addRoutes(server, processorEventRoutes, (route) => route.handlersOf(deps))
    let answered = 0
    const done = new Promise<void>((resolve) => {
      server.addHook('onResponse', async () => void (++answered === 2 && resolve()))
    })
    await server.listen({ port, host: '127.0.0.1' })
    return done
  },

  async 'dispatch-events'(access) {
    const { dispatchEvents } = await import('../../src/platform/events/dispatch-events.ts')
    const { queueMails } = await import('../../src/deliveries/email/queue-mails.ts')
    const { queueWebhooks } = await import('../../src/deliveries/webhooks/queue-messages.ts')
    return dispatchEvents(open(access), [queueMails, queueWebhooks], SILENT)
  },

  async 'send-mails'(access) {
    const { createSmtpMailer } = await import('../../src/deliveries/email/create-smtp-mailer.ts')
    const { SANDBOX_SENDER: sender } = await import('../../src/deliveries/email/mail-sender.ts')
    const { readSmtpUrl } = await import('../../src/deliveries/email/smtp-url.ts')
    const { sendDueMails } = await import('../../src/deliveries/email/send-due-mails.ts')
    const mailer = createSmtpMailer(readSmtpUrl(access.smtpUrl) as never)
    return sendDueMails(open(access), { mailer, sender, log: SILENT })
  },

  async 'deliver-webhooks'(access) {
    const { createWebhookDelivery } =
      await import('../../src/deliveries/webhooks/webhook-delivery.ts')
    const delivery = createWebhookDelivery({
      db: open(access),
      settings: {
        sealingKey: Buffer.from(access.sealingKey, 'base64'),
        allowHttp: true,
        allowPrivate: true,
      },
      log: SILENT,
    })
    await delivery.startDue()
    return delivery.whenIdle()
  },
}

export interface TopUpOrder {
  readonly customerId: string
  readonly amountCents: number
  readonly method: 'pix' | 'boleto'
}

/** The input of the top-up, with its payer. */
export function topUpInput({ customerId, amountCents, method }: TopUpOrder) {
  const payer = {
    ourId: customerId,
    name: 'João da Silva',
    taxId: '24971563792',
    email: 'joao@example.com',
  }
  return { customerId, payer, amountNanoBrl: BigInt(amountCents) * 10_000_000n, method }
}

const SEALING_KEY = Buffer.alloc(32, 7)

/** As `POST /topups` with an `Idempotency-Key`. */
export async function topUpOnce(
  { db, processor }: { db: Database; processor: Processor },
  order: TopUpOrder,
  key: string,
): Promise<ActOutcome> {
  const { actResumably } = await import('../../src/platform/idempotency/act-once.ts')
  const { createTopUp, resumeTopUp } = await import('../../src/money/payments/create-top-up.ts')
  const { customerId } = order
  return actResumably(
    { db, keys: { sealingKey: SEALING_KEY } },
    { customerId, apiKeyId: undefined, key, fingerprint: 'x' },
    async ({ id, isResumed }) => {
      const resumed = isResumed && (await resumeTopUp(db, processor, { customerId, id }))
      const made =
        resumed || (await createTopUp(db, SYSTEM, processor, { ...topUpInput(order), id }))
      if (made.kind !== 'created') throw new Error(made.kind)
      return { status: 201, body: made.topUp.id }
    },
    () => 'unknown',
  )
}

/** As `POST /api-keys` with an `Idempotency-Key`. */
export async function keyOnce(
  db: Database,
  { customerId, key }: { customerId: string; key: string },
): Promise<ActOutcome> {
  const { actOnce } = await import('../../src/platform/idempotency/act-once.ts')
  const { createApiKey } = await import('../../src/customers/api-keys.ts')
  return actOnce(
    { db, keys: { sealingKey: SEALING_KEY } },
    { customerId, apiKeyId: undefined, key, fingerprint: 'x' },
    async (trx) => {
      const input = { customerId, name: 'repetida', requestsPerMinute: 120 }
      return { status: 201, body: (await createApiKey(trx, input)).secret }
    },
  )
}

export interface RefundOrder {
  readonly customerId: string
  readonly amountCents: number
}

export function refundInput({ customerId, amountCents }: RefundOrder) {
  const amountNanoBrl = BigInt(amountCents) * 10_000_000n
  const reviewAboveNanoBrl = amountNanoBrl
  return { customerId, amountNanoBrl, topUpId: undefined, reason: undefined, reviewAboveNanoBrl }
}

export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} }

function open({ databaseUrl }: Access): Database {
  return openDatabase(databaseUrl, { onError: () => {} }).db
}

async function processorOf({ asaas }: Access): Promise<Processor> {
  const { createAsaas } = await import('../../src/money/payments/asaas/create-asaas.ts')
  return createAsaas(asaas)
}
