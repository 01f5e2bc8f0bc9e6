/**
 * The sandbox processor: a separate server with Asaas's published HTTP API. The adapter for Asaas works with both, and a
 * first try needs no account anywhere. It moves no money. The centavos of an amount select a fault of the payment: see
 * `sandbox-faults.ts`.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { randomUUID } from 'node:crypto'
import { urlHost } from '../url-host.ts'
import { createAnswer } from './answer-request.ts'
import { createWebhookQueue, RETRY_DELAYS_MS, type WebhookTarget } from './deliver-webhooks.ts'
import { openState, type SandboxState } from './open-state.ts'
import { createPaymentLife } from './payment-life.ts'
import { createFaults, type SandboxFault } from './sandbox-faults.ts'
import type { AnswerApiDeps, ApiCall, ApiRoute, Answer } from './api-call.ts'
import {
  createPaymentAnswers,
  createSandboxAnswers,
  answerList,
  matches,
} from './payment-answers.ts'
import { Refusal, renderCustomer } from './asaas-format.ts'
import { isObject } from '../../platform/lib/is-object.ts'
import { brasiliaDate, type SandboxCustomer } from './sandbox-records.ts'
import { checkCard } from './test-cards.ts'
import { readTaxId } from '../../platform/lib/tax-id.ts'

type Body = { readonly [name: string]: unknown }

const TEXT_FIELDS = [
  'name',
  'email',
  'phone',
  'mobilePhone',
  'address',
  'addressNumber',
  'complement',
  'province',
  'postalCode',
  'cpfCnpj',
  'externalReference',
  'observations',
]

function createCustomer(state: SandboxState, body: Body): SandboxCustomer {
  const customer: SandboxCustomer = {
    id: `cus_${String(state.nextNumber()).padStart(12, '0')}`,
    dateCreated: brasiliaDate(new Date()),
    isDeleted: false,
    fields: readFields(body, {}),
  }
  state.customers.set(customer.id, customer)
  return customer
}

function changeCustomer(customer: SandboxCustomer, body: Body): void {
  customer.fields = readFields(body, customer.fields)
}

/** Throws a `Refusal`. Fields that are not sent stay unchanged. */
function readFields(body: Body, before: SandboxCustomer['fields']): SandboxCustomer['fields'] {
  const fields: Record<string, string | boolean | null> = {}
  for (const name of TEXT_FIELDS) {
    const value = body[name]
    fields[name] = typeof value === 'string' ? value : (before[name] ?? null)
  }
  fields.notificationDisabled = body.notificationDisabled === true
  if (!fields.name) throw new Refusal(400, 'invalid_name', 'O nome do cliente deve ser informado.')
  fields.cpfCnpj = readCpfCnpj(fields.cpfCnpj)
  if (fields.email && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(String(fields.email))) {
    throw new Refusal(400, 'invalid_email', 'O e-mail informado é inválido.')
  }
  for (const name of ['phone', 'mobilePhone']) {
    const digits = fields[name]
    // A number that repeats one digit is refused, too.
    if (digits && (!/^\d{10,11}$/.test(String(digits)) || /^\d\d(\d)\1+$/.test(String(digits)))) {
      throw new Refusal(400, `invalid_${name}`, 'O telefone informado é inválido.')
    }
  }
  return fields
}

/** Refuses letters: Asaas documents no support for the newer, alphanumeric CNPJs. */
function readCpfCnpj(value: string | boolean | null | undefined): string {
  const digits = String(value ?? '').replaceAll(/[./\-\s]/g, '')
  const reading = readTaxId(digits)
  if (!/^\d+$/.test(digits) || !('taxId' in reading)) {
    throw new Refusal(400, 'invalid_object', 'O CPF/CNPJ informado é inválido.')
  }
  return reading.taxId
}

