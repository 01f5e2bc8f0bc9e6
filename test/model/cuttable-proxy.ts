/**
 * A proxy between a node and the sessions of the database, on a separate socket: its connections can be frozen in one
 * direction or both, cut, and refused.
 */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withParameter } from '../../src/platform/db/database-address.ts'
import type { ServerSessions, Session } from './server-sessions.ts'
import type { Direction } from './steps.ts'

export interface CuttableProxy {
  /** The URL of the same database through this proxy. */
  readonly databaseUrl: string
  /** Nothing passes until `heal`; sent bytes wait. */
  freeze(direction: Direction): void
  /** Ends every connection and refuses new ones until `heal`. `arrives`: bytes on their way to the server still arrive. */
  cut(options: { arrives: boolean }): void
  heal(): void
  close(): Promise<void>
}

const PORT = 5432

interface Pair {
  readonly client: Socket
  readonly session: Session
  toServer: Buffer[]
  toClient: Buffer[]
}

export async function openCuttableProxy(
  databaseUrl: string,
  sessions: ServerSessions,
): Promise<CuttableProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'catraca-proxy-'))
  const pairs = new Set<Pair>()
  const frozen = { to_server: false, to_client: false }
  let isCut = false

  const listener = createServer((client) => {
    client.on('error', () => {})
    if (isCut) return void client.destroy()
    const session = sessions.open({
      receive(bytes) {
        if (frozen.to_client) pair.toClient.push(bytes)
        else client.write(bytes)
      },
      end: () => client.destroy(),
    })
    const pair: Pair = { client, session, toServer: [], toClient: [] }
    pairs.add(pair)
    client.on('data', (chunk: Buffer) => {
      if (frozen.to_server) pair.toServer.push(chunk)
      else session.write(chunk)
    })
    client.on('close', () => {
      pairs.delete(pair)
      session.leave()
    })
  })
  listener.listen(join(folder, `.s.PGSQL.${PORT}`))
  await once(listener, 'listening')

  function flush(pair: Pair): void {
    for (const chunk of pair.toServer.splice(0)) pair.session.write(chunk)
    for (const chunk of pair.toClient.splice(0)) pair.client.write(chunk)
  }

  return {
    databaseUrl: withParameter(withParameter(databaseUrl, 'host', folder), 'port', String(PORT)),
    freeze(direction) {
      if (direction !== 'to_client') frozen.to_server = true
      if (direction !== 'to_server') frozen.to_client = true
    },
    cut({ arrives }) {
      isCut = true
      for (const pair of pairs) {
        if (arrives) for (const chunk of pair.toServer.splice(0)) pair.session.write(chunk)
        pair.client.destroy()
        pair.session.leave()
      }
      pairs.clear()
    },
    heal() {
      isCut = false
      frozen.to_server = false
      frozen.to_client = false
      for (const pair of pairs) flush(pair)
    },
    async close() {
      isCut = true
      for (const { client, session } of pairs) {
        client.destroy()
        session.leave()
      }
      listener.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
