/**
 * The server as `npm start` starts it, on the data folder of the history. In sandbox mode, which wants no
 * mail server, no company and no payment processor; what is read is the same.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findFreePort } from '../../test/harness/find-free-port.ts'
import type { Processes } from '../processes.ts'
import { historyConfig } from './history-models.ts'

const root = join(import.meta.dirname, '../..')

export interface RunningServer {
  /** With `/v1`. */
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
    args: startArguments(),
    env: {
      PORT: String(port),
      HOST: '127.0.0.1',
      CATRACA_MODE: 'sandbox',
      DATA_DIR: options.dataDir,
      CATRACA_CONFIG: configPath,
      RATE_LIMIT_PER_IP: '100000000',
      // What an administrator reads is measured too.
      ADMIN_EMAILS: options.adminEmails.join(','),
      NODE_ENV: 'production',
      // The embedded database has the history, whatever the caller's shell has.
      DATABASE_URL: undefined,
    },
    cwd: root,
    readyUrl: `${baseUrl}/healthz`,
  })
  return { baseUrl, pid }
}

/** As `npm start` starts it, with its flags. */
function startArguments(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: { start: string }
  }
  return scripts.start.split(' ').slice(1)
}
