/** `npm run web:contract`: writes web/src/api/contract.ts as the server of this source tree has it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../../src/composition/create-app.ts'
import { loadConfig } from '../../src/composition/config.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { createLog } from '../../src/lib/log.ts'
import { contractOf, type OpenApiDocument } from './contract-of.ts'

const dataDir = await mkdtemp(join(tmpdir(), 'catraca-contract-'))
const database = await startEmbedded({ dataDir, log: () => {} })
try {
  const config = loadConfig({ DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'error' }, dataDir)
  const log = createLog('error', (line) => process.stderr.write(line))
  const app = await createApp(config, database.databaseUrl, log, { hasWorkers: false })
  const answer = await app.server.inject('/v1/openapi.json')
  const path = join(import.meta.dirname, '../src/api/contract.ts')
  await writeFile(path, await contractOf(answer.json<OpenApiDocument>()))
  await app.close()
} finally {
  await database.stop()
  await rm(dataDir, { recursive: true, force: true })
}
