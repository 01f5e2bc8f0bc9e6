/** A separate database for each test file, cloned from a migrated template on the server that `test/run.ts` started. */
import pg from 'pg'
import { FUNCTIONS_SCHEMA } from '../../src/platform/db/functions.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { openDatabase, type Database } from '../../src/platform/db/open.ts'
import { createApiKey, type ApiKey, type ApiKeyInput } from '../../src/customers/api-keys.ts'
import { createCustomer } from '../../src/customers/customers.ts'
import { credit } from '../../src/money/ledger/entries.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { parseBrl } from '../../src/platform/lib/money.ts'
import { ensureMonths } from '../../src/app/workers/ensure-months.ts'
import { openTransactionPooler } from './transaction-pooler.ts'

/** Of one text of the functions: `npm run mutants` changes it while its server stays. */
const TEMPLATE = `template_${FUNCTIONS_SCHEMA}`
const POOLER_SESSIONS = 12

export interface TestDatabase {
  readonly databaseUrl: string
  readonly db: Database
  drop(): Promise<void>
}

export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = serverOfRun()
  const name = nameDatabase()
  await withClient(serverUrl, async (client) => {
    // One test process makes the template, the others wait for it.
    await client.query('select pg_advisory_lock(42)')
    const made = await client.query('select 1 from pg_database where datname = $1', [TEMPLATE])
    if (!made.rowCount) {
      await client.query(`create database ${TEMPLATE}_new`)
      await makeTemplate(urlOf(serverUrl, `${TEMPLATE}_new`))
      await client.query(`alter database ${TEMPLATE}_new rename to ${TEMPLATE}`)
    }
    // Not through the log of changes, which costs five times the processor time: this server is never restored.
    await client.query(`create database ${name} template ${TEMPLATE} strategy file_copy`)
    await client.query('select pg_advisory_unlock(42)')
  })
  return openTestDatabase(serverUrl, name)
}

/** As a database that a node has used: with the tables of the jobs, whose making would take 0.1 s in each clone. */
async function makeTemplate(databaseUrl: string): Promise<void> {
  await migrate(databaseUrl)
  const { PgBoss } = await import('pg-boss')
  const jobs = new PgBoss({ connectionString: databaseUrl, schema: 'jobs' })
  await jobs.start()
  await jobs.stop({ graceful: false })
  const { db, close } = openDatabase(databaseUrl, { onError: () => {} })
  await ensureMonths(db)
  // A database that has a session cannot be cloned.
  await close()
}

/** Without a table. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const serverUrl = serverOfRun()
  const name = nameDatabase()
  await withClient(serverUrl, (client) => client.query(`create database ${name}`))
  return openTestDatabase(serverUrl, name)
}

function serverOfRun(): string {
  const serverUrl = process.env.TEST_DATABASE_URL
  if (!serverUrl) throw new Error('run this file with `npm test -- <path>`: it starts the database')
  return serverUrl
}

function nameDatabase(): string {
  return `test_${createId().replaceAll('-', '')}`
}

/** As `TEST_DATABASE_THROUGH` says (`shared-database.ts`). */
async function reach(
  serverUrl: string,
  name: string,
): Promise<{ readonly databaseUrl: string; close(): Promise<void> }> {
  if (process.env.TEST_DATABASE_THROUGH === 'pooler')
    return openTransactionPooler(urlOf(serverUrl, name), { sessions: POOLER_SESSIONS })
  const reachedAt = process.env.TEST_DATABASE_REACHED_AT ?? serverUrl
  return { databaseUrl: urlOf(reachedAt, name), close: async () => {} }
}

async function openTestDatabase(serverUrl: string, name: string): Promise<TestDatabase> {
  const reached = await reach(serverUrl, name)
  const { databaseUrl } = reached
  const { db, close } = openDatabase(databaseUrl, { onError: () => {} })
  return {
    databaseUrl,
    db,
    async drop() {
      await close()
      await reached.close()
      await withClient(serverUrl, (client) => client.query(`drop database ${name} with (force)`))
    },
  }
}

/** A customer with this balance and a key, which may do all that a key can do. */
export async function seedCustomer(
  db: Database,
  options: { balanceBrl: string } & Partial<ApiKeyInput>,
): Promise<{ customerId: string; key: ApiKey; secret: string }> {
  const customer = await createCustomer(db, { name: 'Teste' })
  if ('kind' in customer) throw new Error(customer.kind)
  const amountNanoBrl = parseBrl(options.balanceBrl) as bigint
  if (amountNanoBrl > 0n) {
    await credit(db, {
      customerId: customer.id,
      amountNanoBrl,
      reason: 'top_up',
      reference: createId(),
    })
  }
  const { balanceBrl: _, ...keyOptions } = options
  const made = await createApiKey(db, {
    name: 'teste',
    scope: 'manage',
    requestsPerMinute: 1_000_000,
    ...keyOptions,
    customerId: customer.id,
  })
  return { customerId: customer.id, ...made }
}

export function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl.replace(/@\//, '@placeholder/'))
  url.pathname = `/${database}`
  return url.href.replace('@placeholder/', '@/')
}

export async function withClient<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: url })
  // A killed database ends idle connections too; the next query reports it.
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
