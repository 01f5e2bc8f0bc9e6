import { BlockList, isIP } from 'node:net'

/** Checks whether an address is in a list of addresses and CIDR blocks. */
export interface IpMatcher {
  matches(ip: string): boolean
}

/** Throws a RangeError that names the first entry that is neither an address nor a CIDR block. */
export function createIpMatcher(entries: readonly string[]): IpMatcher {
  const list = new BlockList()
  for (const entry of entries) {
    const [address = '', prefix, rest] = entry.split('/')
    const family = isIP(address)
    const bits = prefix === undefined ? (family === 6 ? 128 : 32) : Number(prefix)
    const isPrefix = prefix === undefined || /^\d{1,3}$/.test(prefix)
    if (!family || !isPrefix || rest !== undefined || bits > (family === 6 ? 128 : 32)) {
      throw new RangeError(`"${entry}" is not an IP address or a CIDR block`)
    }
    list.addSubnet(address, bits, family === 6 ? 'ipv6' : 'ipv4')
  }
  return {
    matches(ip) {
      const family = isIP(ip)
      return family !== 0 && list.check(ip, family === 6 ? 'ipv6' : 'ipv4')
    },
  }
}

/** An IPv6 socket reports the IPv4 address 10.0.0.1 as `::ffff:10.0.0.1`; this returns the IPv4 form. */
export function plainIp(ip: string): string {
  return ip.startsWith('::ffff:') && isIP(ip.slice(7)) === 4 ? ip.slice(7) : ip
}
