// deep: every operation for two customers
/**
 * What a customer has and reads does not depend on what another customer does, even if that one chooses the same words:
 * names, session ids, addresses of webhooks, whatever is unique only for each customer. So a query that lacks its
 * `customer_id` fails here also where `tenant-isolation.test.ts` finds nothing: where rows are found by a word and not by
 * an id, and where they only enter a sum.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { grantPromotion } from '../../src/money/ledger/promotions.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { avoidMinuteEnd } from '../harness/avoid-minute-end.ts'
import { ask, askChat, sound } from '../harness/ask.ts'
import { startGateway } from '../harness/gateway.ts'
import { operationsOf, readOpenApi } from '../harness/operations.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { restartWithoutWorkers } from './app-without-workers.ts'
import {
  createHousehold,
  untilAllIsSent,
  type Household,
  type Person,
} from './isolation-cases/household.ts'
import { createQueryMutations } from './isolation-cases/mutate-queries.ts'
import { ADMIN, FILTERS, pathFor } from './isolation-cases/requests.ts'
import { createSnapshots, idsIn, rowsWithout } from './isolation-cases/snapshot.ts'

const gateway = await startGateway()
let app: { close(): Promise<void> } | undefined
after(async () => {
  await app?.close()
  await gateway.stop()
})
const { baseUrl } = gateway.node
const takeSnapshot = createSnapshots(gateway.database.db)
const reads = [...operationsOf(await readOpenApi(baseUrl)).values()].filter(
  ({ name, method, described }) =>
    method === 'GET' && described.security !== undefined && !ADMIN.includes(name),
)

/** Each list and thing, and each list by each of its filters. */
function pathsOf(household: Household): { readonly name: string; readonly path: string }[] {
  return reads.flatMap(({ name, path, described }) => {
    const plain = pathFor({ path }, household)
    const filters = (described.parameters ?? []).filter((one) => one.name in FILTERS)
    const filtered = filters.map((one) => {
      const value = FILTERS[one.name]?.(household) ?? ''
      return `${plain}?${one.name}=${encodeURIComponent(value)}`
    })
    const has = (field: string) => described.parameters?.some((one) => one.name === field)
    const pages = has('limit') ? [`${plain}?limit=1`] : []
    if (has('limit') && has('model_id')) pages.push(`${plain}?limit=20&model_id=sandbox-chat`)
    return [plain, ...filtered, ...pages].map((whole) => ({
      name,
      path: whole,
    }))
  })
}

