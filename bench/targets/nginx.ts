/** nginx `proxy_pass`: the least that a proxy costs. Only where nginx is installed. */
import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { findFreePort } from '../../test/harness/find-free-port.ts'
import { nginxConfig, PROXY_SETTINGS } from '../nginx-config.ts'
import { chatPath, type StartTarget } from '../target.ts'

export const startNginx: StartTarget = async ({ processes, upstreamPort, folder }) => {
  const command = findNginx()
  if (command === undefined) return { kind: 'unavailable', reason: 'nginx is not installed' }

  const port = await findFreePort()
  const prefix = join(folder, 'nginx')
  mkdirSync(prefix)
  const configPath = join(prefix, 'nginx.conf')
  writeFileSync(configPath, nginxConfig(prefix, httpOf(port, upstreamPort)))
  const nginx = await processes.start({
    name: 'nginx',
    command,
    args: ['-p', prefix, '-c', configPath, '-e', join(prefix, 'error.log')],
    readyUrl: `http://127.0.0.1:${port}/ready`,
  })
  return {
    name: 'nginx',
    port,
    path: chatPath,
    headers: { authorization: 'Bearer sk-bench' },
    pid: nginx.pid,
  }
}

function httpOf(port: number, upstreamPort: number): string {
  return `  upstream bench {
    server 127.0.0.1:${upstreamPort};
    keepalive 1024;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /ready { return 200; }
    location / {
      proxy_pass http://bench;
      ${PROXY_SETTINGS}
    }
  }`
}

export function findNginx(): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.map((folder) => join(folder, 'nginx')).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
