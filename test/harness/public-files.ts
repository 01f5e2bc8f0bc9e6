/**
 * Hosts of files that are public as far as the gateway can see, on a server of this machine: their names resolve to a
 * public address, and a connection to that address is one to the server. All checks of names and addresses are the real
 * ones.
 */
import assert from 'node:assert/strict'
import dns from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import net, { type AddressInfo, type LookupFunction, type Socket } from 'node:net'

/** Every name that is not in `private`. */
const PUBLIC_ADDRESS = '93.184.215.14'

export interface PublicFiles {
  /** The host and path of each request, in order. */
  readonly asked: string[]
  /** The port of the same server, as private addresses would reach it. */
  readonly port: number
  close(): Promise<void>
}

/** `privateNames` resolve to these addresses; nothing connects to them. */
export async function startPublicFiles(
  answer: (path: string, response: ServerResponse, port: number) => void,
  privateNames: Readonly<Record<string, string>> = {},
): Promise<PublicFiles> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.headers.host}${request.url}`)
    answer(request.url ?? '', response, port)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { Resolver } = dns
  const { connect } = net

  class Scripted {
    resolve4 = async (name: string): Promise<string[]> => [privateNames[name] ?? PUBLIC_ADDRESS]
    resolve6 = async (): Promise<string[]> => []
    cancel(): void {}
  }
  function connectTo(...given: unknown[]): Socket {
    const [{ lookup, host }] = given as [{ lookup?: LookupFunction; host?: string }]
    if (!lookup || !host?.endsWith('.example.com'))
      return Reflect.apply(connect, net, given) as Socket
    lookup(host, {}, (_error, address) => assert.equal(address, PUBLIC_ADDRESS))
    return connect({ host: '127.0.0.1', port })
  }
  dns.Resolver = Scripted as unknown as typeof Resolver
  net.connect = connectTo
  syncBuiltinESMExports()
  return {
    asked,
    port,
    async close() {
      dns.Resolver = Resolver
      net.connect = connect
      syncBuiltinESMExports()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
