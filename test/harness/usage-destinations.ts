/** A customer with a destination of usage, and the worker that sends to it. */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import type { Database } from '../../src/platform/db/open.ts'
import { completeUntil } from '../../src/money/ledger/audit/audit-seals.ts'
import { createResponseStore } from '../../src/customers/stored-responses/response-store.ts'
import type { Runner } from '../../src/deliveries/create-runner.ts'
import type { ReceiverSettings } from '../../src/deliveries/receiver.ts'
import { createCompleteTime } from '../../src/deliveries/usage-destinations/read-unsent.ts'
import type { DestinationAccess } from '../../src/deliveries/usage-destinations/destination-access.ts'
import {
  createUsageExport,
  type SendUsageDeps,
} from '../../src/deliveries/usage-destinations/send-usage.ts'
import {
  createDestination,
  findDestination,
  type UsageDestination,
} from '../../src/deliveries/usage-destinations/usage-destinations.ts'
import { seedUsage, type SeededEvent, type SeededUse } from './seed-usage.ts'
import { seedCustomer } from './test-database.ts'

/** Some tests keep a transaction open. */
const OPEN_MS_MAX = 500

export const DESTINATION_SETTINGS: ReceiverSettings = {
  sealingKey: randomBytes(32),
  allowHttp: true,
  allowPrivate: true,
}

export interface SeededDestination {
  readonly customerId: string
  readonly apiKeyId: string
  readonly destination: UsageDestination
}

export async function seedDestination(
  db: Database,
  url: string,
  more: {
    customerId?: string
    apiKeyId?: string
    access?: DestinationAccess
    includesContent?: boolean
    sealingKey?: Buffer
  } = {},
): Promise<SeededDestination> {
  const customer =
    more.customerId !== undefined && more.apiKeyId !== undefined
      ? { customerId: more.customerId, apiKeyId: more.apiKeyId }
      : await seedBuyer(db)
  const made = await createDestination(
    db,
    SYSTEM,
    more.sealingKey ?? DESTINATION_SETTINGS.sealingKey,
    {
      customerId: customer.customerId,
      url,
      access: more.access ?? { kind: 'otlp', headers: {} },
      includesContent: more.includesContent ?? false,
    },
  )
  if ('problem' in made) throw new Error(made.problem)
  return { ...customer, destination: made }
}

export async function seedBuyer(db: Database): Promise<{ customerId: string; apiKeyId: string }> {
  const { customerId, key } = await seedCustomer(db, { balanceBrl: '1000', name: 'produção' })
  return { customerId, apiKeyId: key.id }
}

/** Calls that are settled now. */
export function seedCalls(
  db: Database,
  { customerId, apiKeyId }: { customerId: string; apiKeyId: string },
  count: number,
  more: Partial<SeededUse> = {},
): Promise<SeededEvent[]> {
  const events = Array.from({ length: count }, (_, n) => ({
    at: new Date(Date.now() - 60_000 + n),
    modelId: 'gpt-4o',
    promptTokens: 100 + n,
    completionTokens: 10,
    ...more,
  }))
  return seedUsage(db, { customerId, apiKeyId, events })
}

export function createTestExport(db: Database, more: Partial<SendUsageDeps> = {}): Runner {
  const settings = more.settings ?? DESTINATION_SETTINGS
  return createUsageExport({
    db,
    settings,
    catalog: { findModel: () => undefined },
    store: createResponseStore({ db, ...settings }),
    log: { debug() {}, info() {}, warn() {}, error() {} },
    completeTime: createCompleteTime(db, { marginSeconds: 0, readEveryMs: 0 }),
    ...more,
  })
}

/** Everything is due now, and is sent until nothing is due: what was settled before the call, if no transaction is open. */
export async function sendAll(db: Database, sender: Runner): Promise<void> {
  await untilComplete(db)
  await sql`update usage_destinations set due_at = now() where disabled_at is null`.execute(db)
  do await sender.whenIdle()
  while ((await sender.startDue()) > 0)
}

/** Connections that were just used may show their transaction for a moment. */
async function untilComplete(db: Database): Promise<void> {
  const { rows } = await sql<{ now: string }>`select clock_timestamp()::text as now`.execute(db)
  for (const endMs = Date.now() + OPEN_MS_MAX; Date.now() < endMs; await sleep(20)) {
    const until = await completeUntil(db, 0)
    const { rows: compared } = await sql<{ isComplete: boolean }>`
      select ${until}::timestamptz >= ${rows[0]?.now}::timestamptz as "isComplete"`.execute(db)
    if (compared[0]?.isComplete) return
  }
}

export async function currentDestination(
  db: Database,
  { customerId, destination: { id } }: SeededDestination,
): Promise<UsageDestination> {
  const found = await findDestination(db, customerId, id)
  if (!found) throw new Error('the destination is gone')
  return found
}
