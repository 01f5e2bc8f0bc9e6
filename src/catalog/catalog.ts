import type { Model, ModelCategory } from './model.ts'

/**
 * The models of this process: its configuration with the operators' changes applied. A lookup is a single `Map` read.
 * A scheduled change takes effect by this node's clock, even while the database is unavailable.
 */
export interface Catalog {
  /** The model with the markup in force; a disabled model has no routes. */
  findModel(id: string): Model | undefined
  /** In catalog order; `chat` is an alias of `llm`. */
  listModels(category?: ModelCategory | 'chat'): readonly Model[]
  /** The models of the configuration, without the operators' changes. */
  listConfigured(): readonly Model[]
  /** Replaces the changes applied before. */
  applyChanges(changes: CatalogChanges): void
}

export interface CatalogChanges {
  /** Sorted by `startsAt`, the earliest first; includes changes that are already in force or superseded. */
  readonly markups: readonly MarkupStart[]
  readonly disabledIds: ReadonlySet<string>
}

export interface MarkupStart {
  readonly modelId: string
  readonly markupE4: bigint
  readonly startsAt: Date
}

interface Entry {
  model: Model
  /** `Infinity` if no change is scheduled. */
  nextAtMs: number
  upcoming: { readonly atMs: number; readonly model: Model }[]
}

export function createCatalog(configured: readonly Model[], now: () => number = Date.now): Catalog {
  let entries = buildEntries(configured, { markups: [], disabledIds: new Set() })

  function current(entry: Entry): Model {
    if (entry.nextAtMs !== Infinity && entry.nextAtMs <= now()) advance(entry, now())
    return entry.model
  }

  return {
    findModel(id) {
      const entry = entries.get(id)
      return entry && current(entry)
    },
    listModels(category) {
      const wanted = category === 'chat' ? 'llm' : category
      const models = [...entries.values()].map(current)
      return wanted === undefined ? models : models.filter((model) => model.category === wanted)
    },
    listConfigured: () => configured,
    applyChanges(changes) {
      entries = buildEntries(configured, changes)
    },
  }
}

function buildEntries(
  configured: readonly Model[],
  { markups, disabledIds }: CatalogChanges,
): Map<string, Entry> {
  const entries = configured.map((own): [string, Entry] => {
    const model = disabledIds.has(own.id) ? { ...own, routes: [] } : own
    const upcoming = markups
      .filter(({ modelId }) => modelId === own.id)
      .map(({ markupE4, startsAt }) => ({
        atMs: startsAt.getTime(),
        model: { ...model, markupE4 },
      }))
    return [own.id, { model, nextAtMs: upcoming[0]?.atMs ?? Infinity, upcoming }]
  })
  return new Map(entries)
}

function advance(entry: Entry, nowMs: number): void {
  const begun = entry.upcoming.filter(({ atMs }) => atMs <= nowMs)
  entry.upcoming = entry.upcoming.slice(begun.length)
  entry.model = begun.at(-1)?.model ?? entry.model
  entry.nextAtMs = entry.upcoming[0]?.atMs ?? Infinity
}
