import { BlockList, isIP } from 'node:net'

/** Loopback, private, link-local, shared, benchmarking, documentation, multicast, reserved. */
const IPV4_REFUSED: readonly (readonly [network: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Azure's own services for its machines, as metadata services are elsewhere: public in form only.
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/** The only blocks of IPv6 that are public: the rest is private, local or unassigned. */
const IPV6_ALLOWED: readonly (readonly [network: string, prefix: number])[] = [
  ['2000::', 3],
  // Networks without IPv4 reach all of it through addresses of this block; the embedded IPv4 address is
  // checked.
  ['64:ff9b::', 96],
  ['::ffff:0:0', 96],
]

/** Special blocks inside the public ones: Teredo and its relatives, documentation, 6to4. */
const IPV6_REFUSED: readonly (readonly [network: string, prefix: number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

const refused = new BlockList()
const allowedIpv6 = new BlockList()
for (const [network, prefix] of IPV4_REFUSED) {
  refused.addSubnet(network, prefix, 'ipv4')
  refused.addSubnet(`64:ff9b::${network}`, 96 + prefix, 'ipv6')
  refused.addSubnet(`::ffff:${network}`, 96 + prefix, 'ipv6')
}
for (const [network, prefix] of IPV6_REFUSED) refused.addSubnet(network, prefix, 'ipv6')
for (const [network, prefix] of IPV6_ALLOWED) allowedIpv6.addSubnet(network, prefix, 'ipv6')

/**
 * Whether an address can be reached by everybody. Expects it in the form that the system returns; false for any other
 * text.
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !refused.check(address, 'ipv4')
    case 6:
      // An address with a zone belongs to a link of this machine.
      return (
        !address.includes('%') &&
        allowedIpv6.check(address, 'ipv6') &&
        !refused.check(address, 'ipv6')
      )
    default:
      return false
  }
}

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
