import { discoverModels } from '../../money/catalog/discover-models.ts'
import { describeAmounts } from '../../money/catalog/compare-amounts.ts'
import type { NewModel } from '../../money/catalog/price-updates.ts'
import {
  isUsuallyPriced,
  PublishedDataFault,
  readPublishedData,
  type PublishedData,
} from '../../money/catalog/published-prices.ts'
import { opinionOnEntry, readSecondList } from '../../money/catalog/second-opinion.ts'
import {
  joined,
  readStoredPriceData,
  storePriceData,
  storeSecondList,
  unknownModels,
} from '../../money/catalog/stored-price-data.ts'
import { readUpstreamLists } from '../../money/catalog/upstream-lists.ts'
import { scheduleOf } from '../../money/catalog/with-price-changes.ts'
import type { Database } from '../../platform/db/open.ts'
import { guardedFetch } from '../../platform/lib/guarded-fetch.ts'
import type { Log } from '../../platform/lib/log.ts'
import type { Config } from '../config/config.ts'
import type { Parts } from '../open-parts.ts'
import { readPriceData } from '../read-price-data.ts'
import { comparePrices, type PriceWatch } from './compare-prices.ts'
import type { Job } from './open-jobs.ts'

/** The data has some 400 kB. */
const BYTES_MAX = 4 * 1024 * 1024
const TIMEOUT_MS = 60_000

const DAY_MS = 86_400_000
const ASK = { cheaper: 'ask', dearer: 'ask' } as const

type PriceParts = Pick<Parts, 'db' | 'catalog' | 'discover' | 'reloadCatalog' | 'log'> & {
  readonly config: Pick<
    Config,
    | 'priceDataFile'
    | 'priceDataUrl'
    | 'secondPriceListUrl'
    | 'priceUpdates'
    | 'webhooksAllowPrivate'
    | 'discovery'
    | 'models'
    | 'markupNoticeDays'
    | 'adminEmails'
  >
}

/**
 * Fetches the published price data, and stores it if it is plausible: for all nodes, until the next one. Prices of the
 * catalog are changed by the comparison only. Never rejects for what it fetched.
 */
export async function renewPrices({
  db,
  config: { priceDataUrl, secondPriceListUrl, priceUpdates, webhooksAllowPrivate },
  catalog,
  reloadCatalog,
  log,
}: PriceParts): Promise<void> {
  if (priceDataUrl === undefined) return
  const source = { allowPrivate: webhooksAllowPrivate, log }
  const [published, second] = await Promise.all([
    readList(priceDataUrl, readPublishedData, source),
    secondPriceListUrl && readList(secondPriceListUrl, readSecondList, source),
  ])
  if (second) await storeSecondList(db, second)
  if (published) {
    await reloadCatalog()
    const sold = new Set(
      catalog
        .listConfigured()
        .flatMap(({ priceFrom }) =>
          priceFrom ? [`${priceFrom.provider} ${priceFrom.model}`] : [],
        ),
    )
    try {
      await storePriceData(db, published, {
        addsNew: priceUpdates.new === 'show',
        isSold: (provider, model) => sold.has(`${provider} ${model}`),
        second: second || (await readSecondInUse(db, secondPriceListUrl)),
      })
    } catch (error) {
      if (!(error instanceof PublishedDataFault)) throw error
      log.error('price_data_refused', { host: hostOf(priceDataUrl), fault: error.message })
    }
  }
  await reloadCatalog()
}

/** Undefined if the list cannot be read, or is refused. */
async function readList(
  url: string,
  parse: (json: string) => PublishedData,
  { allowPrivate, log }: { readonly allowPrivate: boolean; readonly log: Log },
): Promise<PublishedData | undefined> {
  const host = hostOf(url)
  try {
    const options = { bytesMax: BYTES_MAX, timeoutMs: TIMEOUT_MS, allowPrivate }
    const { status, body } = await guardedFetch(url, options)
    if (status !== 200) throw new Error(`the price data was answered with ${status}`)
    const list = parse(body.toString('utf8'))
    log.info('price_data_read', { host, bytes: body.length })
    return list
  } catch (error) {
    if (error instanceof PublishedDataFault)
      log.error('price_data_refused', { host, fault: error.message })
    else log.warn('price_data_unread', { host, error })
    return undefined
  }
}

