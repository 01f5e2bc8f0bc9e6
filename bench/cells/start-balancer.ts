/** nginx as the balancer of cells: it routes each call by the name of the cell in its key, and asks nobody. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findFreePort } from '../../test/harness/find-free-port.ts'
import type { Processes } from '../processes.ts'
import { nginxConfig, PROXY_SETTINGS } from '../nginx-config.ts'
import { findProgram } from '../find-program.ts'

/** `ports` of the cells by their names. Returns the balancer's port. */
export async function startBalancer(
  processes: Processes,
  folder: string,
  ports: Readonly<Record<string, number>>,
): Promise<number> {
  const command = findProgram('nginx')
  if (command === undefined) throw new Error('nginx is not installed')
  const port = await findFreePort()
  const prefix = join(folder, 'balancer')
  mkdirSync(prefix)
  const configPath = join(prefix, 'nginx.conf')
  writeFileSync(configPath, nginxConfig(prefix, httpOf(port, ports)))
  await processes.start({
    name: 'balancer',
    command,
    args: ['-p', prefix, '-c', configPath, '-e', join(prefix, 'error.log')],
    readyUrl: `http://127.0.0.1:${port}/ready`,
  })
  return port
}

function httpOf(port: number, ports: Readonly<Record<string, number>>): string {
  const cells = Object.entries(ports)
  const routes = cells.map(([cell]) => `"~*^Bearer +sk-svc-${cell}_" cell_${cell};`)
  const upstreams = cells.map(
    ([cell, cellPort]) => `upstream cell_${cell} {
    server 127.0.0.1:${cellPort};
    keepalive 256;
    keepalive_requests 1000000000;
  }`,
  )
  return `  map $http_authorization $cell {
    default "";
    ${routes.join('\n    ')}
  }
  ${upstreams.join('\n  ')}
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /ready { return 200; }
    location / {
      if ($cell = "") { return 401; }
      proxy_pass http://$cell;
      ${PROXY_SETTINGS}
    }
  }`
}
