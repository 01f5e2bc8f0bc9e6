import { ENTRY_BITS, SHORT_BITS, type Codebook } from './aac-codebooks.ts'

/** Decoders refuse longer escapes. */
const ESCAPE_ONES_MAX = 8

/** The bits of a frame. Positions are in bits. A read past the end returns the bytes that follow; `left` is negative then. */
export class AacBits {
  private bytes: Uint8Array = new Uint8Array(0)
  private end = 0
  at = 0

  open(bytes: Uint8Array, from: number, to: number): void {
    this.bytes = bytes
    this.at = from * 8
    this.end = to * 8
  }

  left(): number {
    return this.end - this.at
  }

  /** At most 25 bits. */
  read(count: number): number {
    const bits = wordAt(this.bytes, this.at) >>> (32 - count)
    this.at += count
    return bits
  }

  /** Skips code words with their signs and escapes; returns false if decoders would refuse one of them. */
  skipWords({ short, long, longFrom, longBits }: Codebook, count: number): boolean {
    const { bytes } = this
    let { at } = this
    for (let word = 0; word < count; word++) {
      const bits = wordAt(bytes, at)
      const entry =
        short[bits >>> (32 - SHORT_BITS)] || (long[(bits >>> (32 - longBits)) - longFrom] ?? 0)
      at += entry & ENTRY_BITS
      for (let escapes = entry & ~ENTRY_BITS; escapes > 0; escapes -= ENTRY_BITS + 1) {
        const ones = Math.clz32(~wordAt(bytes, at))
        if (ones > ESCAPE_ONES_MAX) return false
        // As many ones, a zero, and a number that has four bits more than there are ones.
        at += ones + 1 + ones + 4
      }
    }
    this.at = at
    return true
  }
}

/** The 25 bits at this position, and others below them. */
function wordAt(bytes: Uint8Array, at: number): number {
  const byte = at >> 3
  const word =
    ((bytes[byte] as number) << 24) |
    ((bytes[byte + 1] as number) << 16) |
    ((bytes[byte + 2] as number) << 8) |
    (bytes[byte + 3] as number)
  return word << (at & 7)
}
