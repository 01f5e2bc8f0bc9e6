/** `npm run db:schema`: writes src/platform/db/schema.sql from the migrations of this source tree. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { dumpSchema } from './dump-schema.ts'
import { startEmbedded } from './embedded.ts'
import { migrate } from './migrate.ts'
import { connectionConfig } from './open.ts'

const dataDir = await mkdtemp(join(tmpdir(), 'catraca-schema-'))
const database = await startEmbedded({ dataDir, log: () => {} })
try {
  await migrate(database.databaseUrl)
  const client = new pg.Client(connectionConfig(database.databaseUrl))
  await client.connect()
  try {
    await writeFile(join(import.meta.dirname, './schema.sql'), await dumpSchema(client))
  } finally {
    await client.end()
  }
} finally {
  await database.stop()
  await rm(dataDir, { recursive: true, force: true })
}
