// deep: nodes of several releases
/** Nodes with different SQL functions on one database: each calls its own set, and the triggers call the newest. */
import assert from 'node:assert/strict'
import { appendFile, cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { sql } from 'kysely'
import {
  createFunctions,
  functionFiles,
  FUNCTIONS_SCHEMA,
  nameFunctionSet,
  type FunctionSet,
} from '../../src/platform/db/functions.ts'
import { connectionConfig } from '../../src/platform/db/open.ts'
import { ask, askChat, sound } from '../harness/ask.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { startLoadClients } from '../harness/load-clients.ts'
import { seedCustomer, withClient } from '../harness/test-database.ts'
import { startTestNode, type TestNode } from '../harness/test-node.ts'

const root = join(import.meta.dirname, '../..')
const CHANGED_FILE = 'platform/health/sql/add-counts.sql'
const SECOND_CHANGE = '-- second\n'
const THIRD_CHANGE = '-- third\n'

let gateway: GatewayProcess
let copy: string
let second: TestNode | undefined

before(async () => {
  gateway = await startGatewayProcess()
  copy = await mkdtemp(join(tmpdir(), 'catraca-changed-'))
  await cp(join(root, 'src'), join(copy, 'src'), { recursive: true })
  await cp(join(root, 'package.json'), join(copy, 'package.json'))
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  await appendFile(join(copy, 'src', CHANGED_FILE), SECOND_CHANGE)
})

after(async () => {
  await second?.stop('SIGKILL')
  await second?.remove()
  await gateway.stop()
  await rm(copy, { recursive: true, force: true })
})

function changedSet(change: string): FunctionSet {
  return nameFunctionSet(
    functionFiles.map(({ path, text }) => ({
      path,
      text: path === CHANGED_FILE ? text + change : text,
    })),
  )
}

async function listSets(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select nspname as name from pg_namespace where nspname like 'functions\\_%'`.execute(
    gateway.database.db,
  )
  const { rows: known } = await sql<{ name: string }>`
    select schema_name as name from function_sets`.execute(gateway.database.db)
  const names = (found: typeof rows): string[] => found.map(({ name }) => name).toSorted()
  assert.deepEqual(names(rows), names(known))
  return names(rows)
}

/** The schemas of the functions that the triggers call. */
async function listTriggered(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct p.pronamespace::regnamespace::text as name
    from pg_trigger t join pg_proc p on p.oid = t.tgfoid
    where not t.tgisinternal and t.tgrelid::regclass::text !~ '^pgboss'`.execute(
    gateway.database.db,
  )
  return rows.map(({ name }) => name)
}

/** A plain call, a stream, and a call with a new key that has a budget, which a trigger notes. */
async function assertServes({ baseUrl }: TestNode): Promise<void> {
  const { secret } = gateway
  const made = await ask(baseUrl, '/api-keys', {
    secret,
    body: {
      name: 'com orçamento',
      model_ids: ['sandbox-chat'],
      budget: { limit_usd: 1, period: 'month' },
    },
  })
  assert.equal(made.status, 201, made.text)
  for (const [key, more] of [
    [secret, {}],
    [secret, { stream: true }],
    [made.json.key, {}],
  ]) {
    const answer = await askChat(baseUrl, key, sound('sandbox-chat', more))
    assert.equal(answer.status, 200, answer.text)
  }
  const { has_budget } = await gateway.database.db
    .selectFrom('api_keys')
    .select('has_budget')
    .where('id', '=', made.json.id)
    .executeTakeFirstOrThrow()
  assert.ok(has_budget)
}

async function create(set: FunctionSet): Promise<boolean> {
  const client = new pg.Client(connectionConfig(gateway.database.databaseUrl))
  await client.connect()
  try {
    return await createFunctions(client, set)
  } finally {
    await client.end()
  }
}

test('nodes of two sets serve side by side, and a restart of the first does not take the triggers back', async () => {
  assert.deepEqual(await listSets(), [FUNCTIONS_SCHEMA])
  const { schema } = changedSet(SECOND_CHANGE)
  const { databaseUrl } = gateway.database
  second = await startTestNode({
    databaseUrl,
    program: join(copy, 'src/main.ts'),
    // Its compiled files go with it.
    env: { NODE_COMPILE_CACHE: join(copy, 'compiled') },
  })
  assert.deepEqual(await listSets(), [FUNCTIONS_SCHEMA, schema].toSorted())
  assert.deepEqual(await listTriggered(), [schema])
  await assertServes(gateway.node)
  await assertServes(second)
  // As a start of the first release does it.
  assert.equal(await create(nameFunctionSet(functionFiles)), false)
  assert.deepEqual(await listTriggered(), [schema])
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})

test('a set waits for a writer of accounts and tries again, and not one call fails meanwhile', async () => {
  const { database, node, secret } = gateway
  const other = await seedCustomer(database.db, { balanceBrl: '1' })
  const isWaiting = async (): Promise<boolean> => {
    const { rows } = await sql`select from pg_locks where not granted
      and relation = 'public.accounts'::regclass and mode = 'ShareRowExclusiveLock'`.execute(
      database.db,
    )
    return rows.length > 0
  }
  const load = startLoadClients({
    count: 2,
    baseUrls: () => [node.baseUrl],
    secret,
    calls: ['sandbox-chat'],
  })
  try {
    await withClient(database.databaseUrl, async (writer) => {
      await writer.query('begin')
      await writer.query(
        `update accounts set held_nano_brl = held_nano_brl where customer_id = '${other.customerId}'`,
      )
      const creating = create(changedSet(THIRD_CHANGE))
      // It gives up once at least, and calls go on in the pause.
      for (const wanted of [true, false]) while ((await isWaiting()) !== wanted) await sleep(20)
      const wholeBefore = load.wholeSoFar
      while (load.wholeSoFar < wholeBefore + 2) await sleep(20)
      await writer.query('commit')
      assert.equal(await creating, true)
    })
  } finally {
    await load.stop()
  }
  assert.deepEqual(
    load.soFar.filter(({ isWhole }) => !isWhole),
    [],
  )
})

test('of four sets, the one whose last start is the oldest is dropped, with its nodes gone', async () => {
  await second?.stop()
  assert.equal(await create(nameFunctionSet(functionFiles)), false)
  const fourth = changedSet('-- fourth\n')
  assert.equal(await create(fourth), true)
  assert.deepEqual(
    await listSets(),
    [FUNCTIONS_SCHEMA, changedSet(THIRD_CHANGE).schema, fourth.schema].toSorted(),
  )
  assert.deepEqual(await listTriggered(), [fourth.schema])
  await assertServes(gateway.node)
})
