import { BlockList, isIP } from 'node:net'

/** Checks whether an address is in a list of addresses and CIDR blocks. */
export interface IpMatcher {
  matches(ip: string): boolean
}

interface Block {
  readonly address: string
  readonly bits: number
  readonly family: 'ipv4' | 'ipv6'
}

/** Throws a RangeError that names the first entry that is neither an address nor a CIDR block. */
export function createIpMatcher(entries: readonly string[]): IpMatcher {
  // Separate lists: in a common one, `::/0` would admit IPv4 addresses, as `::ffff:0:0/96`.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const { address, bits, family } of entries.map(readBlock))
    lists[family].addSubnet(address, bits, family)
  return {
    matches(ip) {
      const plain = plainIp(ip)
      const version = isIP(plain)
      if (version === 0) return false
      const family = version === 6 ? 'ipv6' : 'ipv4'
      return lists[family].check(plain, family)
    },
  }
}

/** Whether each block of `wanted` lies within one of `own`; null stands for every address. */
export function isWithinBlocks(wanted: readonly string[] | null, own: readonly string[]): boolean {
  const outer = own.map((entry) => ({ ...readBlock(entry), matcher: createIpMatcher([entry]) }))
  const isWithin = ({ address, bits, family }: Block): boolean =>
    outer.some(
      (block) => block.family === family && block.bits <= bits && block.matcher.matches(address),
    )
  return wanted !== null && wanted.map(readBlock).every(isWithin)
}

function readBlock(entry: string): Block {
  const [address = '', prefix, rest] = entry.split('/')
  const version = isIP(address)
  const bitsMax = version === 6 ? 128 : 32
  const bits = prefix === undefined ? bitsMax : Number(prefix)
  const isPrefix = prefix === undefined || /^\d{1,3}$/.test(prefix)
  if (!version || !isPrefix || rest !== undefined || bits > bitsMax)
    throw new RangeError(`"${entry}" is not an IP address or a CIDR block`)
  const plain = plainIp(address)
  if (plain !== address && bits >= MAPPED_BITS)
    return { address: plain, bits: bits - MAPPED_BITS, family: 'ipv4' }
  return { address, bits, family: version === 6 ? 'ipv6' : 'ipv4' }
}

/** The prefix of IPv4 addresses in IPv6: `::ffff:0:0/96`. */
const MAPPED_BITS = 96

/** An IPv6 socket reports the IPv4 address 10.0.0.1 as `::ffff:10.0.0.1`; this returns the IPv4 form. */
export function plainIp(ip: string): string {
  return ip.startsWith('::ffff:') && isIP(ip.slice(7)) === 4 ? ip.slice(7) : ip
}
