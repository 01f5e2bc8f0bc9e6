/**
 * The adapter for Asaas (API v3), and for the sandbox processor, which serves the same API. It stores nothing and
 * changes no balance. It is tested against the sandbox, and against a server that replays Asaas's published answers and
 * failures.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Processor } from '../processor.ts'
import { createCallAsaas, type CallOptions } from './call-asaas.ts'
import { tokenizeCard } from './cards.ts'
import { ensureCustomer, removeCustomer } from './customers.ts'
import { listPayments } from './list-payments.ts'
import { boleto, cancelPayment, pixCode, refund } from './payment-acts.ts'
import { createPayment, findPayment, findPaymentByReference } from './payments.ts'
import { createReadEvent } from './read-event.ts'

export interface AsaasOptions {
  /** Includes the version segment: `https://api.asaas.com/v3`. */
  readonly baseUrl: string
  readonly apiKey: string
  /** The token that Asaas sends with its webhooks. Without it every webhook is refused. */
  readonly webhookToken: string | undefined
  readonly connectTimeoutMs?: number
  readonly answerTimeoutMs?: number
  readonly cardTimeoutMs?: number
  readonly wait?: CallOptions['wait']
}

const CONNECT_TIMEOUT_MS = 5_000
const ANSWER_TIMEOUT_MS = 15_000
const CARD_TIMEOUT_MS = 60_000

export function createAsaas(options: AsaasOptions): Processor {
  const call = createCallAsaas({
    baseUrl: options.baseUrl,
    apiKey: options.apiKey,
    connectTimeoutMs: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    answerTimeoutMs: options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS,
    cardTimeoutMs: options.cardTimeoutMs ?? CARD_TIMEOUT_MS,
    wait: options.wait ?? ((ms) => sleep(ms)),
  })
  return {
    id: 'asaas',
    ensureCustomer: (details, knownId) => ensureCustomer(call, details, knownId),
    removeCustomer: (ourId) => removeCustomer(call, ourId),
    createPayment: (order) => createPayment(call, order),
    findPaymentByReference: (ourId) => findPaymentByReference(call, ourId),
    findPayment: (id) => findPayment(call, id),
    listPayments: (query) => listPayments(call, query),
    pixCode: (paymentId) => pixCode(call, paymentId),
    boleto: (paymentId) => boleto(call, paymentId),
    cancelPayment: (id) => cancelPayment(call, id),
    tokenizeCard: (card) => tokenizeCard(call, card),
    refund: (request) => refund(call, request),
    readEvent: createReadEvent(options.webhookToken),
    close: () => call.close(),
  }
}
