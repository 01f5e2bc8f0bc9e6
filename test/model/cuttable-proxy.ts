/**
 * A proxy between a node and the database, on a separate socket: its connections can be frozen in one direction or
 * both, cut, and refused. It also reads the server's errors, because nodes hide deadlocks by retrying.
 */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Direction } from './steps.ts'

export interface CuttableProxy {
  /** The URL of the same database through this proxy. */
  readonly databaseUrl: string
  /** Nothing passes until `heal`; sent bytes wait. */
  freeze(direction: Direction): void
  /** Ends every connection and refuses new ones until `heal`. `arrives`: bytes on their way to the server still arrive. */
  cut(options: { arrives: boolean }): void
  heal(): void
  /** The statements that lost a deadlock since the last call. */
  takeDeadlocks(): number
  close(): Promise<void>
}

const PORT = 5432
/** The field of an ErrorResponse with the SQLSTATE of a deadlock. */
const DEADLOCK = 'C40P01\0'

interface Pair {
  readonly client: Socket
  readonly server: Socket
  toServer: Buffer[]
  toClient: Buffer[]
}

export async function openCuttableProxy(databaseUrl: string): Promise<CuttableProxy> {
  const target = addressOf(databaseUrl)
  const folder = await mkdtemp(join(tmpdir(), 'catraca-proxy-'))
  const pairs = new Set<Pair>()
  const frozen = { to_server: false, to_client: false }
  let isCut = false
  let deadlocks = 0

  const listener = createServer((client) => {
    client.on('error', () => {})
    if (isCut) return void client.destroy()
    const server = connect(target)
    server.on('error', () => {})
    const pair: Pair = { client, server, toServer: [], toClient: [] }
    pairs.add(pair)
    client.on('data', (chunk: Buffer) => {
      if (frozen.to_server) pair.toServer.push(chunk)
      else server.write(chunk)
    })
    server.on('data', (chunk: Buffer) => {
      if (chunk.includes(DEADLOCK, 0, 'latin1')) deadlocks += 1
      if (frozen.to_client) pair.toClient.push(chunk)
      else client.write(chunk)
    })
    client.on('close', () => {
      pairs.delete(pair)
      server.end()
    })
    server.on('close', () => {
      pairs.delete(pair)
      client.destroy()
    })
  })
  listener.listen(join(folder, `.s.PGSQL.${PORT}`))
  await once(listener, 'listening')

  function flush(pair: Pair): void {
    for (const chunk of pair.toServer.splice(0)) pair.server.write(chunk)
    for (const chunk of pair.toClient.splice(0)) pair.client.write(chunk)
  }

  return {
    databaseUrl: throughSocket(databaseUrl, folder),
    freeze(direction) {
      if (direction !== 'to_client') frozen.to_server = true
      if (direction !== 'to_server') frozen.to_client = true
    },
    cut({ arrives }) {
      isCut = true
      for (const pair of pairs) {
        if (arrives) for (const chunk of pair.toServer.splice(0)) pair.server.write(chunk)
        pair.client.destroy()
        if (arrives) pair.server.end()
        else pair.server.destroy()
      }
      pairs.clear()
    },
    heal() {
      isCut = false
      frozen.to_server = false
      frozen.to_client = false
      for (const pair of pairs) flush(pair)
    },
    takeDeadlocks() {
      const taken = deadlocks
      deadlocks = 0
      return taken
    },
    async close() {
      isCut = true
      for (const { client, server } of pairs) {
        client.destroy()
        server.destroy()
      }
      listener.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function addressOf(databaseUrl: string): { path: string } | { host: string; port: number } {
  const url = parse(databaseUrl)
  const folder = url.searchParams.get('host')
  const port = Number(url.searchParams.get('port') ?? (url.port || PORT))
  if (folder?.startsWith('/')) return { path: `${folder}/.s.PGSQL.${port}` }
  return { host: folder ?? url.hostname, port }
}

function throughSocket(databaseUrl: string, folder: string): string {
  const url = parse(databaseUrl)
  url.searchParams.set('host', folder)
  url.searchParams.set('port', String(PORT))
  return url.href.replace('@placeholder', '@')
}

/** A URL of a Unix socket has no host, which `URL` does not accept. */
function parse(databaseUrl: string): URL {
  return new URL(databaseUrl.replace(/@\//, '@placeholder/'))
}
