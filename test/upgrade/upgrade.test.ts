// deep: nodes of several releases
/**
 * An upgrade from the previous release, as operators do it: a node of this release starts beside a node of that one, on
 * its database, while customers call. Not a call fails, the balance holds over both nodes, and the way back is open.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { dumpSchema } from '../../src/platform/db/dump-schema.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { connectionConfig } from '../../src/platform/db/open.ts'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { parseBrl } from '../../src/platform/lib/money.ts'
import {
  startSandboxUpstream,
  type SandboxUpstream,
} from '../../src/sandbox/upstream/start-sandbox-upstream.ts'
import { ask, askChat, sound, type Asked } from '../harness/ask.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { compareThreeCounts } from '../harness/compare-three-counts.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startLoadClients, type LoadClients, type Received } from '../harness/load-clients.ts'
import { runCliProcess } from '../harness/run-cli-process.ts'
import { createEmptyDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { startTestNode, type TestNode } from '../harness/test-node.ts'
import {
  findPreviousMissing,
  unpackPreviousRelease,
  type PreviousRelease,
} from './previous-release.ts'

const RESOLVED_WITHIN_MS = 60_000
const CLIENTS = 4
/** The last migration of the previous release. */
const LAST_MIGRATION = 100
const FAST = 'up-sandbox-chat'
/** It streams for four seconds. */
const LONG = 'up-sandbox-long'

interface Customer {
  readonly id: string
  readonly secret: string
}

const missing = await findPreviousMissing()