/** The rest of an address can hold secrets. */
function hostOf(url: string): string | undefined {
  return URL.parse(url)?.host
}

/** What the second list said last; nothing while it is switched off. */
async function readSecondInUse(db: Database, url: string | undefined): Promise<PublishedData> {
  return (url && (await readStoredPriceData(db))?.second) || []
}

/**
 * The models of the published data that an upstream lists and that are not in the catalog: they wait for an operator.
 * If the rule shows new ones, only those do whose price is unusually low, or is another one in the second list.
 */
async function findNewModels({
  db,
  config: { priceDataUrl, secondPriceListUrl, priceUpdates, ...configured },
  catalog,
  discover,
}: Omit<PriceParts, 'reloadCatalog' | 'log'>): Promise<readonly NewModel[]> {
  const stored = await readStoredPriceData(db)
  const { discovery, models } = (await discover()).added ?? configured
  if (priceDataUrl === undefined || priceUpdates.new === 'hide' || !discovery || !stored) return []
  const second = secondPriceListUrl ? stored.second : []
  const now = new Date()
  const unknown = unknownModels(
    stored.published,
    stored.added,
    (provider, model) =>
      priceUpdates.new === 'ask' ||
      !isUsuallyPriced(provider, model) ||
      opinionOnEntry(provider, model, second, now)?.agrees === false,
  )
  const lists = await readUpstreamLists(db)
  const added = joined(stored.added, unknown)
  const found = discoverModels(discovery, models, lists, now, added)
  return found.models.flatMap(({ id, priceFrom, ...priced }): NewModel[] => {
    const { provider = '', model = '' } = priceFrom ?? {}
    const entry = unknown
      .find((each) => each.id === provider)
      ?.models.find((each) => each.id === model)
    if (!entry || catalog.findModel(id)) return []
    const opinion = opinionOnEntry(provider, entry, second, now)
    const amounts = describeAmounts({ tiers: [] }, scheduleOf(priced)) ?? ''
    const text = opinion ? `${amounts}; ${opinion.text}` : amounts
    return [{ modelId: id, kind: 'new', text, entry: { provider, model: entry } }]
  })
}

/** Jobs of the clock: the comparison of prices, and the daily fetch of the data if it has an address. */
export function priceJobs(parts: PriceParts): Record<string, Job> {
  const compare = (): Promise<void> => comparePrices({ ...parts, watch: priceWatchOf(parts) })
  return {
    // Every hour, so that the operator learns of a replaced file of price data on the same day.
    'compare-prices': { cron: '33 * * * *', run: compare },
    ...(parts.config.priceDataUrl !== undefined && {
      'renew-prices': {
        cron: '51 7 * * *',
        run: () => renewPrices(parts).then(compare),
      },
    }),
  }
}

/** Fetches at the first start with an address, and after a day without a server. Never rejects. */
export async function renewOldPrices(parts: PriceParts): Promise<void> {
  try {
    const { fetchedAt } = (await readStoredPriceData(parts.db)) ?? {}
    if (Date.now() - (fetchedAt?.getTime() ?? 0) > DAY_MS) await renewPrices(parts)
  } catch (error) {
    parts.log.warn('price_data_unread', { error })
  }
}

export function priceWatchOf(parts: Omit<PriceParts, 'reloadCatalog' | 'log'>): PriceWatch {
  const { db, config } = parts
  return {
    readData: () => readPriceData(db, config),
    readSecond: () => readSecondInUse(db, config.secondPriceListUrl),
    findNew: () => findNewModels(parts),
    // What a file of the operator's says is only reported.
    rule: config.priceDataUrl === undefined ? ASK : config.priceUpdates,
    noticeDays: config.markupNoticeDays,
    operatorEmails: config.adminEmails,
  }
}
