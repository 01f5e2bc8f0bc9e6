import { isIP } from 'node:net'
import { isPublicAddress } from './public-address.ts'

/** Names that resolve to a private host, or to none, on every network. */
const PRIVATE_NAME =
  /^[^.:]+$|(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|home|corp|private|home\.arpa|onion|invalid)$/

/**
 * Whether the host of a URL, as its parser writes it, is a public address or may be a public name. Nothing is resolved:
 * a name may lead to another address later, so a connection to it checks again (`guarded-fetch.ts`).
 */
export function isPublicHost(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, '')
  const address = name.startsWith('[') ? name.slice(1, -1) : name
  return isIP(address) === 0 ? !PRIVATE_NAME.test(name) : isPublicAddress(address)
}

/**
 * Whether a port may be called. Ports below 1024, except those of HTTP, belong to other protocols: mail, name and file
 * servers.
 */
export function isOpenPort(port: string): boolean {
  return port === '' || port === '80' || port === '443' || Number(port) >= 1024
}
