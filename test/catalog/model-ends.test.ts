/** Who is notified of models that end, and how often. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { notifyModelEnds } from '../../src/app/workers/notify-model-ends.ts'
import { queueMails } from '../../src/deliveries/email/queue-mails.ts'
import { createCatalog } from '../../src/money/catalog/catalog.ts'
import { sandboxModels } from '../../src/money/catalog/sandbox-catalog.ts'
import { dispatchEvents } from '../../src/platform/events/dispatch-events.ts'
import { addDays } from '../../src/platform/lib/days.ts'
import { createProcessLog } from '../../src/platform/lib/log.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { withPriceIds } from '../harness/with-price-ids.ts'

const DAY_MS = 86_400_000
const TODAY = new Date().toISOString().slice(0, 10)
const [FIRST, SECOND, FAR, OTHER] = withPriceIds(sandboxModels).map(({ id }) => id) as [
  string,
  string,
  string,
  string,
]

let database: TestDatabase

before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

function catalogOf(ends: Readonly<Record<string, string>>) {
  return createCatalog(
    withPriceIds(sandboxModels).map((model) => {
      const endsOn = ends[model.id]
      return endsOn ? { ...model, endsOn, replacedBy: OTHER } : model
    }),
  )
}

async function use(modelIds: readonly string[], daysAgo = 0): Promise<string> {
  const { customerId, key } = await seedCustomer(database.db, { balanceBrl: '10' })
  const at = new Date(Date.now() - daysAgo * DAY_MS)
  const events = modelIds.map((modelId) => ({ at, modelId, promptTokens: 1, completionTokens: 1 }))
  await seedUsage(database.db, { customerId, apiKeyId: key.id, events })
  return customerId
}

/** What each customer was notified of, in the order of the events: `first <model> <days left>`. */
async function notified(customerIds: readonly string[]): Promise<string[][]> {
  const rows = await database.db
    .selectFrom('events')
    .select(['customer_id', 'data'])
    .where('type', '=', 'model.ending')
    .orderBy('created_at')
    .execute()
  return customerIds.map((id) =>
    rows
      .filter(({ customer_id }) => customer_id === id)
      .map(({ data }) =>
        (data.models as { notice: string; model_id: string; ends_on: string }[])
          .map(({ notice, model_id, ends_on }) => `${notice} ${model_id} ${ends_on}`)
          .join(', '),
      ),
  )
}

test('who used models that end is notified once of all of them, on however many nodes, and again in the last week', async () => {
  const { db } = database
  const [soon, later] = [addDays(TODAY, 40), addDays(TODAY, 50)]
  const catalog = catalogOf({ [FIRST]: later, [SECOND]: soon, [FAR]: addDays(TODAY, 61) })
  const both = await use([FIRST, SECOND, FAR, OTHER])
  const one = await use([FIRST], 29)
  const others = [await use([FAR, OTHER]), await use([FIRST], 32), await use([])]
  const all = [both, one, ...others]
  const nodes = await Promise.all([1, 2, 3].map(() => notifyModelEnds(db, catalog)))
  assert.equal(
    nodes.reduce((sum, count) => sum + count),
    2,
  )
  assert.equal(await notifyModelEnds(db, catalog), 0)
  const first = [[`first ${SECOND} ${soon}, first ${FIRST} ${later}`], [`first ${FIRST} ${later}`]]
  assert.deepEqual(await notified(all), [...first, [], [], []])

  // One mail each, which names everything.
  const log = createProcessLog('error', () => {})
  await dispatchEvents(db, [queueMails], log)
  const mails = await db.selectFrom('mails').select(['customer_id', 'template']).execute()
  const ending = mails.filter(({ template }) => template === 'fim_de_modelo')
  const mailed = ending.map(({ customer_id: id }) => String(id))
  assert.deepEqual(mailed.toSorted(), [both, one].toSorted())

  // A list that says another day each time tells nobody more often.
  const moved = catalogOf({ [FIRST]: addDays(TODAY, 45), [SECOND]: soon })
  assert.equal(await notifyModelEnds(db, moved), 0)

  // In the last week of a model, and never after its day.
  const near = catalogOf({ [SECOND]: soon })
  assert.equal(await notifyModelEnds(db, near, addDays(soon, -8)), 0)
  for (const left of [-7, -7, -6, 0, 1]) await notifyModelEnds(db, near, addDays(soon, left))
  first[0]?.push(`last ${SECOND} ${soon}`)
  assert.deepEqual(await notified(all), [...first, [], [], []])
})

test('a model whose end is first known in its last days is notified of once, and one that is over never', async () => {
  const { db } = database
  const customerId = await use([FIRST, SECOND])
  const catalog = catalogOf({ [FIRST]: addDays(TODAY, 3), [SECOND]: addDays(TODAY, -1) })
  for (let times = 0; times < 2; times++) await notifyModelEnds(db, catalog)
  assert.deepEqual(await notified([customerId]), [[`last ${FIRST} ${addDays(TODAY, 3)}`]])
  // A day that another list moves within the fortnight is not notified of again.
  await notifyModelEnds(db, catalogOf({ [FIRST]: addDays(TODAY, 4) }))
  assert.equal((await notified([customerId]))[0]?.length, 1)
})
