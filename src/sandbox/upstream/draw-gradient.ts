import { sha256 } from '../../platform/lib/ids.ts'
import { encodePng } from './encode-png.ts'
import type { ImageSize } from './read-image-request.ts'

/** The colours of a picture as 24 hexadecimal digits; with the size, they are enough to draw it again. */
export function chooseColours(prompt: string, index: number): string {
  return sha256(`${index} ${prompt}`).toString('hex', 0, COLOURS_BYTES)
}

/**
 * Draws a PNG whose colours change from left to right and from top to bottom. A pixel is the sum of a value for its
 * column and a value for its line. Each line after the first therefore differs from the one above by the same amount in
 * all its pixels, and there are few different lines: with the PNG filter "up", a picture of any size consists of a
 * handful of buffers.
 */
export function drawGradient(size: ImageSize, colours: string): Promise<Buffer> {
  return encodePng(size, drawLines(size, Buffer.from(colours, 'hex')))
}

const CHANNELS = 3
/** The left, right, top and bottom colours, with three channels each. */
const COLOURS_BYTES = 4 * CHANNELS
const FILTER_NONE = 0
const FILTER_UP = 2

function* drawLines({ width, height }: ImageSize, colours: Buffer): Generator<Buffer> {
  const [left, right, top, bottom] = [0, 1, 2, 3].map((side) =>
    // Halved, so that the sum of the column's and the line's value fits in a byte.
    Array.from(colours.subarray(side * CHANNELS, (side + 1) * CHANNELS), (byte) => byte >> 1),
  ) as [number[], number[], number[], number[]]

  let above = mix(top, bottom, 0)
  const first = Buffer.alloc(1 + width * CHANNELS, FILTER_NONE)
  for (let x = 0; x < width; x++) {
    const column = mix(left, right, x / (width - 1))
    first.set(
      column.map((part, channel) => part + (above[channel] as number)),
      1 + x * CHANNELS,
    )
  }
  yield first

  const drawn = new Map<string, Buffer>()
  for (let y = 1; y < height; y++) {
    const current = mix(top, bottom, y / (height - 1))
    const steps = current.map((part, channel) => (part - (above[channel] as number)) & 0xff)
    above = current
    const key = steps.join()
    let line = drawn.get(key)
    if (line === undefined) {
      line = Buffer.alloc(1 + width * CHANNELS).fill(Buffer.from(steps), 1)
      line[0] = FILTER_UP
      drawn.set(key, line)
    }
    yield line
  }
}

function mix(from: readonly number[], to: readonly number[], share: number): number[] {
  return from.map((part, channel) => Math.round(part + ((to[channel] as number) - part) * share))
}
