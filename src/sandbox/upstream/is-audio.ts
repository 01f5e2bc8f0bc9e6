/** The first bytes of the formats that transcription services take. Empty places are not looked at. */
const BEGINNINGS: readonly (readonly [at: number, bytes: Buffer])[] = [
  [0, Buffer.from('RIFF')],
  [0, Buffer.from('RF64')],
  [0, Buffer.from('ID3')],
  [0, Buffer.from('OggS')],
  [0, Buffer.from('fLaC')],
  [0, Buffer.from('#!AMR')],
  // WebM and Matroska
  [0, Buffer.from('1a45dfa3', 'hex')],
  // MP4 and M4A
  [4, Buffer.from('ftyp')],
]
export const BEGINNING_BYTES = 12

/** Whether a file begins like audio; random bytes do not, but for one in a thousand. */
export function isAudio(beginning: Buffer): boolean {
  // MP3 and AAC without a header of the file begin with eleven bits of a frame.
  const isFrame = beginning[0] === 0xff && ((beginning[1] ?? 0) & 0xe0) === 0xe0
  return (
    isFrame ||
    BEGINNINGS.some(([at, bytes]) => beginning.subarray(at, at + bytes.length).equals(bytes))
  )
}
