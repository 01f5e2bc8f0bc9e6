import { needsAddress, type OpenedUpstream } from '../../money/catalog/added-upstreams.ts'
import { loadCatalog } from '../../money/catalog/load-catalog.ts'
import type { Config } from './config.ts'
import { listPriced } from './resolve-catalog.ts'
import {
  isSandboxUpstream,
  resolveUpstreams,
  type ConfiguredUpstream,
} from './resolve-upstreams.ts'

const KEY = 'KEY'

export type UpstreamSettings = Pick<
  Config,
  'mode' | 'upstreams' | 'models' | 'discovery' | 'catalogFile'
>

/** Whether the file, the environment or the sandbox has an upstream of this id: they win. */
export function isConfigured({ upstreams }: Pick<Config, 'upstreams'>, id: string): boolean {
  return isSandboxUpstream(id) || upstreams.some((own) => own.id === id)
}

/**
 * The settings with the upstreams that operators added: as if they stood in the file, except that a given address must be
 * public, unless `allowPrivate`. Those that cannot be called are left out.
 */
export function withAddedUpstreams<Settings extends UpstreamSettings>(
  settings: Settings,
  rows: readonly OpenedUpstream[],
  { allowPrivate }: { readonly allowPrivate: boolean },
): Settings {
  const used = rows.filter(({ id }) => !isConfigured(settings, id))
  const added = used.flatMap((row) => resolveAdded(row, allowPrivate))
  if (added.length === 0) return settings
  const { mode, upstreams, models, discovery, catalogFile } = settings
  const all = [...upstreams, ...added]
  // The prices of the built-in routes are those of the provider itself, whatever id another server was given.
  const isOwn = new Set(used.filter(isProviderItself).map(({ id }) => id))
  const hasUpstream = (id: string): boolean =>
    upstreams.some((each) => each.id === id) || isOwn.has(id)
  const isOfSandbox = (id: string): boolean => mode === 'sandbox' && isSandboxUpstream(id)
  const loaded = loadCatalog({
    config: catalogFile,
    mode,
    hasUpstream: (id) => hasUpstream(id) || isOfSandbox(id),
    at: new Date(),
  }).models
  const served = new Map(
    loaded
      .filter(({ routes }) => routes.some(({ upstreamId }) => isOwn.has(upstreamId)))
      .map((model) => [model.id, model]),
  )
  return {
    ...settings,
    upstreams: all,
    models: models.map((model) => served.get(model.id) ?? model),
    discovery: discovery && {
      ...discovery,
      upstreams: [...discovery.upstreams, ...listPriced(added)],
    },
  }
}

function isProviderItself({ id, kind, baseUrl }: OpenedUpstream): boolean {
  return id === kind && baseUrl === null
}

/** Its key is the whole environment that it sees. */
function resolveAdded(
  { id, kind, baseUrl, apiKey }: OpenedUpstream,
  allowPrivate: boolean,
): ConfiguredUpstream[] {
  if ((baseUrl !== null) !== needsAddress(kind)) return []
  const entry = {
    id,
    kind,
    ...(baseUrl === null ? {} : { base_url: baseUrl }),
    ...(apiKey === undefined ? {} : { api_key_env: KEY }),
  }
  return resolveUpstreams([entry], { [KEY]: apiKey }, []).map((upstream) => {
    const { adapter, pricedBy } = upstream
    const isPublicOnly = baseUrl !== null && !allowPrivate
    return {
      ...upstream,
      // What a server at an address of the operator's choice charges, no price data says.
      pricedBy: baseUrl === null ? pricedBy : undefined,
      adapter:
        adapter.speaks === 'chat-completions'
          ? { ...adapter, options: { ...adapter.options, isPublicOnly } }
          : adapter,
    }
  })
}
