/** A scripted server that plays Asaas, also with faults, and records its requests. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAsaas, type AsaasOptions } from '../../src/money/payments/asaas/create-asaas.ts'
import type { Processor } from '../../src/money/payments/processor.ts'

export interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export type Script = (response: ServerResponse, asked: Asked) => void

export interface ScriptedServer {
  readonly origin: string
  readonly processor: Processor
  readonly asked: Asked[]
  /** Used one after the other; the last one stays. */
  answer(...scripts: Script[]): void
  open(options?: Partial<AsaasOptions>): Processor
  close(): Promise<void>
}

export const API_KEY = '$aact_hmlg_000key-of-tests'

export async function startScriptedServer(): Promise<ScriptedServer> {
  const asked: Asked[] = []
  let scripts: Script[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const one = { method, url, headers, body: Buffer.concat(chunks).toString('utf8') }
      asked.push(one)
      const script = scripts.length > 1 ? scripts.shift() : scripts[0]
      script?.(response, one)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const opened: Processor[] = []
  const open = (options: Partial<AsaasOptions> = {}): Processor => {
    const processor = createAsaas({
      baseUrl: `${origin}/v3`,
      apiKey: API_KEY,
      webhookToken: 'token-of-tests',
      wait: () => Promise.resolve(),
      ...options,
    })
    opened.push(processor)
    return processor
  }
  return {
    origin,
    processor: open(),
    asked,
    open,
    answer(...given) {
      scripts = given
      asked.length = 0
    },
    async close() {
      await Promise.all(opened.map((one) => one.close()))
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
    },
  }
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Script {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return (response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json;charset=UTF-8', ...headers })
      .end(text)
}

export function errors(code: string, description: string, status = 400): Script {
  return json({ errors: [{ code, description }] }, status)
}

/** As Asaas's sandbox answered, except for the given fields. */
export function paymentBody(more: object = {}): object {
  return {
    object: 'payment',
    id: 'pay_ibvub5tu20v9lxr7',
    dateCreated: '2026-07-14',
    customer: 'cus_000008392496',
    checkoutSession: null,
    paymentLink: null,
    value: 100,
    netValue: 98.01,
    originalValue: null,
    interestValue: null,
    description: 'Recarga',
    billingType: 'PIX',
    pixTransaction: null,
    status: 'PENDING',
    dueDate: '2026-07-19',
    originalDueDate: '2026-07-19',
    paymentDate: null,
    clientPaymentDate: null,
    installmentNumber: null,
    invoiceUrl: 'https://sandbox.asaas.com/i/ibvub5tu20v9lxr7',
    invoiceNumber: '15924714',
    externalReference: 'top-up-1',
    deleted: false,
    anticipated: false,
    anticipable: false,
    creditDate: null,
    estimatedCreditDate: null,
    transactionReceiptUrl: null,
    nossoNumero: null,
    bankSlipUrl: null,
    discount: { value: 0, limitDate: null, dueDateLimitDays: 0, type: 'FIXED' },
    fine: { value: 0, type: 'FIXED' },
    interest: { value: 0, type: 'PERCENTAGE' },
    postalService: false,
    escrow: null,
    refunds: null,
    ...more,
  }
}