describe('an upgrade from the previous release', { skip: missing ?? false }, () => {
  let previous: PreviousRelease
  let database: TestDatabase
  let upstream: SandboxUpstream
  let config: ConfigFile
  let oldNode: TestNode
  let newNode: TestNode
  /** Calls only before the upgrade. */
  let early: { customer: Customer; ofBudget: string; ofTeam: string; teamId: string }
  /** Calls all the time, on either node. */
  let busy: Customer
  let keptBefore: Record<string, unknown>
  let usageBefore: Record<string, unknown>[]
  const receivedByBusy: Received[] = []
  let killedAtMs: number
  let killedNodeId: string

  before(async () => {
    ;[previous, database, upstream] = await Promise.all([
      unpackPreviousRelease(),
      createEmptyDatabase(),
      startSandboxUpstream(),
    ])
    config = await writeConfigFile({
      upstreams: [
        {
          id: 'up',
          kind: 'openai-compatible',
          base_url: upstream.baseUrl,
          cancel_stops_billing: true,
        },
      ],
      models: ['sandbox-chat', 'sandbox-long'].map((model) => ({
        id: `up-${model}`,
        category: 'llm',
        prices: { input: 1, output: 2 },
        routes: [{ upstream: 'up', model }],
        context_tokens: 128_000,
        max_output_tokens: 4_096,
      })),
    })
    oldNode = await startNode({ program: previous.serverProgram })
    const [first, second] = await Promise.all([
      createByCommands('Primeira', '100'),
      createByCommands('Segunda', '100'),
    ])
    busy = second
    early = await useAsCustomer(first)
    keptBefore = await readKept(oldNode)
    usageBefore = await readUsageRows()
  })

  after(async () => {
    for (const node of [oldNode, newNode]) {
      await node?.stop('SIGKILL')
      await node?.remove()
    }
    await upstream?.close()
    await config?.remove()
    await previous?.remove()
    await database?.drop()
  })

  function startNode(options: {
    program?: string
    dataDir?: string
    port?: number
  }): Promise<TestNode> {
    const env = { CATRACA_CONFIG: config.path, ...(options.program ? previous.env : {}) }
    return startTestNode({ databaseUrl: database.databaseUrl, env, ...options })
  }

  /** By the previous release's command line. */
  async function command(...args: string[]): Promise<any> {
    const { databaseUrl } = database
    const ran = await runCliProcess(
      [...args, '--json'],
      { DATABASE_URL: databaseUrl, CATRACA_CONFIG: config.path, ...previous.env },
      previous.cliProgram,
    )
    assert.equal(ran.code, 0, ran.stderr)
    return JSON.parse(ran.stdout)
  }

  async function createByCommands(name: string, amountBrl: string): Promise<Customer> {
    const { id } = await command('customer', 'create', '--name', name)
    await command('customer', 'credit', id, '--amount-brl', amountBrl)
    const limit = ['--requests-per-minute', '1000000']
    const { secret } = await command('key', 'create', id, '--name', 'principal', ...limit)
    // Of a key that the customer makes in the dashboard.
    await sql`update api_keys set scope = 'manage' where customer_id = ${id}`.execute(database.db)
    return { id, secret }
  }

  /** A key with a budget, a key of a team, and calls with each. */
  async function useAsCustomer(customer: Customer): Promise<typeof early> {
    const { baseUrl } = oldNode
    const create = async (path: string, body: object): Promise<any> => {
      const made = await ask(baseUrl, path, { secret: customer.secret, body })
      assert.equal(made.status, 201, made.text)
      return made.json
    }
    const budget = { limit_usd: 1, period: 'month' }
    const keyInput = { model_ids: [FAST] }
    const { key: ofBudget } = await create('/api-keys', {
      ...keyInput,
      name: 'com orçamento',
      budget,
    })
    const { id: teamId } = await create('/me/teams', { name: 'Equipe', monthly_cap_brl: 10 })
    const { key: ofTeam } = await create(`/me/teams/${teamId}/keys`, {
      ...keyInput,
      name: 'da equipe',
    })
    for (const secret of [customer.secret, ofBudget, ofTeam]) {
      assertServed(await chat(oldNode, secret))
      assertServed(await chat(oldNode, secret, { stream: true }))
    }
    return { customer, ofBudget, ofTeam, teamId }
  }

  function chat(node: TestNode, secret: string, more: object = {}): Promise<Asked> {
    return askChat(node.baseUrl, secret, sound(FAST, { max_tokens: 100, ...more }))
  }

  function assertServed(answer: Asked): void {
    assert.equal(answer.status, 200, answer.text)
  }

  /** Answers of the interface, but for `last_used_at`, which a node writes some time after the call. */
  async function readKept(node: TestNode): Promise<Record<string, unknown>> {
    const { customer, teamId } = early
    const paths = [
      '/usage',
      '/usage/events',
      '/api-keys',
      `/me/teams/${teamId}`,
      `/me/teams/${teamId}/keys`,
    ]
    const entries = paths.map(async (path): Promise<[string, unknown]> => {
      const answer = await ask(node.baseUrl, path, { secret: customer.secret })
      assertServed(answer)
      const withoutUse = (key: string, value: unknown): unknown =>
        key === 'last_used_at' ? undefined : value
      return [path, JSON.parse(answer.text, withoutUse)]
    })
    return Object.fromEntries(await Promise.all(entries))
  }

  async function readUsageRows(): Promise<Record<string, unknown>[]> {
    const { rows } = await sql<{ row: string }>`
      select to_jsonb(e)::text as row from public.usage_events e
      where customer_id = ${early.customer.id} order by id`.execute(database.db)
    return rows.map(({ row }) => JSON.parse(row))
  }

  async function readMigrations(): Promise<number> {
    const { rows } = await sql<{ last: number }>`
      select max(number) as last from migrations`.execute(database.db)
    return rows[0]?.last ?? 0
  }

  function startLoad(
    { secret }: Customer,
    node: () => TestNode,
    models: readonly string[],
  ): LoadClients {
    const baseUrls = (): string[] => [node().baseUrl]
    return startLoadClients({ count: CLIENTS, baseUrls, secret, calls: models })
  }

  async function until(
    text: string,
    isSo: () => boolean | Promise<boolean>,
    withinMs = 60_000,
  ): Promise<void> {
    for (const deadline = Date.now() + withinMs; !(await isSo()); await sleep(20))
      assert.ok(Date.now() < deadline, text)
  }

  test('calls on the old node go on while a new node starts, migrates and serves: not one of them fails', async () => {
    assert.equal(await readMigrations(), LAST_MIGRATION)
    const load = startLoad(busy, () => oldNode, [FAST])
    try {
      await until('the old node serves', () => load.wholeSoFar > 20)
      newNode = await startNode({})
      assert.deepEqual(await migrate(database.databaseUrl), [], 'its start ran every migration')
      const before = load.wholeSoFar
      await until('the old node still serves', () => load.wholeSoFar > before + 20)
      assertServed(await chat(newNode, busy.secret))
    } finally {
      receivedByBusy.push(...(await load.stop()))
    }
    const failed = receivedByBusy.filter(({ isWhole }) => !isWhole)
    assert.deepEqual(failed, [])
    process.stdout.write(
      `# ${receivedByBusy.length} calls on the old node, none failed; the longest took ${Math.max(...receivedByBusy.map(({ ms }) => ms)).toFixed()} ms\n`,
    )
  })

  test('customers find the same balance, keys and usage on both nodes, and all keys work on both', async () => {
    assert.deepEqual(await readKept(oldNode), keptBefore)
    // This release may answer with more fields.
    assert.partialDeepStrictEqual(await readKept(newNode), keptBefore)
    for (const node of [newNode, oldNode])
      for (const secret of [early.customer.secret, early.ofBudget, early.ofTeam])
        assertServed(await chat(node, secret))
  })

  test('the upgraded database has the schema of a fresh one', async () => {
    const client = new pg.Client(connectionConfig(database.databaseUrl))
    await client.connect()
    try {
      const fresh = await readFile(
        new URL('../../src/platform/db/schema.sql', import.meta.url),
        'utf8',
      )
      assert.equal(await dumpSchema(client), fresh)
    } finally {
      await client.end()
    }
  })

  /** No balance is left, or it is on hold for other calls. */
  const SHORT: ReadonlySet<number> = new Set([402, 429])

  test('a balance is spent over both nodes, each charges, and never more than is there', async () => {
    const amount = '0.2'
    const made = await seedCustomer(database.db, { balanceBrl: amount })
    const spender = { id: made.customerId, secret: made.secret }
    const loads = [oldNode, newNode].map((node) => startLoad(spender, () => node, [FAST]))
    try {
      await until('the balance runs out on both nodes', () =>
        loads.every(({ soFar }) => soFar.filter(({ status }) => status === 402).length > 5),
      )
    } finally {
      await Promise.all(loads.map((load) => load.stop()))
    }
    for (const { soFar } of loads) {
      assert.deepEqual(
        soFar.filter(({ isWhole, status }) => !isWhole && !SHORT.has(status ?? 0)),
        [],
      )
      assert.ok(soFar.some(({ isWhole }) => isWhole))
    }
    const account = await findAccount(database.db, spender.id)
    assert.ok(account)
    assert.equal(account.heldNanoBrl, 0n)
    assert.ok(account.balanceNanoBrl >= 0n, `the balance is ${account.balanceNanoBrl}`)
    const { charged } = await compareThreeCounts(database.db, {
      customerId: spender.id,
      received: loads.flatMap(({ soFar }) => soFar),
      upstreamCalls: upstream.counts.calls,
    })
    const spent = charged.reduce((sum, event) => sum + (event.cost_billed_nano_brl ?? 0n), 0n)
    assert.equal(account.balanceNanoBrl + spent, parseBrl(amount))
  })

  test('the way back: an old node is killed in the middle of streams, starts again on the upgraded database and serves', async () => {
    const load = startLoad(busy, () => oldNode, [LONG])
    const isCheckpointed = async (): Promise<boolean> => {
      const { rows } = await sql<{ node_id: string }>`
        select node_id from holds where customer_id = ${busy.id} and output_tokens_seen > 0`.execute(
        database.db,
      )
      killedNodeId = rows[0]?.node_id ?? ''
      return rows.length >= CLIENTS / 2
    }
    await until('its streams have checkpoints', isCheckpointed)
    await oldNode.stop('SIGKILL')
    killedAtMs = Date.now()
    receivedByBusy.push(...(await load.stop()))
    assert.ok((await countHolds()) > 0, 'its holds are left')

    const { dataDir, port } = oldNode
    oldNode = await startNode({ program: previous.serverProgram, dataDir, port })
    for (const secret of [busy.secret, early.ofBudget]) {
      assertServed(await chat(oldNode, secret))
      assertServed(await chat(oldNode, secret, { stream: true }))
    }
    // Only the new node is left to fence the killed one: who fences has had the database for a whole lease.
    await oldNode.stop()
  })

  async function countHolds(): Promise<number> {
    const { rows } = await sql`select from holds where node_id = ${killedNodeId}`.execute(
      database.db,
    )
    return rows.length
  }

  test('the new node fences the killed old node and resolves its holds within 60 s', async () => {
    const withinMs = killedAtMs + RESOLVED_WITHIN_MS - Date.now()
    await until('its holds are resolved', async () => (await countHolds()) === 0, withinMs)
    const { rows } = await sql`
      select from nodes where id = ${killedNodeId} and fenced_at is not null`.execute(database.db)
    assert.equal(rows.length, 1)
  })

  test('the old usage is unchanged, the three counts agree, and the audit finds nothing', async () => {
    await untilNoHoldIsOpen(database)
    const usageNow = await readUsageRows()
    // The new release may add columns.
    const ofThen = usageBefore.map((row, at) =>
      Object.fromEntries(Object.keys(row).map((column) => [column, usageNow[at]?.[column]])),
    )
    assert.deepEqual(ofThen, usageBefore)
    await compareThreeCounts(database.db, {
      customerId: busy.id,
      received: receivedByBusy,
      upstreamCalls: upstream.counts.calls,
    })
    await assertAudit(database)
  })
})
