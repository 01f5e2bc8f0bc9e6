import { join } from 'node:path'
import { randomText } from '../platform/lib/ids.ts'
import type { Log } from '../platform/lib/log.ts'
import { createAsaas } from '../money/payments/asaas/create-asaas.ts'
import type { Processor } from '../money/payments/processor.ts'
import { startSandboxProcessor } from '../sandbox/processor/start-sandbox-processor.ts'
import type { Config } from './config/config.ts'
import { createClosing, type Closable } from './create-closing.ts'
import type { ProcessPlace, SandboxAccount } from './process-place.ts'

export interface OpenPayments extends Closable {
  /** Undefined if nobody can top up. */
  readonly processor: Processor | undefined
  /** Of the sandbox processor that this process runs. */
  readonly sandboxAccount: SandboxAccount | undefined
  /** The sandbox processor sends its events to this address; the real one is configured on its own website. */
  sendSandboxEventsTo(url: string): void
}

/** Opens the account at the payment processor; in sandbox mode a local server, called over HTTP like the real one. */
export async function openPayments(
  config: Config,
  log: Log,
  place: ProcessPlace,
): Promise<OpenPayments> {
  const isSandbox = config.mode === 'sandbox'
  if (isSandbox && place.role !== 'worker') return openSandbox(config, log)
  const account = place.role === 'worker' && place.sandbox ? sandboxAsaas(place.sandbox) : undefined
  const asaas = isSandbox ? account : config.asaas
  const processor = asaas && createAsaas(asaas)
  return {
    processor,
    sandboxAccount: undefined,
    sendSandboxEventsTo() {},
    close: () => processor?.close(),
  }
}

function sandboxAsaas(account: SandboxAccount) {
  return { ...account, apiKey: 'sandbox' }
}

async function openSandbox({ dataDir }: Config, log: Log): Promise<OpenPayments> {
  const closing = createClosing(log)
  const stateFile = join(dataDir, 'sandbox-payments.json')
  const server = closing.add('sandbox processor', await startSandboxProcessor({ stateFile }))
  const token = randomText(40)
  const sandboxAccount = { baseUrl: server.baseUrl, webhookToken: token }
  const processor = closing.add('processor', createAsaas(sandboxAsaas(sandboxAccount)))
  return {
    processor,
    sandboxAccount,
    sendSandboxEventsTo: (url) => server.sendWebhooksTo({ url, token }),
    close: () => closing.close(),
  }
}
