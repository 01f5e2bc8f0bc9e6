/** A `catraca.config.json` in a separate folder, for a gateway under test. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CatalogConfig } from '../../src/money/catalog/catalog-config-schema.ts'

export interface ConfigFile {
  readonly path: string
  remove(): Promise<void>
}

export async function writeConfigFile(config: CatalogConfig): Promise<ConfigFile> {
  const folder = await mkdtemp(join(tmpdir(), 'catraca-config-'))
  const path = join(folder, 'catraca.config.json')
  await writeFile(path, JSON.stringify(config))
  return { path, remove: () => rm(folder, { recursive: true, force: true }) }
}
