/**
 * The adapter for Asaas (API v3), and for the sandbox processor, which speaks the same over HTTP. It
 * stores nothing and knows no balance. Tests stand beside it: against the sandbox, and against a server
 * that replays Asaas's published answers and its bad days.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Processor } from '../processor.ts'
import { createAsk, type AskOptions } from './ask.ts'
import { tokenizeCard } from './cards.ts'
import { ensureCustomer } from './customers.ts'
import { listPayments } from './list-payments.ts'
import { boleto, cancelPayment, pixCode, refund } from './payment-acts.ts'
import { createPayment, findPayment, findPaymentByReference } from './payments.ts'
import { createReadEvent } from './read-event.ts'

export interface AsaasOptions {
  /** With its version segment: `https://api.asaas.com/v3`. */
  readonly baseUrl: string
  readonly apiKey: string
  /** What Asaas sends with its webhooks. Without it all of them are refused. */
  readonly webhookToken: string | undefined
  readonly connectTimeoutMs?: number
  readonly answerTimeoutMs?: number
  readonly cardTimeoutMs?: number
  readonly wait?: AskOptions['wait']
}

const CONNECT_TIMEOUT_MS = 5_000
const ANSWER_TIMEOUT_MS = 15_000
const CARD_TIMEOUT_MS = 60_000

export function createAsaas(options: AsaasOptions): Processor {
  const ask = createAsk({
    baseUrl: options.baseUrl,
    apiKey: options.apiKey,
    connectTimeoutMs: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    answerTimeoutMs: options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS,
    cardTimeoutMs: options.cardTimeoutMs ?? CARD_TIMEOUT_MS,
    wait: options.wait ?? ((ms) => sleep(ms)),
  })
  return {
    id: 'asaas',
    ensureCustomer: (details, knownId) => ensureCustomer(ask, details, knownId),
    createPayment: (order) => createPayment(ask, order),
    findPaymentByReference: (ourId) => findPaymentByReference(ask, ourId),
    findPayment: (id) => findPayment(ask, id),
    listPayments: (query) => listPayments(ask, query),
    pixCode: (paymentId) => pixCode(ask, paymentId),
    boleto: (paymentId) => boleto(ask, paymentId),
    cancelPayment: (id) => cancelPayment(ask, id),
    tokenizeCard: (card) => tokenizeCard(ask, card),
    refund: (request) => refund(ask, request),
    readEvent: createReadEvent(options.webhookToken),
    close: () => ask.close(),
  }
}
