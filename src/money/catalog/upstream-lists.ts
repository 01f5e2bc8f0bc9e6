/** What each upstream's own list had when it was read last, in the database: all nodes show the same models. */
import type { Database } from '../../platform/db/open.ts'
import type { StoredListedModel } from '../../platform/db/tables.ts'
import type { ConfiguredModel } from './model.ts'

export type ListedModel = StoredListedModel
/** The lists by upstream. One that was never read is absent. */
export type UpstreamLists = ReadonlyMap<string, readonly ListedModel[]>

/** Replaces these lists; every node is notified once. */
export async function storeUpstreamLists(db: Database, lists: UpstreamLists): Promise<void> {
  if (lists.size === 0) return
  const read_at = new Date()
  await db
    .insertInto('upstream_models')
    .values(
      [...lists].map(([upstream_id, models]) => ({
        upstream_id,
        models: JSON.stringify(models),
        read_at,
      })),
    )
    .onConflict((conflict) =>
      conflict.column('upstream_id').doUpdateSet((eb) => ({
        models: eb.ref('excluded.models'),
        read_at: eb.ref('excluded.read_at'),
      })),
    )
    .execute()
}

/** When each list was read: while this is the same, so are the lists. */
export async function readListTimes(db: Database): Promise<string> {
  const rows = await db
    .selectFrom('upstream_models')
    .select(['upstream_id', 'read_at'])
    .orderBy('upstream_id')
    .execute()
  return JSON.stringify(rows)
}

export async function readUpstreamLists(db: Database): Promise<UpstreamLists> {
  const rows = await db.selectFrom('upstream_models').selectAll().execute()
  return new Map(rows.map(({ upstream_id, models }) => [upstream_id, models]))
}

/** The day on which the last of its routes ends, of each model whose routes all have one in their upstreams' lists. */
export function listedEnds(
  models: readonly Pick<ConfiguredModel, 'id' | 'routes'>[],
  lists: UpstreamLists,
): ReadonlyMap<string, string> {
  const days = new Map(
    [...lists].flatMap(([upstreamId, models]) =>
      models.map(({ name, endsOn }) => [`${upstreamId} ${name}`, endsOn] as const),
    ),
  )
  return new Map(
    models.flatMap(({ id, routes }) => {
      const ends = routes.flatMap(
        ({ upstreamId, upstreamModel }) => days.get(`${upstreamId} ${upstreamModel}`) ?? [],
      )
      if (ends.length === 0 || ends.length < routes.length) return []
      return [[id, ends.reduce((one, other) => (one > other ? one : other))] as const]
    }),
  )
}
