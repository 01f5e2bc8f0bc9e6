import { isIPv6 } from 'node:net'

/**
 * Returns the networks of a client that share a count: `near` is one household or machine (an IPv4 address, an IPv6
 * /64), `wide` what one tenant can get without effort (a /24, a /48).
 */
export function clientNetworks(ip: string): { readonly near: string; readonly wide: string } {
  if (!isVersion6(ip)) return { near: ip, wide: `${ip.split('.').slice(0, 3).join('.')}.0/24` }
  const groups = ipv6Groups(ip)
  const prefix = (count: number): string => groups.slice(0, count).join(':')
  return { near: `${prefix(4)}::/64`, wide: `${prefix(3)}::/48` }
}

/** Returns the `near` network alone, for counts on the hot path. */
export function nearNetwork(ip: string): string {
  return isVersion6(ip) ? clientNetworks(ip).near : ip
}

/**
 * Returns the `wide` network of an IPv6 address; undefined for IPv4, where a /24 belongs to many customers of a
 * carrier.
 */
export function wideNetwork(ip: string): string | undefined {
  return isVersion6(ip) ? clientNetworks(ip).wide : undefined
}

/** Most addresses are of IPv4, and the platform's check takes a microsecond. */
function isVersion6(ip: string): boolean {
  return ip.includes(':') && isIPv6(ip)
}

/** Returns the eight groups without leading zeros, so that every spelling of an address gives the same ones. */
export function ipv6Groups(ip: string): string[] {
  const { hostname } = new URL(`http://[${ip.replace(/%.*$/, '')}]`)
  const [head = '', tail] = hostname.slice(1, -1).split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  return [...before, ...zeros, ...after]
}
