import type { Model, ModelCategory } from './model.ts'

/**
 * The models of this process: those of its configuration, with what operators changed since. A lookup is one of
 * a `Map`; a change that begins at a time begins by this node's clock, whether or not the database is there.
 */
export interface Catalog {
  /** With the markup in force. One that is disabled has no routes. */
  findModel(id: string): Model | undefined
  /** In catalog order; `chat` is an alias of `llm`. */
  listModels(category?: ModelCategory | 'chat'): readonly Model[]
  /** As the configuration has them, whatever was changed since. */
  listConfigured(): readonly Model[]
  /** In the place of the changes before. */
  applyChanges(changes: CatalogChanges): void
}

export interface CatalogChanges {
  /** By the time from which they are in force, the earliest first; also those that are over. */
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
  /** `Infinity` where nothing is to come. */
  nextAtMs: number
  upcoming: { readonly atMs: number; readonly model: Model }[]
}

export function createCatalog(configured: readonly Model[], now: () => number = Date.now): Catalog {
  let entries = layOut(configured, { markups: [], disabledIds: new Set() })

  function current(entry: Entry): Model {
    if (entry.nextAtMs !== Infinity && entry.nextAtMs <= now()) moveOn(entry, now())
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
      entries = layOut(configured, changes)
    },
  }
}

function layOut(
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

function moveOn(entry: Entry, nowMs: number): void {
  const begun = entry.upcoming.filter(({ atMs }) => atMs <= nowMs)
  entry.upcoming = entry.upcoming.slice(begun.length)
  entry.model = begun.at(-1)?.model ?? entry.model
  entry.nextAtMs = entry.upcoming[0]?.atMs ?? Infinity
}
