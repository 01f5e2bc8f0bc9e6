import { parseImageSize, type ImageSize } from './read-image-request.ts'

export interface ImageAddress {
  readonly size: ImageSize
  readonly colours: string
}

/** Says all that is needed to draw the picture again, so that none has to be kept. */
export function writeImageAddress(origin: string, { size, colours }: ImageAddress): string {
  return `${origin}/images/${size.width}x${size.height}/${colours}.png`
}

/** Undefined where the path is not that of a picture. */
export function readImageAddress(path: string): ImageAddress | undefined {
  const [, sides = '', colours = ''] = /^\/images\/(\w+)\/([0-9a-f]{24})\.png$/.exec(path) ?? []
  const size = parseImageSize(sides)
  return size && { size, colours }
}
