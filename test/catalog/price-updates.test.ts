/** The operator's rule for news of the published price data, and answers to what waits. */
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { comparePrices } from '../../src/app/workers/compare-prices.ts'
import { notifyPriceChanges } from '../../src/app/workers/notify-price-changes.ts'
import { createCatalog } from '../../src/money/catalog/catalog.ts'
import { loadCatalog } from '../../src/money/catalog/load-catalog.ts'
import { setPrices, withdrawPrices } from '../../src/money/catalog/price-changes.ts'
import { packagedPriceData, type PriceData } from '../../src/money/catalog/price-from-data.ts'
import {
  approvePrice,
  countPendingPrices,
  DEFAULT_PRICE_RULE,
  listPendingPrices,
  rejectPrice,
  type PriceRule,
} from '../../src/money/catalog/price-updates.ts'
import { registerPrices } from '../../src/money/catalog/register-prices.ts'
import { createReloadCatalog } from '../../src/money/catalog/reload-catalog.ts'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import type { Log } from '../../src/platform/lib/log.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { createTestDatabase, seedCustomer } from '../harness/test-database.ts'

/** USD 0.15, 0.075 cached and 0.60 per million tokens. */
const ID = 'gpt-4o-mini'
/** Its file has a price of its own, which is that of the data. */
const OWN = 'gpt-4.1-mini'
/** The package has it at 0.1, 0.025 cached and 0.4. */
const OTHER = 'gpt-4.1-nano'
const NOTICE_DAYS = 7
const DAY_MS = 86_400_000

const database = await createTestDatabase()
const { db } = database
after(() => database.drop())
const { models } = loadCatalog({
  config: {
    models: [{ id: OWN, prices: { input: '0.4', cached_input: '0.1', output: '1.6' } }],
  },
  mode: 'live',
  hasUpstream: () => true,
  at: new Date(),
})
const catalog = createCatalog(await registerPrices(db, models))
const reload = createReloadCatalog(db, catalog)

let events: string[] = []
const note = (event: string, facts?: object): void =>
  void events.push(`${event} ${(facts as { modelId: string }).modelId}`)
const log: Log = { debug() {}, info: note, warn: note, error: note }

beforeEach(async () => {
  events = []
  for (const table of [
    'price_changes',
    'price_differences',
    'mails',
    'events',
    'audit_log',
  ] as const)
    await db.deleteFrom(table).execute()
  await reload()
})

/** The data with other prices of these models. */
function dataWith(amounts: Readonly<Record<string, object>>): PriceData {
  return {
    findPrices(provider, model) {
      const prices = packagedPriceData.findPrices(provider, model)
      const changed = provider === 'openai' ? amounts[model] : undefined
      if (Array.isArray(changed)) return changed
      return changed ? Object.assign({}, prices, changed) : prices
    },
  }
}

async function compare(amounts: Readonly<Record<string, object>>, rule: Partial<PriceRule> = {}) {
  events = []
  const watch = {
    readData: () => Promise.resolve(dataWith(amounts)),
    readSecond: async () => [],
    findNew: async () => [],
    rule: { ...DEFAULT_PRICE_RULE, ...rule },
    noticeDays: NOTICE_DAYS,
    operatorEmails: ['ana@example.com'],
  }
  await comparePrices({ db, catalog, watch, log })
  await reload()
}

function inputOf(id: string): bigint | undefined {
  return catalog.findModel(id)?.price.tiers[0]?.input
}

const pending = async () =>
  (await listPendingPrices(db)).map(({ modelId, kind, difference }) => [modelId, kind, difference])

const listActs = async () =>
  (
    await db
      .selectFrom('audit_log')
      .select(['action', 'actor_kind'])
      .orderBy('created_at')
      .execute()
  ).map(({ action, actor_kind }) => `${actor_kind} ${action}`)

const answerOf = (modelId: string, difference?: string) => ({ modelId, difference })
const terms = { models, noticeDays: NOTICE_DAYS }

test('a cheaper price is taken at once, with its audit row, and a dearer one waits at the old price and alarms', async () => {
  await compare({
    [ID]: { input_mtok: 0.1 },
    'gpt-4.1': { input_mtok: 2.4 },
    'gpt-4o': { output_mtok: 14 },
  })
  assert.equal(inputOf(ID), 100_000n)
  assert.deepEqual(await listActs(), ['system model.prices_set'])
  assert.equal(inputOf('gpt-4.1'), 2_000_000n)
  assert.deepEqual(await pending(), [
    ['gpt-4.1', 'dearer', 'input 2 -> 2.4, cache write 2 -> 2.4'],
    ['gpt-4o', 'dearer', 'output 10 -> 14, reasoning 10 -> 14'],
  ])
  // The markup of 1.25 covers a fifth more, and not 40 %.
  assert.deepEqual(events.toSorted(), [
    `price_below_cost gpt-4o`,
    'price_difference_found gpt-4.1',
    'price_difference_found gpt-4o',
    `price_taken ${ID}`,
  ])
  await compare({
    [ID]: { input_mtok: 0.1 },
    'gpt-4.1': { input_mtok: 2.4 },
    'gpt-4o': { output_mtok: 14 },
  })
  assert.deepEqual(events, [])
})

