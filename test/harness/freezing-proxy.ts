/**
 * Stands between a program and its database, and counts what the database sends; connections can be frozen: open, and
 * everything on them swallowed.
 */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type NetConnectOpts, type Socket } from 'node:net'

export interface FreezingProxy {
  /** The database, by way of the proxy. */
  readonly databaseUrl: string
  /** Freezes the connections that have sent this text; returns their number. */
  freeze(sentText: string): number
  /** Of all connections until now. */
  bytesFromDatabase(): number
  close(): Promise<void>
}

export async function startFreezingProxy(databaseUrl: string): Promise<FreezingProxy> {
  const url = new URL(databaseUrl)
  const target: NetConnectOpts = url.searchParams.has('host')
    ? { path: `${url.searchParams.get('host')}/.s.PGSQL.${url.port || '5432'}` }
    : { host: url.hostname, port: Number(url.port || '5432') }
  const connections = new Set<{ sent: string; isFrozen: boolean; ends: readonly Socket[] }>()
  let bytesFromDatabase = 0
  const server = createServer((near) => {
    const far = connect(target)
    const connection = { sent: '', isFrozen: false, ends: [near, far] }
    connections.add(connection)
    near.on('data', (bytes) => {
      connection.sent = (connection.sent + bytes.toString('latin1')).slice(-10_000)
      if (!connection.isFrozen) far.write(bytes)
    })
    far.on('data', (bytes) => {
      bytesFromDatabase += bytes.length
      if (!connection.isFrozen) near.write(bytes)
    })
    for (const end of connection.ends) {
      end.on('error', () => {})
      end.on('close', () => {
        if (connection.isFrozen) return
        for (const each of connection.ends) each.destroy()
        connections.delete(connection)
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url.searchParams.delete('host')
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    databaseUrl: url.href,
    freeze(sentText) {
      const found = [...connections].filter(({ sent }) => sent.includes(sentText))
      for (const connection of found) connection.isFrozen = true
      return found.length
    },
    bytesFromDatabase: () => bytesFromDatabase,
    async close() {
      for (const { ends } of connections) for (const end of ends) end.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
