import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseCatalogConfig, type CatalogConfig } from '../catalog/catalog-config-schema.ts'
import { loadCatalog } from '../catalog/load-catalog.ts'
import type { ConfiguredModel } from '../catalog/model.ts'
import type { Environment } from './environment.ts'
import type { Mode } from '../db/claim-mode.ts'
import {
  findPresets,
  resolveUpstreams,
  SANDBOX_UPSTREAM,
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
  /** The file could not be read; faults that may follow from that are not reported. */
  readonly isFaulty: boolean
}

export function resolveCatalog(
  environment: Environment,
  folder: string,
  { mode, usesPresets }: { readonly mode: Mode; readonly usesPresets: boolean },
  faults: string[],
): ResolvedCatalog {
  const file = readFile(environment, folder, faults)
  const isFaulty = file === 'faulty'
  const config = isFaulty ? undefined : file
  const known = findPresets(config, environment)
  const entries = [...(config?.upstreams ?? []), ...(usesPresets ? known : [])]
  const upstreams = resolveUpstreams(entries, environment, faults)
  const models = isFaulty ? [] : resolveModels(file, mode, upstreams, faults)
  const upstreamsLeftOut = usesPresets ? [] : known.map(({ id }) => id)
  return { upstreams, upstreamsLeftOut, models, isFaulty }
}

/** Undefined if there is no file. */
type CatalogFile = CatalogConfig | 'faulty' | undefined

function readFile(environment: Environment, folder: string, faults: string[]): CatalogFile {
  const path = resolve(folder, environment.CATRACA_CONFIG || CONFIG_FILE)
  if (!existsSync(path)) {
    if (!environment.CATRACA_CONFIG) return undefined
    faults.push(`CATRACA_CONFIG: there is no file ${path}`)
    return 'faulty'
  }
  try {
    const { config, faults: found } = parseCatalogConfig(JSON.parse(readFileSync(path, 'utf8')))
    faults.push(...found.map((fault) => `${path}: ${fault}`))
    return config ?? 'faulty'
  } catch (error) {
    faults.push(`${path}: ${(error as Error).message}`)
    return 'faulty'
  }
}

function resolveModels(
  config: CatalogConfig | undefined,
  mode: Mode,
  upstreams: readonly ConfiguredUpstream[],
  faults: string[],
): readonly ConfiguredModel[] {
  const ids = new Set(upstreams.map((upstream) => upstream.id))
  const hasUpstream = (id: string): boolean =>
    ids.has(id) || (mode === 'sandbox' && id === SANDBOX_UPSTREAM)
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
