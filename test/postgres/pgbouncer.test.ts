// deep: servers of PostgreSQL that fail
/** A node behind the PgBouncer of this machine, which is killed and refused by PostgreSQL under load. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { listen } from '../../src/platform/db/listen.ts'
import {
  startSandboxUpstream,
  type SandboxUpstream,
} from '../../src/sandbox/upstream/start-sandbox-upstream.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { compareThreeCounts } from '../harness/compare-three-counts.ts'
import { startLoadClients } from '../harness/load-clients.ts'
import { configured, impatientModels, impatientUpstream } from '../harness/media-calls.ts'
import { hasPgBouncer, startPgBouncer, type RealPgBouncer } from '../harness/real-pgbouncer.ts'
import { createTestDatabase, seedCustomer, withClient } from '../harness/test-database.ts'
import type { TestDatabase } from '../harness/test-database.ts'
import { startTestNode } from '../harness/test-node.ts'

const skip = hasPgBouncer() ? false : 'this machine has no pgbouncer'
const FAULTS = 3
const WHOLE_BETWEEN = 20
const MORE_MS_MAX = 90_000
const RELEASED_MS_MAX = 120_000

let database: TestDatabase
let pooler: RealPgBouncer
let sandbox: SandboxUpstream

before(async () => {
  if (skip) return
  database = await createTestDatabase()
  pooler = await startPgBouncer(process.env.TEST_DATABASE_URL as string)
  sandbox = await startSandboxUpstream()
})

after(async () => {
  await sandbox?.close()
  await pooler?.stop()
  await database?.drop()
})

/** The name of the database, of which PgBouncer has an address of its own. */
function nameOf({ databaseUrl }: TestDatabase): string {
  return new URL(databaseUrl.replace('@/', '@placeholder/')).pathname.slice(1)
}

/** PostgreSQL ends all of its sessions at this database, also those in the middle of a statement. */
async function endSessions(): Promise<void> {
  await withClient(process.env.TEST_DATABASE_URL as string, (admin) =>
    admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
      nameOf(database),
    ]),
  )
}

test(
  'a node on PgBouncer charges every answer once, also when the pooler or its sessions are killed under load',
  { skip },
  async () => {
    const node = await startTestNode({
      databaseUrl: pooler.urlOf(nameOf(database)),
      env: configured({
        upstreams: [impatientUpstream(sandbox.baseUrl)],
        models: impatientModels(['sandbox-chat'], {
          category: 'llm',
          context_tokens: 8_192,
          markup_multiplier: '2',
          prices: { input: '1', output: '2' },
        }),
      }),
    })
    const { secret, customerId } = await seedCustomer(database.db, { balanceBrl: '1000' })
    const clients = startLoadClients({
      count: 6,
      baseUrls: () => [node.baseUrl],
      secret,
      calls: ['impatient-sandbox-chat'],
    })
    const more = async (): Promise<void> => {
      const wanted = clients.wholeSoFar + WHOLE_BETWEEN
      const deadline = Date.now() + MORE_MS_MAX
      while (clients.wholeSoFar < wanted) {
        assert.ok(Date.now() < deadline, node.log.slice(-5).join('\n'))
        await sleep(20)
      }
    }
    await more()
    for (let fault = 0; fault < FAULTS; fault++) {
      await pooler.crash()
      await more()
      await endSessions()
      await more()
    }
    const received = await clients.stop()
    // A hold whose commit the node did not see is released once it is 30 s old.
    await untilNoHoldIsOpen(database, RELEASED_MS_MAX)
    await compareThreeCounts(database.db, {
      customerId,
      received,
      upstreamCalls: sandbox.counts.calls,
    })
    await assertAudit(database)
    await node.stop()
    await node.remove()
  },
)

test(
  'PgBouncer refuses an address that does not name it, and the start says what to do',
  { skip },
  async () => {
    const undeclared = pooler.urlOf(nameOf(database)).replace('pgbouncer=true', 'pgbouncer=false')
    await assert.rejects(
      startTestNode({ databaseUrl: undeclared }),
      /DATABASE_URL leads to a pooler such as PgBouncer.*add pgbouncer=true/,
    )
  },
)

test('what notifications would say is read at intervals', { skip }, async () => {
  let reads = 0
  await new Promise<void>((resolve) => {
    const listener = listen(pooler.urlOf(nameOf(database)), {}, () => {
      reads += 1
      if (reads === 2) void listener.close().then(resolve)
    })
  })
})
