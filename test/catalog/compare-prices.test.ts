/** The hourly comparison of the prices in force with the price data. */
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { createCatalog } from '../../src/money/catalog/catalog.ts'
import { loadCatalog } from '../../src/money/catalog/load-catalog.ts'
import { setPrices, withdrawPrices } from '../../src/money/catalog/price-changes.ts'
import { packagedPriceData, type PriceData } from '../../src/money/catalog/price-from-data.ts'
import { registerPrices } from '../../src/money/catalog/register-prices.ts'
import { createReloadCatalog } from '../../src/money/catalog/reload-catalog.ts'
import type { Log } from '../../src/platform/lib/log.ts'
import { countPendingPrices } from '../../src/money/catalog/price-updates.ts'
import { comparePrices } from '../../src/app/workers/compare-prices.ts'
import { createTestDatabase } from '../harness/test-database.ts'

const ID = 'gpt-4o-mini'
const OPERATORS = ['ana@example.com', 'bia@example.com']
const database = await createTestDatabase()
const { db } = database
after(() => database.drop())
const options = { config: undefined, mode: 'live', hasUpstream: () => true } as const
const { models } = loadCatalog({ ...options, at: new Date() })
const catalog = createCatalog(await registerPrices(db, models))
const reload = createReloadCatalog(db, catalog)

let warned: string[] = []
const log: Log = {
  debug() {},
  info() {},
  warn: (_event, facts) => void warned.push((facts as { modelId: string }).modelId),
  error() {},
}
beforeEach(async () => {
  warned = []
  await db.deleteFrom('mails').execute()
})

const ASK = {
  readSecond: async () => [],
  findNew: async () => [],
  rule: { cheaper: 'ask', dearer: 'ask' },
  noticeDays: 7,
  operatorEmails: OPERATORS,
} as const

async function compare(data: PriceData = packagedPriceData): Promise<void> {
  const watch = { ...ASK, readData: () => Promise.resolve(data) }
  await comparePrices({ db, catalog, watch, log })
}

async function listMails() {
  const mails = await db.selectFrom('mails').select(['email', 'template', 'data']).execute()
  return mails
    .map(({ email, template, data }) => [email, template, data['models']])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))
}

async function setInput(input: bigint): Promise<number> {
  const model = models.find(({ id }) => id === ID) ?? assert.fail(ID)
  const tiers = model.price.tiers.map((tier) => ({ ...tier, input }))
  const set = await setPrices(db, OPERATOR, {
    models,
    prices: [{ modelId: ID, schedule: [{ price: { ...model.price, tiers } }] }],
    startsAt: undefined,
    note: undefined,
    isConfirmed: true,
    isDryRun: false,
  })
  assert.equal(set.kind, 'set')
  await reload()
  return set.effects[0]?.id as number
}

const ONE_MAIL_EACH = OPERATORS.map((email) => [email, 'precos_diferentes', ID])

test('the catalog as it is delivered has no difference, and nobody gets a mail', async () => {
  await compare()
  assert.deepEqual([warned, await listMails(), await countPendingPrices(db)], [[], [], 0])
})

test('a difference is reported once to each operator, again when it changes, and is gone when it is mended', async () => {
  const first = await setInput(200_000n)
  await compare()
  await compare()
  assert.deepEqual([warned, await listMails()], [[ID], ONE_MAIL_EACH])
  assert.equal(await countPendingPrices(db), 1)
  await db.deleteFrom('mails').execute()
  const second = await setInput(300_000n)
  await Promise.all([compare(), compare()])
  assert.deepEqual([warned, await listMails()], [[ID, ID], ONE_MAIL_EACH])
  for (const id of [first, second]) await withdrawPrices(db, OPERATOR, { id, note: undefined })
  await reload()
  await compare()
  assert.equal(await countPendingPrices(db), 0)
  assert.equal(warned.length, 2)
})

test('newer price data is found different at once, and data that cannot be read is a failure of the job', async () => {
  const newer: PriceData = {
    findPrices(provider, model) {
      const prices = packagedPriceData.findPrices(provider, model)
      return model === ID ? Object.assign({}, prices, { input_mtok: 0.2 }) : prices
    },
  }
  await compare(newer)
  assert.deepEqual([warned, await listMails()], [[ID], ONE_MAIL_EACH])
  const watch = { ...ASK, readData: () => Promise.reject(new Error('no file')) }
  await assert.rejects(comparePrices({ db, catalog, watch, log }), /no file/)
})
