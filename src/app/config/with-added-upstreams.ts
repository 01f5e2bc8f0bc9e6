import type { AddedModel } from '../../money/catalog/added-models.ts'
import { needsAddress, type OpenedUpstream } from '../../money/catalog/added-upstreams.ts'
import { loadCatalog, loadModel, pricesOf } from '../../money/catalog/load-catalog.ts'
import type { ConfiguredModel } from '../../money/catalog/model.ts'
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

/** What operators added while servers run. */
export interface Added {
  readonly upstreams: readonly OpenedUpstream[]
  readonly models: readonly AddedModel[]
}

/**
 * The settings with what operators added: as if it stood in the file, except that the address of an upstream must be
 * public, unless `allowPrivate`. What cannot be called or has a fault is left out.
 */
export function withAdded<Settings extends UpstreamSettings>(
  settings: Settings,
  added: Added,
  options: { readonly allowPrivate: boolean },
): Settings {
  return withAddedModels(withAddedUpstreams(settings, added.upstreams, options), added.models)
}

/** Whether the file has an entry for this model, which wins. */
export function isInFile({ catalogFile }: Pick<Config, 'catalogFile'>, modelId: string): boolean {
  return (catalogFile?.models ?? []).some(({ id }) => id === modelId)
}

function withAddedModels<Settings extends UpstreamSettings>(
  settings: Settings,
  entries: readonly AddedModel[],
): Settings {
  const added = entries.flatMap((each) => {
    const model = isInFile(settings, each.entry.id) ? undefined : loadAdded(settings, each, [])
    return model ?? []
  })
  if (added.length === 0) return settings
  const ids = new Set(added.map(({ id }) => id))
  return {
    ...settings,
    models: [...settings.models.filter(({ id }) => !ids.has(id)), ...added],
  }
}

/** Returns undefined where the entry has a fault. A route over an upstream that is gone is left out. */
export function loadAdded(
  { mode, upstreams }: Pick<UpstreamSettings, 'mode' | 'upstreams'>,
  { entry, base }: AddedModel,
  faults: string[],
): ConfiguredModel | undefined {
  const hasUpstream = (id: string): boolean =>
    upstreams.some((each) => each.id === id) || (mode === 'sandbox' && isSandboxUpstream(id))
  const at = new Date()
  const model = loadModel(entry, { mode, hasUpstream, at }, faults)
  if (!model || !base) return model
  const { priceSchedule: _schedule, ...rest } = model
  const prices = pricesOf(base, at)
  return {
    ...rest,
    ...prices,
    routes: model.routes.map((route) => {
      const { priceSchedule: _own, ...others } = route
      return route.hasOwnPrice ? route : { ...others, ...prices }
    }),
  }
}

function withAddedUpstreams<Settings extends UpstreamSettings>(
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
