/** Returns the media type of an image by its first bytes; PNG if they match no known type. */
export function imageMediaType(base64: string): string {
  const head = Buffer.from(base64.slice(0, 24), 'base64')
  if (head.subarray(0, 3).equals(JPEG)) return 'image/jpeg'
  if (head.subarray(0, 4).equals(RIFF) && head.subarray(8, 12).equals(WEBP)) return 'image/webp'
  return 'image/png'
}

const JPEG = Buffer.from([0xff, 0xd8, 0xff])
const RIFF = Buffer.from('RIFF')
const WEBP = Buffer.from('WEBP')
