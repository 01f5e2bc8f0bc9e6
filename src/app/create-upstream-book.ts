import { readModelList } from '../gateway/providers/read-model-list.ts'
import { cheapestRoute, tryChat } from './try-chat.ts'
import type { UpstreamBook, UpstreamTest } from '../http/upstreams/upstream-body.ts'
import { storeUpstreamLists } from '../money/catalog/upstream-lists.ts'
import type { ConfiguredUpstream } from './config/resolve-upstreams.ts'
import { isInFile, loadAdded } from './config/with-added-upstreams.ts'
import { SANDBOX_UPSTREAMS } from './config/resolve-upstreams.ts'
import type { Parts } from './open-parts.ts'
import { readUpstreamLists } from './workers/read-upstream-lists.ts'

/** Each may cost a cent. */
const TESTS_PER_MINUTE = 6

type BookParts = Pick<
  Parts,
  | 'config'
  | 'db'
  | 'log'
  | 'catalog'
  | 'discover'
  | 'reloadCatalog'
  | 'providers'
  | 'settingsNow'
  | 'shared'
>

/** What operators see and do with upstreams, whoever configured them. */
export function createUpstreamBook(parts: BookParts): UpstreamBook {
  const { config, db, log, catalog, discover, providers, settingsNow } = parts
  const find = (id: string) => settingsNow().upstreams.find((each) => each.id === id)
  return {
    configured: () => [
      ...config.upstreams.map((each) => configuredView(config, each)),
      ...(config.mode === 'sandbox'
        ? SANDBOX_UPSTREAMS.map((id) => ({
            id,
            kind: 'sandbox',
            source: 'built_in' as const,
            host: null,
          }))
        : []),
    ],
    isInFile: (modelId) => isInFile(config, modelId),
    readEntry(entry) {
      const faults = entry.routes.flatMap(({ upstream }) =>
        find(upstream) || providers.has(upstream) ? [] : [`there is no upstream "${upstream}"`],
      )
      const written = loadAdded(settingsNow(), { entry, base: undefined }, faults)
      return written && faults.length === 0 ? written : { faults: [...new Set(faults)] }
    },
    async findKnown(id) {
      const { models } = await discover()
      return [...settingsNow().models, ...models].find((model) => model.id === id)
    },
    isOpen: (id) => providers.has(id),
    readList: (id) =>
      void readUpstreamLists({ config: settingsNow(), only: id, db, discover, log }),
    async test(id) {
      const upstream = find(id)
      const provider = providers.get(id)
      if (!upstream || !provider) return undefined
      const seconds = parts.shared.limiter.take(`test of ${id}`, TESTS_PER_MINUTE)
      if (seconds !== undefined) return { kind: 'too_many', seconds }
      const list = await readAndStore(parts, upstream)
      const model = cheapestRoute(id, catalog.listConfigured())
      if (model === undefined) return { kind: 'tested', list, asked: undefined }
      const startedMs = performance.now()
      const failure = await tryChat(provider, model)
      const latencyMs = Math.round(performance.now() - startedMs)
      return { kind: 'tested', list, asked: { model, failure, latencyMs } }
    },
  }
}

/** Its models are in the catalog afterwards, if they can be discovered. */
async function readAndStore(
  { db, reloadCatalog, settingsNow }: BookParts,
  { id, adapter }: ConfiguredUpstream,
): Promise<Extract<UpstreamTest, { kind: 'tested' }>['list']> {
  try {
    const list = await readModelList(adapter)
    if (settingsNow().discovery?.upstreams.some((each) => each.id === id)) {
      await storeUpstreamLists(db, new Map([[id, list]]))
      await reloadCatalog()
    }
    return { count: list.length }
  } catch (error) {
    return { error }
  }
}

/** Of its address only the host: the rest of what a file says may be secret. */
function configuredView({ catalogFile }: Parts['config'], { id, adapter }: ConfiguredUpstream) {
  const entry = catalogFile?.upstreams?.find((each) => each.id === id)
  const { baseUrl } = adapter.options
  return {
    id,
    kind: entry?.kind ?? id,
    source: entry ? ('file' as const) : ('environment' as const),
    host: baseUrl === undefined ? null : new URL(baseUrl).host,
  }
}
