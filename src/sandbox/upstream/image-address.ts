import { parseImageSize, type ImageSize } from './read-image-request.ts'

export interface ImageAddress {
  readonly size: ImageSize
  readonly colours: string
}

/** The address contains all data to draw the picture again, so that none has to be stored. */
export function writeImageAddress(origin: string, { size, colours }: ImageAddress): string {
  return `${origin}/images/${size.width}x${size.height}/${colours}.png`
}

/** Returns undefined if the path is not the address of a picture. */
export function readImageAddress(path: string): ImageAddress | undefined {
  const [, sides = '', colours = ''] = /^\/images\/(\w+)\/([0-9a-f]{24})\.png$/.exec(path) ?? []
  const size = parseImageSize(sides)
  return size && { size, colours }
}
