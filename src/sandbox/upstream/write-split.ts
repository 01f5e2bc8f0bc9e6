import type { Exchange } from './open-exchange.ts'

/** Mostly primes of very different size, so that the cuts fall everywhere in lines of any length. */
const SIZES = [23, 1, 61, 7, 37, 2, 113, 3]

/**
 * Writes the bytes in parts that end where a careless reader fails: within each multi-byte character, between the CR and
 * the LF of each line end, and at odd positions in lines.
 */
export async function writeSplit(exchange: Exchange, bytes: Buffer): Promise<void> {
  for (const part of splitOddly(bytes)) {
    if (!exchange.isOpen) return
    await exchange.write(part)
    // Waits a turn of the event loop, or Node.js would join the parts again.
    await new Promise((resolve) => setImmediate(resolve))
  }
  exchange.outcome = 'completed'
  exchange.response.end()
}

function* splitOddly(bytes: Buffer): Generator<Buffer> {
  let start = 0
  let turn = 0
  while (start < bytes.length) {
    const endMax = Math.min(start + (SIZES[turn++ % SIZES.length] as number), bytes.length)
    let end = start + 1
    while (end < endMax && !isInsideSomething(bytes, end)) end += 1
    yield bytes.subarray(start, end)
    start = end
  }
}

function isInsideSomething(bytes: Buffer, index: number): boolean {
  const byte = bytes[index] as number
  const isContinuation = (byte & 0b1100_0000) === 0b1000_0000
  const isInsideLineEnd = byte === 10 && bytes[index - 1] === 13
  return isContinuation || isInsideLineEnd
}
