import type { DiscoveredModels } from '../../money/catalog/reload-catalog.ts'
import { storeUpstreamLists, type ListedModel } from '../../money/catalog/upstream-lists.ts'
import { readModelList } from '../../gateway/providers/read-model-list.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Log } from '../../platform/lib/log.ts'
import type { Config } from '../config/config.ts'

/** One line of the log names so many. */
const NAMES_MAX = 100

/**
 * Reads the list of every upstream from which models are discovered, and tells the operator what they have that cannot
 * be sold, and what is configured that they no longer have. An upstream that does not answer keeps its last list. Never
 * rejects.
 */
export async function readUpstreamLists({
  config: { discovery, upstreams },
  only,
  db,
  discover,
  log,
}: {
  config: Pick<Config, 'discovery' | 'upstreams'>
  /** Read the list of this upstream alone. */
  only?: string
  db: Database
  discover: () => Promise<DiscoveredModels>
  log: Log
}): Promise<void> {
  if (!discovery) return
  const ids = new Set(discovery.upstreams.map(({ id }) => id))
  const read = upstreams.filter(({ id }) => ids.has(id) && (only ?? id) === id)
  const lists = new Map<string, readonly ListedModel[]>()
  await Promise.all(
    read.map(async ({ id, adapter }) => {
      try {
        lists.set(id, await readModelList(adapter))
      } catch (error) {
        log.warn('upstream_list_unread', { upstream: id, error })
      }
    }),
  )
  try {
    await storeUpstreamLists(db, lists)
    const found = await discover()
    log.info('upstream_lists_read', { discovered: found.models.length })
    for (const { id: upstream } of read) {
      const isOf = ({ upstreamId }: { upstreamId: string }): boolean => upstreamId === upstream
      const names = found.unpriced.filter(isOf).map(({ name }) => name)
      const modelIds = found.missing.filter(isOf).map(({ modelId }) => modelId)
      if (names.length > 0)
        log.warn('models_without_price', {
          upstream,
          count: names.length,
          names: names.slice(0, NAMES_MAX),
        })
      if (modelIds.length > 0) log.warn('models_not_listed', { upstream, models: modelIds })
    }
  } catch (error) {
    log.warn('upstream_lists_unread', { error })
  }
}
