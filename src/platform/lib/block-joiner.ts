/** Parts of a body come in blocks of this size, so what keeps them takes little more memory than their bytes. */
const BLOCK_BYTES = 16 * 1024
/** A body may come in so many parts of any size. */
const PARTS_FREE = 5_000
/** More of them must have so many bytes on average: each costs the processor as much as a kilobyte of a large one. */
const PART_BYTES_MIN = 32

/** Whether a body takes too much work for its bytes, and is refused. */
export function comesInTooManyParts(parts: number, bytes: number): boolean {
  return bytes < (parts - PARTS_FREE) * PART_BYTES_MIN
}

/**
 * Joins the parts of a body. A buffer takes some hundred bytes beside its content, so a body that came byte by byte would
 * take a hundred times its size. A large part is passed on as it is; the first part is copied only if others follow.
 */
export class BlockJoiner {
  #block: Buffer | undefined
  #used = 0

  /** Calls `pass` with each block that this part completes. */
  add(part: Buffer, pass: (block: Buffer) => void): void {
    let rest = part
    if (this.#block) {
      if (this.#block.length < BLOCK_BYTES) this.#block = copyOf(this.#block)
      const copied = rest.copy(this.#block, this.#used)
      this.#used += copied
      if (this.#used < BLOCK_BYTES) return
      this.flush(pass)
      rest = rest.subarray(copied)
    }
    if (rest.length >= BLOCK_BYTES) return pass(rest)
    // What is left of a part must not keep the whole of it.
    this.#block = rest.length === part.length ? rest : copyOf(rest)
    this.#used = rest.length
  }

  /** Calls `pass` with the bytes since the last block, if there are any. */
  flush(pass: (block: Buffer) => void): void {
    const block = this.#block
    this.#block = undefined
    if (block && this.#used > 0) pass(block.subarray(0, this.#used))
    this.#used = 0
  }
}

function copyOf(part: Buffer): Buffer {
  const block = Buffer.allocUnsafeSlow(BLOCK_BYTES)
  part.copy(block)
  return block
}
