/**
 * Counts bytes that have arrived, before they are kept; false if there is no room for them. A promise makes their sender
 * wait, which spreads large amounts over time.
 */
export type TakeBytes = (bytes: number) => boolean | Promise<boolean>

/** Takes only the bytes after the first ones, which are counted elsewhere or need not be counted. */
export function beyond(bytesFree: number, takeBytes: TakeBytes): TakeBytes {
  let left = bytesFree
  return (bytes) => {
    const free = Math.min(left, bytes)
    left -= free
    return bytes === free || takeBytes(bytes - free)
  }
}
