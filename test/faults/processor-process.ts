/** The payment processor of a world, in a separate process, which no fault of a node or of the database affects. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findFreePort } from '../harness/find-free-port.ts'

export interface ProcessorSettings {
  readonly port: number
  readonly apiKey: string
  readonly webhookToken: string
  readonly certFile: string
  readonly keyFile: string
  readonly stateFile: string
  readonly nodePorts: readonly number[]
}

/** What the processor holds of one customer, in centavos. */
export interface PaidMoney {
  readonly paidCents: bigint
  readonly refundedCents: bigint
}

export interface ProcessorProcess {
  /** Of the nodes that use it. */
  readonly env: Readonly<Record<string, string>>
  start(nodePorts: readonly number[]): Promise<void>
  /** By the id of our top-up, which the processor stores with each payment. */
  readPaid(topUpIds: ReadonlySet<string>): Promise<PaidMoney>
  stop(): Promise<void>
}

interface StoredState {
  readonly payments: readonly {
    readonly externalReference: string | null
    readonly amountCents: string
    readonly paidDate?: string
    readonly refunds: readonly { readonly amountCents: string; readonly status: string }[]
  }[]
}

/** Undefined where no certificate can be made: then nobody tops up, and the report says so. */
export async function createProcessor(folder: string): Promise<ProcessorProcess | undefined> {
  const certFile = join(folder, 'processor.pem')
  const keyFile = join(folder, 'processor.key')
  if (!makeCertificate(certFile, keyFile)) return undefined
  const port = await findFreePort()
  const stateFile = join(folder, 'processor.json')
  const apiKey = 'key-of-the-fault-rounds'
  const webhookToken = 'token-of-the-webhooks-of-the-fault-rounds'
  let end = (): void => {}
  return {
    env: {
      ASAAS_BASE_URL: `https://127.0.0.1:${port}/v3`,
      ASAAS_API_KEY: apiKey,
      ASAAS_WEBHOOK_TOKEN: webhookToken,
      NODE_EXTRA_CA_CERTS: certFile,
    },
    async start(nodePorts) {
      const settings: ProcessorSettings = {
        port,
        apiKey,
        webhookToken,
        certFile,
        keyFile,
        stateFile,
        nodePorts,
      }
      const child = spawn(
        process.execPath,
        [join(import.meta.dirname, './processor-main.ts'), JSON.stringify(settings)],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      )
      end = () => void child.kill('SIGKILL')
      process.once('exit', end)
      await once(child.stdout, 'data')
    },
    async readPaid(topUpIds) {
      const text = await readFile(stateFile, 'utf8').catch(() => '{"payments":[]}')
      const { payments } = JSON.parse(text) as StoredState
      const ours = payments.filter(
        ({ externalReference: id, paidDate }) => paidDate && id !== null && topUpIds.has(id),
      )
      const refunds = ours.flatMap((payment) => payment.refunds)
      return {
        paidCents: sum(ours),
        refundedCents: sum(refunds.filter(({ status }) => status === 'DONE')),
      }
    },
    async stop() {
      process.off('exit', end)
      end()
    },
  }
}

function sum(amounts: readonly { readonly amountCents: string }[]): bigint {
  return amounts.reduce((total, { amountCents }) => total + BigInt(amountCents), 0n)
}

function makeCertificate(certFile: string, keyFile: string): boolean {
  const options = '-x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1'.split(' ')
  try {
    execFileSync(
      'openssl',
      [
        'req',
        ...options,
        '-addext',
        'subjectAltName=IP:127.0.0.1',
        '-out',
        certFile,
        '-keyout',
        keyFile,
      ],
      { stdio: 'ignore' },
    )
    return true
  } catch {
    return false
  }
}