function createCustomerAnswers({
  state,
  life,
}: Pick<AnswerApiDeps, 'state' | 'life'>): Record<string, Answer> {
  const customerOf = (id: string): SandboxCustomer => {
    const customer = state.customers.get(id)
    if (!customer) throw new Refusal(404, 'not_found', 'Cliente não encontrado.')
    return customer
  }
  return {
    'POST /v3/customers': ({ body }) => renderCustomer(createCustomer(state, body)),
    'GET /v3/customers': ({ query }) => {
      const all = [...state.customers.values()].filter(({ isDeleted }) => !isDeleted)
      const found = all.filter(
        ({ fields }) =>
          matches(query, 'externalReference', fields.externalReference) &&
          matches(query, 'cpfCnpj', fields.cpfCnpj) &&
          matches(query, 'email', fields.email),
      )
      return answerList(found.map(renderCustomer), query)
    },
    'GET /v3/customers/{id}': (_call, id) => renderCustomer(customerOf(id)),
    'PUT /v3/customers/{id}': ({ body }, id) => {
      const customer = customerOf(id)
      changeCustomer(customer, body)
      return renderCustomer(customer)
    },
    'DELETE /v3/customers/{id}': (_call, id) => {
      customerOf(id).isDeleted = true
      // As at Asaas, pending and overdue payments go with their customer.
      for (const payment of state.payments.values())
        if (payment.customerId === id && life.isOpen(payment)) life.remove(payment)
      return { deleted: true, id }
    },
    'POST /v3/creditCard/tokenizeCreditCard': ({ body }) => tokenize(state, body),
  }
}

function tokenize(state: SandboxState, body: ApiCall['body']): object {
  const customer = state.customers.get(String(body.customer))
  if (!customer) {
    throw new Refusal(400, 'invalid_customer', 'Customer inválido ou não informado.')
  }
  if (typeof body.remoteIp !== 'string' || body.remoteIp === '') {
    throw new Refusal(400, 'invalid_remoteIp', 'O IP do cliente deve ser informado.')
  }
  const holder = isObject(body.creditCardHolderInfo) ? body.creditCardHolderInfo : {}
  for (const name of ['name', 'email', 'cpfCnpj', 'postalCode', 'addressNumber', 'phone']) {
    if (!holder[name]) {
      throw new Refusal(400, `invalid_${name}`, `Informe ${name} do titular do cartão.`)
    }
  }
  const card = isObject(body.creditCard) ? body.creditCard : {}
  const { brand, lastFour, isDeclinedLater } = checkCard(card, brasiliaDate(new Date()))
  const token = randomUUID()
  state.cards.set(token, {
    token,
    customerId: customer.id,
    brand,
    lastFour,
    isDeclinedLater,
  })
  return { creditCardNumber: lastFour, creditCardBrand: brand, creditCardToken: token }
}

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

/**
 * Returns the lookup of the endpoints of Asaas's API v3 that the adapter calls, and those of Asaas's sandbox. It gives
 * undefined for an unknown endpoint.
 */
function createFindRoute(
  deps: AnswerApiDeps,
): (call: Pick<ApiCall, 'method' | 'path'>) => ApiRoute | undefined {
  const answers = new Map(
    Object.entries({
      ...createCustomerAnswers(deps),
      ...createPaymentAnswers(deps),
      ...createSandboxAnswers(deps),
    }),
  )
  return ({ method, path }) => {
    const [, , room, second, third, fourth] = path.split('/')
    const ids = path.startsWith('/v3/sandbox/payment/') ? third : second
    const names =
      room === 'sandbox'
        ? ['sandbox', second, '{id}', fourth]
        : [room, room === 'creditCard' ? second : second && '{id}', third]
    const rest = names.filter((name) => name !== undefined && name !== '')
    const endpoint = `${method} /v3/${rest.join('/')}`
    const answer = answers.get(endpoint)
    return answer && { endpoint, answer: (call) => answer(call, decodeId(ids ?? '')) }
  }
}

function decodeId(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Refusal(404, 'not_found', 'Recurso não encontrado.')
  }
}
