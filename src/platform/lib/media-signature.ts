/** Recognizes the type of a file by its first bytes, whatever type it claims. */

export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

/** Returns the type of an image by its first bytes; undefined unless every model reads this type. */
export function imageTypeOf(head: Buffer): ImageType | undefined {
  if (begins(head, '\x89PNG')) return 'image/png'
  if (begins(head, '\xff\xd8\xff')) return 'image/jpeg'
  if (begins(head, 'GIF8')) return 'image/gif'
  return begins(head, 'RIFF') && begins(head, 'WEBP', 8) ? 'image/webp' : undefined
}

export function isSound(head: Buffer): boolean {
  return (
    ['ID3', 'OggS', 'fLaC', '#!AMR', 'FORM'].some((mark) => begins(head, mark)) ||
    (begins(head, 'RIFF') && begins(head, 'WAVE', 8)) ||
    begins(head, 'ftypM4A ', 4) ||
    begins(head, 'ftypM4B ', 4) ||
    // MPEG audio or AAC frames.
    (head[0] === 0xff && ((head[1] ?? 0) & 0xe0) === 0xe0)
  )
}

export function isVideo(head: Buffer): boolean {
  return (
    (begins(head, 'ftyp', 4) && !begins(head, 'M4A ', 8) && !begins(head, 'M4B ', 8)) ||
    begins(head, 'moov', 4) ||
    begins(head, 'FLV') ||
    begins(head, '\x1aE\xdf\xa3') ||
    (begins(head, 'RIFF') && begins(head, 'AVI ', 8)) ||
    begins(head, '\x00\x00\x01\xba') ||
    begins(head, '\x00\x00\x01\xb3')
  )
}

function begins(head: Buffer, mark: string, at = 0): boolean {
  return head.toString('latin1', at, at + mark.length) === mark
}
