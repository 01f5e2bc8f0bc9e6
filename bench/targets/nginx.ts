/** nginx `proxy_pass`: the least that a proxy costs. Only where nginx is installed. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findFreePort } from '../../test/harness/find-free-port.ts'
import { deadPort } from '../chat-request.ts'
import { findProgram } from '../find-program.ts'
import { nginxConfig, PROXY_SETTINGS } from '../nginx-config.ts'
import { chatPath, deadFirstPath, type StartTarget } from '../target.ts'

export const startNginx: StartTarget = async ({ processes, upstreamPort, folder }) => {
  const command = findProgram('nginx')
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
  upstream dead_first {
    server 127.0.0.1:${deadPort};
    server 127.0.0.1:${upstreamPort} backup;
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
    location = ${deadFirstPath} {
      proxy_pass http://dead_first${chatPath};
      ${PROXY_SETTINGS}
    }
  }`
}