/** What moves by itself: times of the reading and what tells of it, and what was used within the last minute. */
const OF_NOW = [
  /"(?:last_used_at|until_at|generated_at|current|headroom_percent)":(?:"[^"]*"|[^,}]+)/g,
  /\{[^{}]*"action":"account\.exported"[^{}]*\},/g,
  /"activities":\d+/g,
  /\d\d:\d\d(?= \()/g,
]

async function read(path: string, secret: string): Promise<string> {
  const { status, text } = await ask(baseUrl, path, { secret })
  return OF_NOW.reduce((left, moving) => left.replaceAll(moving, ''), `${status} ${text}`)
}

async function readAll({
  household,
  secret,
}: {
  household: Household
  secret: string
}): Promise<Map<string, string>> {
  const answers = new Map<string, string>()
  for (const { name, path } of pathsOf(household)) {
    const answer = await read(path, secret)
    assert.match(answer, /^200 /, name)
    answers.set(path, answer)
  }
  return answers
}

/** An alert is looked at by itself when it is new. */
async function untilNoAlertIsDue(): Promise<void> {
  const { db } = gateway.database
  const isDue = sql<boolean>`due_at <= now()`
  while (await db.selectFrom('alerts').select('id').where(isDue).executeTakeFirst())
    await sleep(100)
}

const household = await createHousehold(gateway)
const { secret, customerId } = household.owner
// An export is told by a mail, which the next one lists.
await readAll({ household, secret })
await untilAllIsSent(gateway.database)
await untilNoAlertIsDue()
// What is shown by hours and days begins anew with them.
await avoidMinuteEnd(15_000)
const answers = await readAll({ household, secret })
const rows = await takeSnapshot()
const twins = await createHousehold(gateway, ' gêmea')

test('a customer with the same words changes no row of another', async () => {
  const gone = rowsWithout(rows, await takeSnapshot())
  assert.deepEqual(
    gone.filter((row) => row.includes(customerId)),
    [],
  )
})

test('a customer reads the same whatever another with the same words has done', async (t) => {
  assert.ok(answers.size > 40, `${answers.size} paths`)
  const later = await readAll({ household, secret })
  for (const [path, text] of answers) await t.test(path, () => assert.equal(later.get(path), text))
})

test('a customer with the same words reads nothing of the first', async (t) => {
  // In turns, so that the times between a customer's calls have one of the other's.
  for (const { owner, ids } of [household, twins]) {
    const headers = { 'x-svc-session-id': ids.session }
    const { status } = await askChat(baseUrl, owner.secret, sound(), headers)
    assert.equal(status, 200)
  }
  const rowsOfFirst = [...(await takeSnapshot())].filter((row) => row.includes(customerId))
  const ids = [...idsIn(new Set(rowsOfFirst))]
  assert.ok(ids.length > 50, `${ids.length} ids`)
  for (const [path, text] of await readAll({ household: twins, secret: twins.owner.secret }))
    await t.test(path, () =>
      assert.deepEqual(
        ids.filter((id) => text.includes(id)),
        [],
      ),
    )
})

/** What a household lacks for the conditions of sums: days and hours of use, promotional credit, what the shield found. */
async function seedMore({ customerId, keyId }: Person, nth: number): Promise<void> {
  const { db } = gateway.database
  const hour = 3_600_000
  // The twin has many calls where the other has none, so that a page counted by them ends too early.
  const uses = nth === 1 ? { 4: 5, 100: 3, 200: 20, 700: 1 } : { 2: 30, 50: 30, 200: 1, 700: 1 }
  const times = Object.entries(uses).flatMap(([hoursAgo, count]) =>
    Array.from({ length: count }, (_, place) => Date.now() - Number(hoursAgo) * hour - place),
  )
  // In the first half hour of a day in India, which begins within an hour of UTC, and in whole hours before the UTC day.
  const day = 24 * hour
  const today = Math.floor(Date.now() / day) * day
  for (const days of [1, 2, 7, 8, 30])
    for (const hours of [18.75, 21]) times.push(today - days * day + hours * hour)
  await seedUsage(db, {
    customerId,
    apiKeyId: keyId,
    events: times.map((time) => ({
      at: new Date(time),
      modelId: 'sandbox-chat',
      promptTokens: 100,
      completionTokens: nth,
      sessionId: `sessao-${time}`,
    })),
  })
  // Some of their prompts came from a cache, which saved something.
  await sql`update usage_events set cached_tokens = ${nth}, price_id = (
      select id from prices where model_id = 'sandbox-chat'
        and (tiers -> 0 ->> 'cached_input')::numeric < (tiers -> 0 ->> 'input')::numeric limit 1)
    where customer_id = ${customerId}`.execute(db)
  await sql`select roll_usage_days(${customerId})`.execute(db)
  const amountNanoBrl = BigInt(nth) * 1_000_000_000n
  await grantPromotion(db, {
    customerId,
    amountNanoBrl,
    reason: 'promotion',
    reference: createId(),
  })
  await sql`insert into trial_credits (customer_id, amount_nano_brl, tax_id_digest, mailbox_digest, device_digest,
      network_digest)
    select ${customerId}, ${nth}, digest, digest, digest, digest from sha256(${customerId}::text::bytea) as digest`.execute(
    db,
  )
  await sql`insert into mails (id, customer_id, email, template, data, due_at)
    values (${createId()}, ${customerId}, null, 'chave_criada', '{}', now() + interval '1 day')`.execute(
    db,
  )
  await sql`update usage_refusals set model_id = 'sandbox-chat' where customer_id = ${customerId}`.execute(
    db,
  )
  await sql`update customers set timezone = 'Asia/Kolkata' where id = ${customerId}`.execute(db)
  await sql`insert into shield_counts (customer_id, api_key_id, day, action, kind, occurrences)
    values (${customerId}, ${keyId}, now()::date, 'mask', 'cpf', ${nth})`.execute(db)
  await sql`insert into customer_notes (id, customer_id, written_by, note)
    values (${createId()}, ${customerId}, ${customerId}, 'Ligou.')`.execute(db)
}

/** Conditions of which no read tells the difference, with `$1::uuid is not null` or `true` in their place, and why. */
const UNSEEN: readonly (readonly [RegExp, string])[] = [
  [
    /from stored_responses r/,
    'each of the two queries of a read refuses, and a chain is of one customer',
  ],
  [
    /is not null\) and outcome in [^)]+\) .* and api_key_id = \$/s,
    "a key's charges are all its customer's",
  ],
  [
    /^\s*with by_minute as .*from usage_events/s,
    "counts by key, looked up for the customer's own keys",
  ],
  [
    /^\s*select k\.id, w\.requests, w\.tokens/,
    "counts by key, looked up for the customer's own keys",
  ],
  [/is not null\) and k\.team_id = \$/, "a team's keys are all its owner's"],
  [/from "usage_sessions" .* "session_id" >= \$/s, 'the range is the id of a prompt'],
  [/select 1 from mails/, 'decides whether a mail is sent, which no read shows'],
  [
    /promotional_left\(a\) as left/,
    'the balance covers every top-up: test/payments/promotional-parts.test.ts',
  ],
]

