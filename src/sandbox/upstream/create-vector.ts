import { sha256 } from '../../lib/ids.ts'
import type { EmbeddingInput } from './read-embedding-request.ts'

/** A vector of length 1 whose direction comes from a hash: the same input has the same vector. */
export function createVector(input: EmbeddingInput, dimensions: number): Float32Array {
  // As JSON, in which no text looks like a list of tokens.
  const random = createRandom(sha256(JSON.stringify(input)))
  const values = Float64Array.from({ length: dimensions }, () => random() * 2 - 1)
  const length = Math.hypot(...values)
  return Float32Array.from(values, (value) => value / length)
}

/** The generator sfc32: 128 bits of seed, and a few nanoseconds a number where a hash takes hundreds. */
function createRandom(seed: Buffer): () => number {
  let a = seed.readInt32LE(0)
  let b = seed.readInt32LE(4)
  let c = seed.readInt32LE(8)
  let counter = seed.readInt32LE(12)
  return () => {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }
}
