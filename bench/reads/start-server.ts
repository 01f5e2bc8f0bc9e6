/**
 * The server as `npm start` starts it, on the data folder of the history. In sandbox mode, which needs no
 * mail server, company or payment processor; reads are the same in both modes.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findFreePort } from '../../test/harness/find-free-port.ts'
import type { Processes } from '../processes.ts'
import { startArguments } from '../start-arguments.ts'
import { historyConfig } from './history-models.ts'

export const root = join(import.meta.dirname, '../..')

export interface RunningServer {
  /** Includes `/v1`. */
  readonly baseUrl: string
  readonly pid: number
}

export async function startServer(
  processes: Processes,
  options: { dataDir: string; adminEmails: readonly string[] },
): Promise<RunningServer> {
  const configPath = join(options.dataDir, 'catraca.config.json')
  writeFileSync(configPath, JSON.stringify(historyConfig))
  const port = await findFreePort()
  const baseUrl = `http://127.0.0.1:${port}/v1`
  const { pid } = await processes.start({
    name: 'catraca-reads',
    command: process.execPath,
    args: startArguments(root),
    env: {
      PORT: String(port),
      HOST: '127.0.0.1',
      CATRACA_MODE: 'sandbox',
      DATA_DIR: options.dataDir,
      CATRACA_CONFIG: configPath,
      RATE_LIMIT_PER_IP: '100000000',
      REST_RATE_LIMIT_PER_KEY: '100000000',
      REST_RATE_LIMIT_PER_IP: '100000000',
      // Administrators' reads are measured too.
      ADMIN_EMAILS: options.adminEmails.join(','),
      NODE_ENV: 'production',
      // The history is in the embedded database, even if the caller's shell sets another one.
      DATABASE_URL: undefined,
    },
    cwd: root,
    readyUrl: `${baseUrl}/healthz`,
  })
  return { baseUrl, pid }
}
