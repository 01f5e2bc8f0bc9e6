/**
 * The peer: Portkey's open-source gateway, which runs on Node like Catraca. It only relays: it has no
 * keys, limits, balance or database.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findFreePort } from '../../test/harness/find-free-port.ts'
import { chatPath, type StartTarget } from '../target.ts'

const benchFolder = join(import.meta.dirname, '..')
const program = join(benchFolder, 'node_modules/@portkey-ai/gateway/build/start-server.js')
const INSTALL_MS_MAX = 180_000

export function portkeyVersion(): string {
  const { dependencies } = JSON.parse(readFileSync(join(benchFolder, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  return dependencies['@portkey-ai/gateway'] ?? ''
}

export const startPortkey: StartTarget = async ({ processes, upstreamPort }) => {
  if (!existsSync(program)) {
    const npm = await processes.run(
      {
        name: 'npm',
        command: 'npm',
        // Without scripts: its install script patches packages that are not installed.
        args: ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', benchFolder],
        cwd: benchFolder,
      },
      INSTALL_MS_MAX,
    )
    if (npm.code !== 0) {
      return { kind: 'unavailable', reason: `npm ci failed: ${npm.stderr.slice(-500)}` }
    }
  }

  const port = await findFreePort()
  const portkey = await processes.start({
    name: 'portkey',
    command: process.execPath,
    args: [
      // It has no setting for the address it listens on.
      '--import',
      join(benchFolder, 'listen-on-loopback.ts'),
      program,
      '--headless',
      `--port=${port}`,
    ],
    env: { NODE_ENV: 'production' },
    readyUrl: `http://127.0.0.1:${port}/`,
  })
  return {
    name: 'portkey',
    port,
    path: chatPath,
    headers: {
      authorization: 'Bearer sk-bench',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
    },
    pid: portkey.pid,
  }
}
