import { join } from 'node:path'
import { randomText } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { createAsaas } from '../payments/asaas/create-asaas.ts'
import type { Processor } from '../payments/processor.ts'
import { startSandboxProcessor } from '../sandbox/processor/start-sandbox-processor.ts'
import type { Config } from './config.ts'
import { createClosing, type Closable } from './create-closing.ts'

export interface OpenPayments extends Closable {
  /** Undefined if nobody can top up. */
  readonly processor: Processor | undefined
  /** The sandbox processor sends its events to this address; the real one is configured on its own website. */
  sendSandboxEventsTo(url: string): void
}

/** The account at the payment processor; in sandbox mode a local server, called over HTTP like the real one. */
export async function openPayments(config: Config, log: Log): Promise<OpenPayments> {
  if (config.mode === 'sandbox') return openSandbox(config, log)
  const processor = config.asaas && createAsaas(config.asaas)
  return { processor, sendSandboxEventsTo() {}, close: () => processor?.close() }
}

async function openSandbox({ dataDir }: Config, log: Log): Promise<OpenPayments> {
  const closing = createClosing(log)
  const stateFile = join(dataDir, 'sandbox-payments.json')
  const server = closing.add('sandbox processor', await startSandboxProcessor({ stateFile }))
  const token = randomText(40)
  const { baseUrl } = server
  const processor = closing.add(
    'processor',
    createAsaas({ baseUrl, apiKey: 'sandbox', webhookToken: token }),
  )
  return {
    processor,
    sendSandboxEventsTo: (url) => server.sendWebhooksTo({ url, token }),
    close: () => closing.close(),
  }
}
