/** Writes `catraca.config.schema.json`, which editors read: `node src/money/catalog/write-config-schema.ts`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalogConfigSchema } from './catalog-config-schema.ts'

export const CONFIG_SCHEMA_FILE = join(import.meta.dirname, '../../../catraca.config.schema.json')

export function configSchemaText(): string {
  return `${JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...catalogConfigSchema }, null, 2)}\n`
}

if (import.meta.main) writeFileSync(CONFIG_SCHEMA_FILE, configSchemaText())
