/** The sandbox processor, its adapter, and a receiver of its webhooks that can be made to fail. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAsaas } from '../../src/money/payments/asaas/create-asaas.ts'
import type {
  Payment,
  PaymentOrder,
  Processor,
  ReadEventOutcome,
} from '../../src/money/payments/processor.ts'
import {
  startSandboxProcessor,
  type SandboxProcessor,
  type SandboxProcessorOptions,
} from '../../src/sandbox/processor/start-sandbox-processor.ts'

export interface TestSandbox {
  readonly sandbox: SandboxProcessor
  readonly processor: Processor
  /** Another one, for a test in which the sandbox does not answer. */
  openProcessor(answerTimeoutMs: number): Processor
  /** Every delivery, as the adapter reads it, in their order. */
  readonly received: ReadEventOutcome[]
  /** The status for the next deliveries, one after the other; 200 after them. */
  answerWith(...statuses: number[]): void
  createPayer(more?: object): Promise<string>
  createPix(amountCents: bigint, ourId?: string): Promise<Payment>
  /** An operation that a person performs on the payment page. */
  act(paymentId: string, act: string): Promise<Response>
  typesOf(paymentId: string): string[]
  close(): Promise<void>
}

export const TOKEN = 'c0ffee-token-of-the-webhooks-of-tests'

export async function startTestSandbox(
  options: SandboxProcessorOptions = {},
): Promise<TestSandbox> {
  let statuses: number[] = []
  const received: ReadEventOutcome[] = []
  const receiver = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const outcome = processor.readEvent(request.headers, Buffer.concat(chunks))
      received.push(outcome)
      const status = statuses.shift() ?? (outcome.kind === 'invalid_token' ? 401 : 200)
      response.writeHead(status).end()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const webhookUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/inbound`
  const sandbox = await startSandboxProcessor({
    webhookUrl,
    webhookToken: TOKEN,
    apiKey: 'sandbox-key',
    settleAfterMs: 20,
    slowMs: 20,
    retryDelaysMs: [0, 5, 5, 5],
    ...options,
  })
  const openProcessor = (answerTimeoutMs: number): Processor =>
    createAsaas({
      baseUrl: sandbox.baseUrl,
      apiKey: 'sandbox-key',
      webhookToken: TOKEN,
      wait: () => Promise.resolve(),
      answerTimeoutMs,
    })
  const processor = openProcessor(30_000)
  let payers = 0

  async function createPayer(more: object = {}): Promise<string> {
    const made = await processor.ensureCustomer({
      ourId: `customer-${++payers}`,
      name: 'João da Silva',
      taxId: '24971563792',
      email: 'joao@example.com',
      ...more,
    })
    if (made.kind !== 'customer') throw new Error(made.kind)
    return made.customer.id
  }

  return {
    sandbox,
    processor,
    openProcessor,
    received,
    answerWith: (...given) => void (statuses = given),
    createPayer,
    async createPix(amountCents, ourId = `top-up-${Math.random()}`) {
      const made = await processor.createPayment({
        ...orderOf(await createPayer()),
        ourId,
        amountCents,
      })
      if (made.kind !== 'payment') throw new Error(made.kind)
      return made.payment
    },
    act(paymentId, act) {
      return fetch(sandbox.pageUrlOf(paymentId), {
        method: 'POST',
        body: new URLSearchParams({ acao: act }),
        redirect: 'manual',
      })
    },
    typesOf: (paymentId) =>
      received.flatMap((one) =>
        one.kind === 'event' && one.event.paymentId === paymentId ? [one.event.processorType] : [],
      ),
    async close() {
      await processor.close()
      await sandbox.close()
      await new Promise<void>((resolve) => {
        receiver.close(() => resolve())
        receiver.closeAllConnections()
      })
    },
  }
}

export function orderOf(processorCustomerId: string): PaymentOrder {
  return {
    ourId: 'top-up-1',
    processorCustomerId,
    method: 'pix',
    amountCents: 5_000n,
    dueDate: '2099-12-31',
    description: 'Recarga <b>& crédito</b>',
  }
}

/** Waits until the condition holds; the test's own time limit ends a wait for ever. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5))
}
