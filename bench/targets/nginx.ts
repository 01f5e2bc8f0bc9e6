/** nginx `proxy_pass`: the least that a proxy costs. Only where nginx is installed. */
import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { findFreePort } from '../../test/harness/find-free-port.ts'
import { chatPath, type StartTarget } from '../target.ts'

export const startNginx: StartTarget = async ({ processes, upstreamPort, folder }) => {
  const command = findNginx()
  if (command === undefined) return { kind: 'unavailable', reason: 'nginx is not installed' }

  const port = await findFreePort()
  const prefix = join(folder, 'nginx')
  mkdirSync(prefix)
  const configPath = join(prefix, 'nginx.conf')
  writeFileSync(configPath, nginxConfig(port, upstreamPort, prefix))
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

/**
 * One worker, because the other gateways run in one process. Connections are kept open on both sides:
 * the default of a thousand requests for each connection would distort the result. Streams are not
 * buffered.
 */
function nginxConfig(port: number, upstreamPort: number, prefix: string): string {
  return `
daemon off;
worker_processes 1;
worker_rlimit_nofile 10000;
pid ${prefix}/nginx.pid;
error_log ${prefix}/error.log warn;
events { worker_connections 5000; }
http {
  access_log off;
  client_body_temp_path ${prefix}/body;
  proxy_temp_path ${prefix}/proxy;
  fastcgi_temp_path ${prefix}/fastcgi;
  uwsgi_temp_path ${prefix}/uwsgi;
  scgi_temp_path ${prefix}/scgi;
  keepalive_requests 1000000000;
  tcp_nodelay on;
  upstream bench {
    server 127.0.0.1:${upstreamPort};
    keepalive 1024;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /ready { return 200; }
    location / {
      proxy_pass http://bench;
      proxy_http_version 1.1;
      proxy_set_header connection "";
      proxy_buffering off;
      proxy_read_timeout 60s;
    }
  }
}
`
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
