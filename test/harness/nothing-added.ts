import type { Config } from '../../src/app/config/config.ts'
import type { WithAdded } from '../../src/money/catalog/reload-catalog.ts'

/** The configuration as a node loads it to which no operator added an upstream. */
export function nothingAdded(config: Config): () => Promise<WithAdded> {
  return async () => ({ ...config, pausedUpstreams: new Set(), apply() {} })
}