test('an approved dearer price begins after its notice, which every customer who used the model gets once', async () => {
  const { customerId, key } = await seedCustomer(db, { balanceBrl: '10' })
  const used = { at: new Date(), modelId: ID, promptTokens: 10, completionTokens: 10 }
  await seedUsage(db, { customerId, apiKeyId: key.id, events: [used] })
  await compare({ [ID]: { input_mtok: 0.18 } })
  const begun = Date.now()
  const answered = await approvePrice(
    db,
    OPERATOR,
    answerOf(ID, 'input 0.15 -> 0.18, cache write 0.15 -> 0.18'),
    terms,
  )
  await reload()
  assert.equal(answered.kind, 'answered')
  assert.deepEqual(await listActs(), ['operator model.prices_set'])
  assert.equal(inputOf(ID), 150_000n)
  const planned = catalog.findPlanned(ID)
  const days = ((planned?.startsAt.getTime() ?? 0) - begun) / DAY_MS
  assert.ok(days >= NOTICE_DAYS - 0.01 && days < NOTICE_DAYS + 0.01)
  assert.equal(planned?.model.price.tiers[0]?.input, 180_000n)
  for (let times = 0; times < 2; times++) await notifyPriceChanges(db, catalog, 50_000n)
  const notified = await db
    .selectFrom('events')
    .select(['customer_id', 'data'])
    .where('type', '=', 'price.changed')
    .execute()
  assert.deepEqual(notified, [
    {
      customer_id: customerId,
      data: {
        model_id: ID,
        model_name: catalog.findModel(ID)?.displayName,
        markup_multiplier_before: '1.25',
        markup_multiplier: '1.25',
        change_percent: '20',
        // USD 0.15 and 0.18, at 5 BRL and a markup of 1.25.
        input_brl_before: '0.9375',
        input_brl: '1.125',
        output_brl_before: '3.75',
        output_brl: '3.75',
        starts_at: planned?.startsAt.toISOString(),
      },
    },
  ])
  // What is announced no longer waits.
  await compare({ [ID]: { input_mtok: 0.18 } })
  assert.deepEqual([await pending(), events], [[], []])
})

test('by a rule of "take" a dearer price is announced, and what the data says afterwards replaces it', async () => {
  const take = { dearer: 'take' } as const
  await compare({ [ID]: { input_mtok: 0.18 } }, take)
  assert.deepEqual([inputOf(ID), await pending()], [150_000n, []])
  await compare({ [ID]: { input_mtok: 0.18 } }, take)
  assert.equal(catalog.findPlanned(ID)?.model.price.tiers[0]?.input, 180_000n)
  await compare({ [ID]: { input_mtok: 0.2 } }, take)
  assert.equal(catalog.findPlanned(ID)?.model.price.tiers[0]?.input, 200_000n)
  // The data takes it back: nothing is planned any more.
  await compare({}, take)
  assert.deepEqual([catalog.findPlanned(ID), inputOf(ID)], [undefined, 150_000n])
})

test('a price that an operator set, wrote or took back is never replaced without an answer', async () => {
  const model = models.find(({ id }) => id === ID) ?? assert.fail(ID)
  const tiers = model.price.tiers.map((tier) => ({ ...tier, input: 160_000n }))
  const set = await setPrices(db, OPERATOR, {
    models,
    prices: [{ modelId: ID, schedule: [{ price: { ...model.price, tiers } }] }],
    startsAt: undefined,
    note: undefined,
    isConfirmed: false,
    isDryRun: false,
  })
  assert.equal(set.kind, 'set')
  await reload()
  const all = { cheaper: 'take', dearer: 'take' } as const
  await compare({ [OWN]: { input_mtok: 0.3 } }, all)
  assert.deepEqual([inputOf(ID), inputOf(OWN)], [160_000n, 400_000n])
  assert.deepEqual(await pending(), [
    [OWN, 'cheaper', 'input 0.4 -> 0.3, cache write 0.4 -> 0.3'],
    [ID, 'cheaper', 'input 0.16 -> 0.15'],
  ])
  await withdrawPrices(db, OPERATOR, { id: set.effects[0]?.id as number, note: undefined })
  await reload()
  await compare({ [ID]: { input_mtok: 0.14 } }, all)
  assert.deepEqual([inputOf(ID), (await pending())[0]?.[0]], [150_000n, ID])
})

