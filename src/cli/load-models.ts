import { loadCatalog } from '../catalog/load-catalog.ts'
import type { Model } from '../catalog/model.ts'
import type { Config } from '../config.ts'

/** The catalog as a server of this configuration has it. */
export function loadModels(
  config: Pick<Config, 'catalog' | 'mode' | 'upstreams'>,
): readonly Model[] {
  const ids = new Set(config.upstreams.map((upstream) => upstream.id))
  const hasUpstream = (id: string): boolean =>
    ids.has(id) || (config.mode === 'sandbox' && id === 'sandbox')
  return loadCatalog({ config: config.catalog, mode: config.mode, hasUpstream, at: new Date() })
    .models
}
