import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { answerProbe, PROBE_PATHS, type ProbeAnswer } from '../platform/health/probes.ts'
import type { Readiness } from '../platform/health/readiness.ts'
import type { Config } from './config/config.ts'

export interface Probes {
  /** From now on the readiness decides; before, the server starts. */
  started(readiness: Readiness): void
}

/**
 * Answers probes on `PROBE_PORT`, from before the migrations until the end of the process, so that a manager can tell a
 * server that starts or drains from a dead one. With several workers it is the parent that answers, for all of them.
 */
export async function openProbes({
  host,
  probePort,
}: Pick<Config, 'host' | 'probePort'>): Promise<Probes> {
  let readiness: Readiness | undefined
  if (probePort !== undefined) {
    const server = createServer(({ url = '' }, response) => {
      const path = PROBE_PATHS.find((path) => url.split('?')[0] === path)
      if (!path) return void response.writeHead(404, { connection: 'close' }).end()
      void answerProbe(path, readiness).then((answer) => send(response, answer))
    })
    server.listen(probePort, host)
    await once(server, 'listening')
    // A process that has nothing else to do ends.
    server.unref()
  }
  return { started: (found) => void (readiness = found) }
}

function send(response: ServerResponse, { status, body }: ProbeAnswer): void {
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    connection: 'close',
  }
  response.writeHead(status, headers).end(JSON.stringify(body))
}
