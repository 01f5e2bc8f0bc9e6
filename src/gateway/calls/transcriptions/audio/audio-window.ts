/** A file that is read in pieces, mostly sequentially. */
export interface AudioFile {
  readonly bytes: number
  /** Fills the buffer from this position; resolves to the number of bytes read. */
  readInto(buffer: Buffer, position: number): Promise<number>
}

/** Twice the size of the largest Ogg page, 65,307 bytes. */
const WINDOW_BYTES = 128 * 1024

/** The part of a file after `start`; positions are relative to it. */
export interface AudioWindow {
  readonly bytes: number
  /** Resolves to fewer bytes at the end of the file, and never more than the window. Valid until the next call. */
  read(position: number, length: number): Promise<Buffer>
  /**
   * The same without waiting, if the bytes are there already; undefined if not. A file may have millions of elements, and
   * a wait for each takes longer than the rest of the work.
   */
  peek(position: number, length: number): Buffer | undefined
}

export function openWindow(file: AudioFile, start = 0): AudioWindow {
  const buffer = Buffer.allocUnsafeSlow(Math.min(WINDOW_BYTES, Math.max(file.bytes, 1)))
  let from = 0
  let to = 0
  const bytes = Math.max(0, file.bytes - start)

  function peek(position: number, length: number): Buffer | undefined {
    const end = Math.min(position + length, bytes)
    return position < from || end > to ? undefined : between(position, end)
  }

  function between(position: number, end: number): Buffer {
    return buffer.subarray(position - from, Math.max(position, Math.min(end, to)) - from)
  }

  return {
    bytes,
    peek,
    async read(position, length) {
      const there = peek(position, length)
      if (there) return there
      from = position
      to = position + (await file.readInto(buffer, start + position))
      return between(position, Math.min(position + length, bytes))
    },
  }
}
