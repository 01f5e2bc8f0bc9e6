/**
 * The sandbox processor: a server of its own that speaks Asaas's published format over HTTP, so that
 * the adapter for Asaas serves both, and the first five minutes need no account anywhere. It moves no
 * money. The centavos of an amount decide how a payment misbehaves: see `sandbox-faults.ts`.
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
  /** With its version segment, as Asaas's: `http://127.0.0.1:4020/v3`. */
  readonly baseUrl: string
  pageUrlOf(paymentId: string): string
  /** From now on, events wait for and go to this address. */
  sendWebhooksTo(target: WebhookTarget): void
  /** The calls to come that match it go wrong. */
  failNext(fault: SandboxFault): void
  readonly webhooks: {
    /** Events that have not been delivered. */
    readonly waiting: number
    /** True after the last try failed: nothing is sent before `resume`. */
    readonly isInterrupted: boolean
    resume(): void
    /** Resolves when nothing waits any more, or the queue is interrupted. */
    settled(): Promise<void>
    /** Sends any body at once, past the queue, with any token or none; gives the status of the answer. */
    post(body: string, token: string | undefined): Promise<number>
  }
  /** Events that are not delivered stay in the file, if there is one. */
  close(): Promise<void>
}

export interface SandboxProcessorOptions {
  /** Where webhooks go, and what is in their header; `sendWebhooksTo` can say it later. */
  readonly webhookUrl?: string | undefined
  readonly webhookToken?: string | undefined
  /** 0, the default: a free one. */
  readonly port?: number
  readonly host?: string
  /** How browsers reach it, where that is not its own address: `https://pagamentos.example.com`. */
  readonly publicUrl?: string | undefined
  /** Without it any key is good, but not none. */
  readonly apiKey?: string | undefined
  /** Survives restarts; without it they forget every customer and payment. */
  readonly stateFile?: string | undefined
  /** Until a paid boleto is received and a refund is done. Two seconds if not given. */
  readonly settleAfterMs?: number
  /** How long an answer takes that is to be slow. Two seconds if not given. */
  readonly slowMs?: number
  /** What the account holds besides the payments. R$ 100.000,00 if not given. */
  readonly balanceCents?: bigint
  readonly retryDelaysMs?: readonly number[]
  /** Every event is sent twice. */
  readonly hasDuplicateEvents?: boolean
}

/** Longer than the pools of clients keep a connection, so that the client closes it, not we. */
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
