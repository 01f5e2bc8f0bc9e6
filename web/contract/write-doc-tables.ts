/** `npm run docs:tables`: writes docs/settings.md and docs/metrics.md. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { renderDocTables } from '../../test/harness/doc-tables.ts'

for (const [path, text] of Object.entries(renderDocTables()))
  await writeFile(join(import.meta.dirname, '../..', path), text)
