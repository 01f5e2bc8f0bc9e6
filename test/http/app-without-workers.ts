/**
 * The app of a stopped gateway, started again in this process on its database, disk and port, without workers: from
 * here on only requests change anything.
 */
import { createApp } from '../../src/app/create-app.ts'
import { loadConfig } from '../../src/app/config/config.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import type { TestGateway } from '../harness/gateway.ts'
import { addressesBeside } from '../harness/addresses-beside.ts'

export async function restartWithoutWorkers(
  { node, database }: TestGateway,
  env: Record<string, string> = {},
): Promise<{ close(): Promise<void> }> {
  await node.stop()
  const config = loadConfig(
    {
      DATABASE_URL: database.databaseUrl,
      ...addressesBeside(database.databaseUrl),
      DATA_DIR: node.dataDir,
      HOST: '127.0.0.1',
      PORT: String(node.port),
      RATE_LIMIT_PER_IP: '100000000',
      REST_RATE_LIMIT_PER_KEY: '100000000',
      REST_RATE_LIMIT_PER_IP: '100000000',
      ...env,
    },
    node.dataDir,
  )
  const log = createLog(config.logLevel, () => {})
  const app = await createApp(config, database.databaseUrl, log, { hasWorkers: false })
  await app.listen()
  return app
}