test('a price below half waits, whatever the rule', async () => {
  await compare({ [ID]: { input_mtok: 0.05 } })
  assert.deepEqual([inputOf(ID), (await pending())[0]?.[1]], [150_000n, 'cheaper'])
  const { kind } = await approvePrice(db, OPERATOR, answerOf(ID), terms)
  await reload()
  assert.deepEqual([kind, inputOf(ID), await pending()], ['answered', 50_000n, []])
})

test('the price of every later time is shown, and one that rises and falls waits, whatever the rule', async () => {
  const tomorrow = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10)
  const at = (input: number, output: number) => ({
    input_mtok: input,
    output_mtok: output,
    cache_read_mtok: 0.025,
  })
  const later = { constraint: { start_date: tomorrow }, prices: at(0.06, 0.25) }
  const daily = { start_time: '01:00:00Z', end_time: '02:00:00Z' }
  const mixed = { [OTHER]: [{ prices: at(0.09, 0.41) }, later] }
  await compare(mixed, { cheaper: 'take', dearer: 'take' })
  const both =
    'input 0.1 -> 0.09, cache write 0.1 -> 0.09, output 0.4 -> 0.41, reasoning 0.4 -> 0.41'
  const cheap =
    'input 0.1 -> 0.06, cache write 0.1 -> 0.06, output 0.4 -> 0.25, reasoning 0.4 -> 0.25'
  const shown = `${both}; from ${tomorrow}T00:00:00.000Z: ${cheap}`
  assert.deepEqual(await pending(), [[OTHER, 'dearer', shown]])
  // A price that is cheaper at once and hides a rise of tomorrow, or of some hours.
  await compare(
    { [OTHER]: [{ prices: at(0.06, 0.25) }, { ...later, prices: at(0.12, 0.4) }] },
    { dearer: 'take' },
  )
  const [[, kind, text] = []] = await pending()
  assert.equal(kind, 'dearer')
  assert.match(text ?? '', /^input 0\.1 -> 0\.06,.*; from .*: input 0\.1 -> 0\.12, [^;]*$/)
  await compare({
    [OTHER]: [{ prices: at(0.1, 0.4) }, { constraint: daily, prices: at(0.12, 0.4) }],
  })
  const hours = 'input 0.1 -> 0.12, cache write 0.1 -> 0.12, at other hours no difference'
  assert.deepEqual(await pending(), [[OTHER, 'dearer', hours]])
})

test('data that halves a price every day stops at half of the price of the package or of the last answer', async () => {
  for (const input of [0.075, 0.0375, 0.01875]) await compare({ [ID]: { input_mtok: input } })
  assert.deepEqual([inputOf(ID), (await pending()).length], [75_000n, 1])
  await compare({ [ID]: { input_mtok: 0.04 } })
  assert.equal((await approvePrice(db, OPERATOR, answerOf(ID), terms)).kind, 'answered')
  await reload()
  for (const input of [0.03, 0.02, 0.015]) await compare({ [ID]: { input_mtok: input } })
  assert.deepEqual([inputOf(ID), (await pending()).length], [20_000n, 1])
})

test('only what an operator saw is approved, once, and what is rejected waits again when it changes', async () => {
  await compare({ [ID]: { input_mtok: 0.18 } })
  const seen = 'input 0.15 -> 0.18, cache write 0.15 -> 0.18'
  await compare({ [ID]: { input_mtok: 0.19 } })
  assert.deepEqual(await approvePrice(db, OPERATOR, answerOf(ID, seen), terms), {
    kind: 'price_update_changed',
    difference: 'input 0.15 -> 0.19, cache write 0.15 -> 0.19',
  })
  assert.equal(
    (await rejectPrice(db, OPERATOR, answerOf(ID, 'input 0.15 -> 0.19, cache write 0.15 -> 0.19')))
      .kind,
    'answered',
  )
  assert.equal((await rejectPrice(db, OPERATOR, answerOf(ID))).kind, 'price_update_not_found')
  assert.equal(
    (await approvePrice(db, OPERATOR, answerOf(ID), terms)).kind,
    'price_update_not_found',
  )
  await compare({ [ID]: { input_mtok: 0.19 } })
  assert.deepEqual([await pending(), await countPendingPrices(db), events], [[], 0, []])
  assert.deepEqual(await listActs(), ['operator model.price_rejected'])
  await compare({ [ID]: { input_mtok: 0.2 } })
  const answers = await Promise.all(
    [1, 2, 3].map(() => approvePrice(db, OPERATOR, answerOf(ID), terms)),
  )
  assert.deepEqual(answers.map(({ kind }) => kind).toSorted(), [
    'answered',
    'price_update_not_found',
    'price_update_not_found',
  ])
})
