/** The environment of killed processes: the database and the servers of others, which outlive them. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../src/platform/db/open.ts'
import { createAsaas, type AsaasOptions } from '../../src/money/payments/asaas/create-asaas.ts'
import type { Processor } from '../../src/money/payments/processor.ts'
import {
  startSandboxProcessor,
  type SandboxProcessor,
} from '../../src/sandbox/processor/start-sandbox-processor.ts'
import { takeEvent } from '../../src/money/payments/take-event.ts'
import { startMailServer, type MailServer } from '../harness/mail-server.ts'
import { createTestDatabase } from '../harness/test-database.ts'
import { SETTINGS, startReceiver, type Receiver } from '../harness/webhook-receiver.ts'

/** The addresses and keys that a process needs to act in this world, as JSON. */
export interface Access {
  readonly databaseUrl: string
  readonly asaas: Pick<AsaasOptions, 'baseUrl' | 'apiKey' | 'webhookToken'>
  readonly smtpUrl: string
  readonly sealingKey: string
}

export interface World {
  readonly access: Access
  readonly db: Database
  readonly sandbox: SandboxProcessor
  readonly processor: Processor
  /** The receiver of the sandbox's events, which stores them as our own server does. */
  readonly inbound: { readonly url: string; readonly token: string }
  readonly mails: MailServer
  readonly receiver: Receiver
  /** Resolves when no statement and no mail of a killed process is in progress. */
  untilQuiet(): Promise<void>
  close(): Promise<void>
}

/** Long enough for the process that takes over from a killed one to find a refund in progress. */
const SETTLE_MS = 400
const APPLICATION = 'killed'
const WEBHOOK_TOKEN = 'c0ffee-token-of-the-webhooks-of-tests'

export async function startWorld(): Promise<World> {
  const database = await createTestDatabase()
  const { db } = database
  // The sandbox repeats its events until a server accepts them.
  const retryDelaysMs = [0, ...Array.from({ length: 10_000 }, () => 5)]
  const sandbox = await startSandboxProcessor({ settleAfterMs: SETTLE_MS, retryDelaysMs })
  const asaas = { baseUrl: sandbox.baseUrl, apiKey: 'key', webhookToken: WEBHOOK_TOKEN }
  const processor = createAsaas(asaas)
  const inbound = await startInbound(db, processor)
  sandbox.sendWebhooksTo(inbound)
  const sessions = new Set<string>()
  const mails = await startMailServer({
    onConnect: ({ id }, callback) => {
      sessions.add(id)
      callback()
    },
    onClose: ({ id }) => void sessions.delete(id),
  })
  const receiver = await startReceiver()

  return {
    access: {
      databaseUrl: named(database.databaseUrl),
      asaas,
      smtpUrl: `smtp://127.0.0.1:${mails.port}`,
      sealingKey: SETTINGS.sealingKey.toString('base64'),
    },
    db,
    sandbox,
    processor,
    inbound,
    mails,
    receiver,
    async untilQuiet() {
      while (sessions.size > 0 || (await isConnected(db))) await sleep(2)
    },
    async close() {
      receiver.close()
      await Promise.all([mails.close(), processor.close(), sandbox.close(), inbound.close()])
      await database.drop()
    },
  }
}

/** Distinguishes connections of killed processes from the test's. */
function named(databaseUrl: string): string {
  const url = new URL(databaseUrl.replace('@/', '@placeholder/'))
  url.searchParams.set('application_name', APPLICATION)
  return url.href.replace('@placeholder/', '@/')
}

async function isConnected(db: Database): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pg_stat_activity
    where datname = current_database() and application_name = ${APPLICATION} limit 1`.execute(db)
  return rows.length > 0
}

async function startInbound(db: Database, processor: Processor) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const read = processor.readEvent(request.headers, Buffer.concat(chunks))
      const stored =
        read.kind === 'event'
          ? takeEvent(db, processor.id, read.event)
          : Promise.reject(new Error(read.kind))
      stored.then(
        () => response.end(),
        () => response.writeHead(500).end(),
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: WEBHOOK_TOKEN,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
