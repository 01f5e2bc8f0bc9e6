import { withDiscovered } from './discover-models.ts'
import { findByOtherName } from './find-by-other-name.ts'
import type { Model, ModelCategory, Route } from './model.ts'
import { nextPriceChange, priceAt } from './price-schedule.ts'
import { withPriceChanges, type PriceChange } from './with-price-changes.ts'

/**
 * The models of this process: those of its configuration and of the upstreams' lists, with the operators' changes applied.
 * A lookup is a single `Map` read. A scheduled change of a markup or a price takes effect by this node's clock, even while
 * the database is unavailable.
 */
export interface Catalog {
  /** The model with the markup in force; a disabled model has no routes. */
  findModel(id: string): Model | undefined
  /** By its id, or by another name that clients have for it; see `find-by-other-name.ts`. */
  findNamed(name: string): Model | undefined
  /** In catalog order; `chat` is an alias of `llm`. */
  listModels(category?: ModelCategory | 'chat'): readonly Model[]
  /** The next change of the model's markup or price that has a date; undefined if there is none. */
  findPlanned(id: string): PlannedChange | undefined
  /** The model that takes the place of one that ends; undefined if the maker names none, or it is not sold. */
  findReplacement(model: Pick<Model, 'endsOn' | 'replacedBy'>): Model | undefined
  /** All models, disabled ones included: with the prices in force and the configured markup. */
  listConfigured(): readonly Model[]
  /** An operator has paused all model calls. */
  isPaused(): boolean
  /** Replaces the changes applied before. */
  applyChanges(changes: CatalogChanges): void
}

export interface PlannedChange {
  readonly startsAt: Date
  /** As it is from then on. */
  readonly model: Model
}

export interface CatalogChanges {
  /** Sorted by `startsAt`, the earliest first; includes changes that are already in force or superseded. */
  readonly markups: readonly MarkupStart[]
  /** Sorted like the markups. */
  readonly prices: readonly PriceChange[]
  /** Of the upstreams' own lists. One with the id of a configured model takes its place. */
  readonly discovered: readonly Model[]
  /** The days on which models end, by their upstreams' own lists. */
  readonly ends?: ReadonlyMap<string, string>
  readonly disabledIds: ReadonlySet<string>
  /** The upstreams that take no new calls. A model without another route is answered as a disabled one. */
  readonly pausedUpstreams?: ReadonlySet<string>
  readonly isPaused: boolean
}

export interface MarkupStart {
  readonly modelId: string
  readonly markupE4: bigint
  readonly startsAt: Date
}

interface Entry {
  /** The model of the configuration, without routes if it is disabled. */
  readonly own: Model
  readonly markups: readonly MarkupStart[]
  model: Model
  /** When another markup or price begins to apply; `Infinity` if none is scheduled. */
  nextAtMs: number
}

export function createCatalog(configured: readonly Model[], now: () => number = Date.now): Catalog {
  let priced = configured
  let isPaused = false
  let entries = buildEntries(priced, { markups: [], disabledIds: new Set() }, now())

  function current(entry: Entry): Model {
    if (entry.nextAtMs !== Infinity && entry.nextAtMs <= now()) advance(entry, now())
    return entry.model
  }

  function findModel(id: string): Model | undefined {
    const entry = entries.get(id)
    return entry && current(entry)
  }

  return {
    findModel,
    findNamed: (name) => findModel(name) ?? findByOtherName(name, findModel),
    listModels(category) {
      const wanted = category === 'chat' ? 'llm' : category
      const models = [...entries.values()].map(current)
      return wanted === undefined ? models : models.filter((model) => model.category === wanted)
    },
    findPlanned(id) {
      const entry = entries.get(id)
      const startsAt = entry && nextDate(entry, now())
      return startsAt && { startsAt, model: modelAt(entry, startsAt.getTime()) }
    },
    findReplacement({ endsOn, replacedBy }) {
      const found = endsOn && replacedBy ? findModel(replacedBy) : undefined
      return found && found.routes.length > 0 ? found : undefined
    },
    listConfigured: () => priced.map((model) => pricedAt(model, now())),
    isPaused: () => isPaused,
    applyChanges(changes) {
      isPaused = changes.isPaused
      const models = withDiscovered(configured, changes.discovered)
      priced = models.map((model) =>
        withPriceChanges(withEnd(model, changes.ends?.get(model.id)), changes.prices),
      )
      entries = buildEntries(priced, changes, now())
    },
  }
}

/** A list knows the day better than this release does, and the operator better than a list. */
function withEnd(model: Model, listed: string | undefined): Model {
  return listed === undefined || model.hasOwnEnd ? model : { ...model, endsOn: listed }
}

function buildEntries(
  configured: readonly Model[],
  {
    markups,
    disabledIds,
    pausedUpstreams,
  }: Pick<CatalogChanges, 'markups' | 'disabledIds' | 'pausedUpstreams'>,
  nowMs: number,
): Map<string, Entry> {
  const routesOf = ({ id, routes }: Model): readonly Route[] => {
    if (disabledIds.has(id)) return []
    const taken = routes.filter(({ upstreamId }) => !pausedUpstreams?.has(upstreamId))
    return taken.length === routes.length ? routes : taken
  }
  const entries = configured.map((own): [string, Entry] => {
    const entry = {
      own: { ...own, routes: routesOf(own) },
      markups: markups.filter(({ modelId }) => modelId === own.id),
      model: own,
      nextAtMs: Infinity,
    }
    advance(entry, nowMs)
    return [own.id, entry]
  })
  return new Map(entries)
}

function advance(entry: Entry, nowMs: number): void {
  const { own, markups } = entry
  entry.model = modelAt(entry, nowMs)
  const next = markups.find(({ startsAt }) => startsAt.getTime() > nowMs)
  entry.nextAtMs = Math.min(
    next?.startsAt.getTime() ?? Infinity,
    ...[own, ...own.routes].map(({ priceSchedule }) =>
      priceSchedule ? nextPriceChange(priceSchedule, nowMs) : Infinity,
    ),
  )
}

type Dated = Pick<Entry, 'own' | 'markups'>

/** The model with the markup and the prices of this time. */
function modelAt({ own, markups }: Dated, atMs: number): Model {
  const markup = markups.findLast(({ startsAt }) => startsAt.getTime() <= atMs)
  const model = pricedAt(own, atMs)
  return markup ? { ...model, markupE4: markup.markupE4 } : model
}

/** Prices of certain times of day are no change: they come and go each day. */
function nextDate({ own, markups }: Dated, nowMs: number): Date | undefined {
  const prices = (own.priceSchedule ?? []).filter(({ window }) => !window)
  return [...markups, ...prices]
    .flatMap(({ startsAt }) => (startsAt && startsAt.getTime() > nowMs ? [startsAt] : []))
    .toSorted((one, other) => one.getTime() - other.getTime())
    .at(0)
}

/** The model with the prices of this time. */
function pricedAt(model: Model, atMs: number): Model {
  if (![model, ...model.routes].some(({ priceSchedule }) => priceSchedule)) return model
  const priceOf = ({ price, priceSchedule }: Pick<Model, 'price' | 'priceSchedule'>) =>
    priceSchedule ? priceAt(priceSchedule, atMs) : price
  return {
    ...model,
    price: priceOf(model),
    routes: model.routes.map((route) => ({ ...route, price: priceOf(route) })),
  }
}
