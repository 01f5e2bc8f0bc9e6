/** HAProxy with peers/haproxy.cfg: the other relay that operators know. Only where it is installed. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { findFreePort } from '../../test/harness/find-free-port.ts'
import { deadPort } from '../chat-request.ts'
import { findProgram } from '../find-program.ts'
import type { StartPeer } from '../peers/peer.ts'
import { chatPath, deadFirstPath } from '../target.ts'

const config = join(import.meta.dirname, '../peers/haproxy.cfg')

export const startHaproxy: StartPeer = async ({ processes, upstreamPort }) => {
  const command = findProgram('haproxy')
  if (command === undefined) return { kind: 'unavailable', reason: 'haproxy is not installed' }
  const port = await findFreePort()
  const haproxy = await processes.start({
    name: 'haproxy',
    command,
    args: ['-db', '-f', config],
    env: {
      BENCH_PORT: String(port),
      BENCH_UPSTREAM: `127.0.0.1:${upstreamPort}`,
      BENCH_DEAD: `127.0.0.1:${deadPort}`,
    },
    readyUrl: `http://127.0.0.1:${port}/ready`,
  })
  return {
    name: 'haproxy',
    version:
      /version ([\d.]+)/.exec(execFileSync(command, ['-v'], { encoding: 'utf8' }))?.[1] ?? '',
    port,
    path: chatPath,
    headers: { authorization: 'Bearer sk-bench' },
    pid: haproxy.pid,
    failOver: { path: deadFirstPath },
  }
}
