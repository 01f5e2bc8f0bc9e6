import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  parseCatalogConfig,
  type CatalogConfig,
} from '../../money/catalog/catalog-config-schema.ts'
import type { Discovery } from '../../money/catalog/discover-models.ts'
import { loadCatalog } from '../../money/catalog/load-catalog.ts'
import type { ConfiguredModel } from '../../money/catalog/model.ts'
import { DEFAULT_PRICE_RULE, type PriceRule } from '../../money/catalog/price-updates.ts'
import { isObject } from '../../platform/lib/is-object.ts'
import type { Environment } from './environment-reader.ts'
import type { Mode } from '../../platform/db/claim-mode.ts'
import {
  findPresets,
  resolveUpstreams,
  isSandboxUpstream,
  type ConfiguredUpstream,
} from './resolve-upstreams.ts'

export const CONFIG_FILE = 'catraca.config.json'
const DEFAULT_TRANSCRIPTION_MODEL = 'whisper-1'

/** The upstreams and models of this node: the built-in ones, overridden by the operator's file. */
export interface ResolvedCatalog {
  readonly upstreams: readonly ConfiguredUpstream[]
  /** Known upstreams whose variables are set, left out because `usesPresets` is false. */
  readonly upstreamsLeftOut: readonly string[]
  readonly models: readonly ConfiguredModel[]
  readonly discovery: Discovery | undefined
  readonly priceUpdates: PriceRule
  /** The operator's file; undefined if there is none. */
  readonly catalogFile: CatalogConfig | undefined
}

export function resolveCatalog(
  environment: Environment,
  folder: string,
  { mode, usesPresets }: { readonly mode: Mode; readonly usesPresets: boolean },
  faults: string[],
): ResolvedCatalog {
  const { config, upstreamIds } = readFile(environment, folder, faults)
  const known = findPresets(config, environment)
  const entries = [...(config?.upstreams ?? []), ...(usesPresets ? known : [])]
  const upstreams = resolveUpstreams(entries, environment, faults)
  const models = resolveModels(
    config,
    mode,
    [...upstreams.map(({ id }) => id), ...upstreamIds],
    faults,
  )
  const upstreamsLeftOut = usesPresets ? [] : known.map(({ id }) => id)
  // The sandbox asks no provider of the configuration for what it has.
  const discovery = discoveryOf(config, mode === 'live' ? upstreams : [])
  const priceUpdates = { ...DEFAULT_PRICE_RULE, ...config?.price_updates }
  return { upstreams, upstreamsLeftOut, models, discovery, priceUpdates, catalogFile: config }
}

function discoveryOf(
  config: CatalogConfig | undefined,
  configured: readonly ConfiguredUpstream[],
): Discovery | undefined {
  const { discover = true, models = [] } = config ?? {}
  if (discover === false) return undefined
  const upstreams = listPriced(configured)
  return { upstreams, patterns: discover === true ? ['*'] : discover, overlays: models }
}

/** The upstreams whose models can be discovered. */
export function listPriced(upstreams: readonly ConfiguredUpstream[]): Discovery['upstreams'] {
  return upstreams.flatMap(({ id, pricedBy }) => (pricedBy ? [{ id, pricedBy }] : []))
}

interface CatalogFile {
  /** Its entries without a fault; undefined if there is no file, or none that can be read. */
  readonly config: CatalogConfig | undefined
  /** Of all its upstreams, also of those with a fault: a route to one of them is no second fault. */
  readonly upstreamIds: readonly string[]
}

function readFile(environment: Environment, folder: string, faults: string[]): CatalogFile {
  const path = resolve(folder, environment.CATRACA_CONFIG || CONFIG_FILE)
  const none = { config: undefined, upstreamIds: [] }
  if (!existsSync(path)) {
    if (!environment.CATRACA_CONFIG) return none
    faults.push(`CATRACA_CONFIG: there is no file ${path}`)
    return none
  }
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    const { config, faults: found } = parseCatalogConfig(value)
    faults.push(...found.map((fault) => `${path}: ${fault}`))
    return { config, upstreamIds: idsOfUpstreams(value) }
  } catch (error) {
    faults.push(`${path}: ${(error as Error).message}`)
    return none
  }
}

function idsOfUpstreams(value: unknown): string[] {
  const { upstreams } = isObject(value) ? value : {}
  return Array.isArray(upstreams)
    ? upstreams.flatMap((entry: unknown) =>
        isObject(entry) && typeof entry['id'] === 'string' ? [entry['id']] : [],
      )
    : []
}

function resolveModels(
  config: CatalogConfig | undefined,
  mode: Mode,
  upstreamIds: readonly string[],
  faults: string[],
): readonly ConfiguredModel[] {
  const ids = new Set(upstreamIds)
  const hasUpstream = (id: string): boolean =>
    ids.has(id) || (mode === 'sandbox' && isSandboxUpstream(id))
  const loaded = loadCatalog({ config, mode, hasUpstream, at: new Date() })
  faults.push(...loaded.faults)
  return loaded.models
}

export function resolveTranscriptionModel(
  environment: Environment,
  models: readonly ConfiguredModel[],
  faults: string[],
): string {
  const id = environment.TRANSCRIPTION_MODEL || DEFAULT_TRANSCRIPTION_MODEL
  const isThere = models.some((model) => model.id === id && model.category === 'audio')
  if (!isThere && environment.TRANSCRIPTION_MODEL)
    faults.push(`TRANSCRIPTION_MODEL: there is no audio model "${id}" in the catalog`)
  return id
}
