/**
 * The sandbox processor: a separate server with Asaas's published HTTP API. The adapter for Asaas works with both, and a
 * first try needs no account anywhere. It moves no money. The centavos of an amount select a fault of the payment: see
 * `sandbox-faults.ts`.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { urlHost } from '../url-host.ts'
import { createAnswer } from './answer-request.ts'
import { createFindRoute } from './answer-api.ts'
import { createWebhookQueue, RETRY_DELAYS_MS, type WebhookTarget } from './deliver-webhooks.ts'
import { openState } from './open-state.ts'
import { createPaymentLife } from './payment-life.ts'
import { createFaults, type SandboxFault } from './sandbox-faults.ts'

export interface SandboxProcessor {
  /** Includes the version segment, like Asaas's: `http://127.0.0.1:4020/v3`. */
  readonly baseUrl: string
  pageUrlOf(paymentId: string): string
  /** Sends waiting and future events to this address. */
  sendWebhooksTo(target: WebhookTarget): void
  /** Makes the next matching calls fail. */
  failNext(fault: SandboxFault): void
  readonly webhooks: {
    /** The number of undelivered events. */
    readonly waiting: number
    /** True after the last try has failed: nothing is sent before `resume`. */
    readonly isInterrupted: boolean
    resume(): void
    /** Resolves when all events are delivered or the queue is interrupted. */
    settled(): Promise<void>
    /** Sends any body outside the queue, with any token or none; resolves to the status of the answer. */
    post(body: string, token: string | undefined): Promise<number>
  }
  /** Undelivered events stay in the state file, if there is one. */
  close(): Promise<void>
}

export interface SandboxProcessorOptions {
  /** The address of the webhooks and the token in their header; `sendWebhooksTo` can set both later. */
  readonly webhookUrl?: string | undefined
  readonly webhookToken?: string | undefined
  /** 0, the default, chooses a free port. */
  readonly port?: number
  readonly host?: string
  /** The address by which browsers reach it, if it is another one: `https://pagamentos.example.com`. */
  readonly publicUrl?: string | undefined
  /** Without it any key is accepted, but a key is required. */
  readonly apiKey?: string | undefined
  /** Keeps the state over restarts; without it, customers and payments are lost. */
  readonly stateFile?: string | undefined
  /** The delay until a paid boleto is received and a refund is completed. Two seconds by default. */
  readonly settleAfterMs?: number
  /** The time that a slow answer takes. Two seconds by default. */
  readonly slowMs?: number
  /** The money in the account besides the payments. R$ 100.000,00 by default. */
  readonly balanceCents?: bigint
  readonly retryDelaysMs?: readonly number[]
  /** Every event is sent twice. */
  readonly hasDuplicateEvents?: boolean
}

/** Longer than client pools keep a connection, so that the client closes it first. */
const KEEP_ALIVE_MS = 75_000

export async function startSandboxProcessor(
  options: SandboxProcessorOptions = {},
): Promise<SandboxProcessor> {
  const { port = 0, host = '127.0.0.1', webhookUrl, webhookToken = '' } = options
  const state = await openState(options.stateFile)
  const queue = createWebhookQueue(state, {
    target: webhookUrl === undefined ? undefined : { url: webhookUrl, token: webhookToken },
    retryDelaysMs: options.retryDelaysMs ?? RETRY_DELAYS_MS,
  })
  const origin = (): string => options.publicUrl?.replace(/\/$/, '') ?? ownOrigin
  const faults = createFaults()
  const life = createPaymentLife({
    state,
    queue,
    origin,
    settleAfterMs: options.settleAfterMs ?? 2_000,
    balanceCents: options.balanceCents ?? 10_000_000n,
    hasDuplicateEvents: options.hasDuplicateEvents ?? false,
  })
  const answer = createAnswer({
    state,
    life,
    faults,
    findRoute: createFindRoute({ state, life }),
    apiKey: options.apiKey,
    slowMs: options.slowMs ?? 2_000,
  })
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    void answer(request, response)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const ownOrigin = `http://${urlHost(host)}:${(server.address() as AddressInfo).port}`
  queue.wake()

  return {
    baseUrl: `${ownOrigin}/v3`,
    pageUrlOf: (paymentId) => `${origin()}/i/${paymentId.replace('pay_', '')}`,
    sendWebhooksTo: (target) => queue.sendTo(target),
    failNext: (fault) => faults.failNext(fault),
    webhooks: {
      get waiting() {
        return state.events.length
      },
      get isInterrupted() {
        return queue.isInterrupted
      },
      resume: () => queue.resume(),
      settled: () => queue.settled(),
      post: (body, token) => queue.post(body, token),
    },
    async close() {
      life.close()
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
      await queue.close()
      await state.save()
    },
  }
}
