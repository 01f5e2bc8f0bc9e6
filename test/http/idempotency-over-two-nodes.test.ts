// deep: an attack
/** Requests with an `Idempotency-Key` that reach two nodes at once, and acts that outlive their claim. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { inTransaction } from '../../src/platform/db/open.ts'
import { actResumably, type ActOutcome } from '../../src/platform/idempotency/act-once.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { ask } from '../harness/ask.ts'
import { effort, seedOr } from '../harness/effort.ts'
import { startLocalNode, type LocalNode } from '../harness/local-node.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { createRandom } from '../faults/random.ts'

const SEED = seedOr(30)
const REQUESTS = effort({ ordinary: 120, full: 5_000 })
const AT_ONCE = 10

let database: TestDatabase
let nodes: LocalNode[]
before(async () => {
  database = await createTestDatabase()
  const { databaseUrl } = database
  const first = await startLocalNode({ databaseUrl })
  nodes = [first, await startLocalNode({ databaseUrl, dataDir: first.dataDir })]
})
after(async () => {
  for (const node of nodes) await node.stop()
  await nodes[0]?.remove()
  await database.drop()
})

const ACTS: readonly { readonly path: string; readonly bodies: readonly object[] }[] = [
  { path: '/api-keys', bodies: ['uma', 'outra'].map((name) => ({ name, model_ids: ['*'] })) },
  { path: '/me/teams', bodies: [{ name: 'uma' }, { name: 'outra', monthly_cap_brl: 5 }] },
  {
    path: '/me/prompts',
    bodies: [
      { name: 'uma', body: 'a' },
      { name: 'outra', body: 'b' },
    ],
  },
  // Refused before it acts, and leaves its key free.
  { path: '/me/teams', bodies: [{ name: 'x' }, { name: 'nova' }] },
]

test(`two nodes act once for a caller's key: every success is the same answer, and anything else is refused (seed ${SEED})`, async () => {
  const random = createRandom(SEED)
  const callers = await Promise.all(
    [1, 2].map(() => seedCustomer(database.db, { balanceBrl: '0' })),
  )
  const successes = new Map<string, Set<string>>()
  const ids = new Set<string>()
  let left = REQUESTS
  const work = async (): Promise<void> => {
    while (left-- > 0) {
      const act = random.pick(ACTS)
      const caller = random.between(0, 1)
      const key = `chave-${random.between(1, 12)}`
      const body = random.pick(act.bodies)
      const asked = await ask(random.pick(nodes).baseUrl, act.path, {
        secret: callers[caller]?.secret,
        body,
        headers: { 'idempotency-key': key },
      })
      assert.ok([201, 400, 409, 422].includes(asked.status), asked.text)
      if (asked.status !== 201) continue
      const name = `${caller} ${key}`
      successes.set(
        name,
        (successes.get(name) ?? new Set()).add(`${act.path} ${JSON.stringify(body)} ${asked.text}`),
      )
      ids.add(asked.json.id)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  for (const [name, answers] of successes)
    assert.equal(answers.size, 1, `${name}: ${[...answers].join('\n')}`)
  const { rows } = await sql<{ made: bigint }>`
    select (select count(*) from teams) + (select count(*) from prompts)
      + (select count(*) from api_keys where name in ('uma', 'outra')) as made`.execute(database.db)
  assert.equal(Number(rows[0]?.made), ids.size)
  assert.equal(ids.size, successes.size)
})

/** Requests of one caller with one key, whose acts create their row when they are let go. */
async function seedActs() {
  const { customerId, key } = await seedCustomer(database.db, { balanceBrl: '0' })
  const request = { customerId, apiKeyId: key.id, key: createId(), fingerprint: 'the same' }
  const deps = { db: database.db, keys: { sealingKey: randomBytes(32) } }
  const rows = new Set<string>()
  const subjects = new Set<string>()
  return {
    rows,
    subjects,
    start(end: 'creates' | 'is refused for now' | 'is refused') {
      const begun = Promise.withResolvers<void>()
      const gate = Promise.withResolvers<void>()
      const outcome: Promise<ActOutcome | undefined> = actResumably(
        deps,
        request,
        async ({ id, isOwn }) => {
          subjects.add(id)
          begun.resolve()
          await gate.promise
          if (end !== 'creates') throw new Error(end)
          if (!rows.has(id)) {
            if (!(await inTransaction(database.db, isOwn))) throw new Error('lost')
            rows.add(id)
          }
          return { status: 201, body: id }
        },
        () =>
          end === 'is refused'
            ? { status: 400, body: 'refused' }
            : end === 'creates'
              ? 'unknown'
              : 'nothing_happened',
      ).catch(() => undefined)
      return {
        begun: begun.promise,
        go() {
          gate.resolve()
          return outcome
        },
      }
    },
    /** A node is suspended for as long as a claim holds. */
    outliveClaim: () =>
      sql`update idempotency_keys set running_until = running_until - interval '121 seconds'
        where customer_id = ${customerId} and running_until is not null`.execute(database.db),
  }
}

test('an act that outlives its claim does not end the claim of the request that resumed it', async () => {
  const acts = await seedActs()
  const slow = acts.start('is refused for now')
  await slow.begun
  await acts.outliveClaim()
  const resumed = acts.start('creates')
  await resumed.begun
  await slow.go()
  assert.equal((await resumed.go())?.kind, 'acted')
  const third = acts.start('creates')
  assert.equal((await third.go())?.kind, 'repeated')
  assert.equal(acts.subjects.size, 1)
})

test('a key acts once where the request that resumed it was refused for now while the first one was suspended', async () => {
  const acts = await seedActs()
  const slow = acts.start('creates')
  await slow.begun
  await acts.outliveClaim()
  await acts.start('is refused for now').go()
  await acts.start('creates').go()
  await slow.go()
  assert.equal(acts.rows.size, 1)
})

test('a key whose process died after the act keeps its row where the next request is refused for now', async () => {
  const acts = await seedActs()
  const died = acts.start('creates')
  await died.begun
  acts.rows.add([...acts.subjects][0] as string)
  await acts.outliveClaim()
  await acts.start('is refused for now').go()
  assert.equal((await acts.start('creates').go())?.kind, 'acted')
  assert.equal(acts.rows.size, 1)
  await died.go()
})

test('an act that outlives its claim does nothing once the request that resumed it has answered with a refusal', async () => {
  const acts = await seedActs()
  const slow = acts.start('creates')
  await slow.begun
  await acts.outliveClaim()
  await acts.start('is refused').go()
  await slow.go()
  assert.equal(acts.rows.size, 0)
})

test('a late refusal is not the answer of an act that another request carries out', async () => {
  const acts = await seedActs()
  const slow = acts.start('is refused')
  await slow.begun
  await acts.outliveClaim()
  const resumed = acts.start('creates')
  await resumed.begun
  await slow.go()
  await resumed.go()
  const repeated = await acts.start('creates').go()
  assert.ok(repeated?.kind === 'repeated')
  assert.equal(repeated.answer.status, 201)
})
