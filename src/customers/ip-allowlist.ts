import { isIP } from 'node:net'
import { ipv6Groups } from '../platform/lib/client-networks.ts'

/** Checks whether an address is in a list of addresses and CIDR blocks. */
export interface IpMatcher {
  matches(ip: string): boolean
}

interface Block {
  readonly address: string
  readonly bits: number
  readonly family: 'ipv4' | 'ipv6'
}

/**
 * Returns a matcher of addresses. Throws a RangeError that names the first entry that is neither an address nor a CIDR
 * block. The matcher of each key in use stays in memory: the platform's `BlockList` takes a third of a kilobyte for
 * each entry, so these are numbers.
 */
export function createIpMatcher(entries: readonly string[]): IpMatcher {
  const blocks = entries.map(readBlock)
  // Separate lists: in a common one, `::/0` would admit IPv4 addresses, as `::ffff:0:0/96`.
  const lists = { ipv4: networksOf(blocks, 'ipv4'), ipv6: networksOf(blocks, 'ipv6') }
  return {
    matches(ip) {
      const plain = plainIp(ip)
      const version = isIP(plain)
      if (version === 0) return false
      const family = version === 6 ? 'ipv6' : 'ipv4'
      return isInAny(lists[family], wordsOf(plain, family))
    },
  }
}

/** The words of a block: the address in words of 32 bits, and the length of its prefix. */
const BLOCK_WORDS = 5

function networksOf(blocks: readonly Block[], family: Block['family']): Uint32Array {
  const own = blocks.filter((block) => block.family === family)
  const networks = new Uint32Array(own.length * BLOCK_WORDS)
  for (const [place, { address, bits }] of own.entries()) {
    networks.set(wordsOf(address, family), place * BLOCK_WORDS)
    networks[place * BLOCK_WORDS + BLOCK_WORDS - 1] = bits
  }
  return networks
}

/** Whether an address is in any of the networks. It is on the hot path. */
function isInAny(networks: Uint32Array, words: readonly number[]): boolean {
  for (let start = 0; start < networks.length; start += BLOCK_WORDS) {
    const bits = networks[start + BLOCK_WORDS - 1] as number
    let index = 0
    // Of signed numbers, as the platform's operators make them.
    while (
      index < words.length &&
      (((words[index] as number) ^ (networks[start + index] as number)) &
        maskOf(bits - index * WORD_BITS)) ===
        0
    )
      index += 1
    if (index === words.length) return true
  }
  return false
}

const WORD_BITS = 32

/** The first bits of a word. A shift by the whole word would be one by none. */
function maskOf(bits: number): number {
  if (bits <= 0) return 0
  return bits >= WORD_BITS ? -1 : -1 << (WORD_BITS - bits)
}

function wordsOf(address: string, family: Block['family']): readonly number[] {
  return family === 'ipv4' ? [ipv4Word(address)] : ipv6Words(address)
}

function ipv4Word(address: string): number {
  let [word, byte] = [0, 0]
  for (let index = 0; index < address.length; index += 1) {
    const code = address.charCodeAt(index)
    if (code !== DOT) byte = byte * 10 + code - ZERO
    else [word, byte] = [word * 256 + byte, 0]
  }
  return word * 256 + byte
}

const DOT = 46
const ZERO = 48

function ipv6Words(address: string): readonly number[] {
  const groups = ipv6Groups(address)
  const word = (at: number): number =>
    Number.parseInt(groups[at] as string, 16) * 65_536 +
    Number.parseInt(groups[at + 1] as string, 16)
  return [word(0), word(2), word(4), word(6)]
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

/**
 * An IPv6 socket reports the IPv4 address 10.0.0.1 as `::ffff:10.0.0.1`; this returns the IPv4 form. A connection that
 * was reset has no address any more, whatever the type says.
 */
export function plainIp(ip: string | undefined): string {
  if (ip === undefined) return '::'
  return ip.startsWith('::ffff:') && isIP(ip.slice(7)) === 4 ? ip.slice(7) : ip
}