test('every condition on the customer in a query of a read changes what is read', async (t) => {
  app = await restartWithoutWorkers(gateway)
  await seedMore(household.owner, 1)
  await seedMore(twins.owner, 2)
  // So that the keys of one are suspended, and those of the other are not.
  await sql`update accounts set debited_nano_brl = credited_nano_brl - charged_nano_brl
    where customer_id = ${twins.owner.customerId}`.execute(gateway.database.db)
  const { db } = gateway.database
  const { findMutants, withMutant, end } = createQueryMutations()
  t.after(end)
  /** By the mutated text: whether a read told the difference. */
  const found = new Map<string, boolean>()
  const paths = [...pathsOf(household), ...pathsOf(twins)].map(({ path }) => path)
  for (const { owner } of [household, twins])
    for (const path of paths) {
      const work = (): Promise<string> => read(path, owner.secret)
      // The first read fills what the node keeps; the last one is compared.
      await work()
      const mutants = await findMutants(work)
      const sound = await work()
      for (const mutant of mutants) {
        if (found.get(mutant.becomes)) continue
        const answer = await withMutant(mutant, work)
        if (answer === undefined) continue
        // An error tells the difference, too, unless the mutant is no query.
        if (answer.startsWith('5'))
          await sql.raw(`prepare mutant as ${mutant.becomes}; deallocate mutant`).execute(db)
        found.set(mutant.becomes, answer !== sound)
      }
    }
  const survivors = [...found].filter(([, isFound]) => !isFound).map(([becomes]) => becomes)
  const unlisted = survivors.filter((text) => !UNSEEN.some(([pattern]) => pattern.test(text)))
  assert.deepEqual(unlisted, [])
  const stale = UNSEEN.filter(([pattern]) => !survivors.some((text) => pattern.test(text)))
  assert.deepEqual(stale, [], 'listed, and yet found')
  assert.ok(found.size > 90, `${found.size} conditions`)
})
