/** A file that is read in pieces, most of them one after the other. */
export interface SoundFile {
  readonly bytes: number
  /** Fills the buffer from this position on; the number of bytes that were there. */
  readInto(buffer: Buffer, position: number): Promise<number>
}

/** Room for the largest page of Ogg, 65,307 bytes, and as much again. */
const WINDOW_BYTES = 128 * 1024

/** What follows `start` in a file; positions count from there. */
export interface SoundWindow {
  readonly bytes: number
  /** Fewer bytes at the end of the file, and never more than the window holds. Valid until the next call. */
  read(position: number, length: number): Promise<Buffer>
}

export function openWindow(file: SoundFile, start = 0): SoundWindow {
  const buffer = Buffer.allocUnsafeSlow(Math.min(WINDOW_BYTES, Math.max(file.bytes, 1)))
  let from = 0
  let to = 0
  const bytes = Math.max(0, file.bytes - start)
  return {
    bytes,
    async read(position, length) {
      const end = Math.min(position + length, bytes)
      if (position < from || end > to) {
        from = position
        to = position + (await file.readInto(buffer, start + position))
      }
      return buffer.subarray(position - from, Math.max(position, Math.min(end, to)) - from)
    },
  }
}
