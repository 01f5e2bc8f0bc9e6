/**
 * How long a sound can be, from the size of its file and its first bytes. Pure.
 *
 * What is told by a header is as good as the header: a file that lies is billed by what the upstream
 * says of it, like every other.
 */
export interface AudioFile {
  readonly bytes: number
  /** The first bytes: some thousands, or the whole file. */
  readonly head: Buffer
}

/** The least that the formats need for a second: MP3 by its lowest rate, others by those of speech codecs. */
const MP3_BYTES_PER_SECOND_MIN = 1_000
const OTHER_BYTES_PER_SECOND_MIN = 250
/** 128 kbit/s. */
const BYTES_PER_SECOND_TYPICAL = 16_000

/** The most seconds that this file can be; exact for WAV. */
export function audioSecondsBound(file: AudioFile): number {
  const rate =
    wavBytesPerSecond(file.head) ??
    (isMp3(file.head) ? MP3_BYTES_PER_SECOND_MIN : OTHER_BYTES_PER_SECOND_MIN)
  return Math.ceil(file.bytes / rate)
}

/** About how many seconds it is, where nobody told; exact for WAV. */
export function audioSecondsTypical(file: AudioFile): number {
  return Math.ceil(file.bytes / (wavBytesPerSecond(file.head) ?? BYTES_PER_SECOND_TYPICAL))
}

/** Bytes of a second of a WAV file, by its format chunk. */
function wavBytesPerSecond(head: Buffer): number | undefined {
  if (head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WAVE')
    return undefined
  for (let at = 12; at + 24 <= head.length;) {
    const length = head.readUInt32LE(at + 4)
    if (head.toString('latin1', at, at + 4) === 'fmt ') {
      const rate = head.readUInt32LE(at + 16)
      return rate >= OTHER_BYTES_PER_SECOND_MIN ? rate : undefined
    }
    at += 8 + length + (length % 2)
  }
  return undefined
}

function isMp3(head: Buffer): boolean {
  const hasTag = head.toString('latin1', 0, 3) === 'ID3'
  const isFrame = head.length > 1 && head[0] === 0xff && ((head[1] as number) & 0xe6) === 0xe2
  return hasTag || isFrame
}
