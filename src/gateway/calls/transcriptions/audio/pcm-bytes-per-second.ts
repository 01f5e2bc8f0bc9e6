const PCM = 1
const FLOAT = 3
const ALAW = 6
const MULAW = 7
const EXTENSIBLE = 0xfffe
/** The rest of the GUID of an extensible format, after the two bytes of the format tag. */
const EXTENSIBLE_TAIL = Buffer.from('000000001000800000aa00389b71', 'hex')
const WIDTHS: Readonly<Record<number, readonly number[]>> = {
  [PCM]: [8, 16, 24, 32],
  [FLOAT]: [32, 64],
  [ALAW]: [8],
  [MULAW]: [8],
}
/** ACT is a format of voice recorders: compressed speech behind the header of an uncompressed WAV file. */
const ACT_FORMAT_BYTES = 16
const ACT_ZEROS = Buffer.alloc(256 - 44)
const ACT_MARK = 0x84
const SAMPLE_RATE_MAX = 384_000
const CHANNELS_MAX = 8

/**
 * Returns the bytes per second of a WAV file with uncompressed samples, from its rate, channels and sample width.
 * Undefined if the file is compressed or a decoder may take it for compressed, if it contradicts itself, if its samples
 * do not begin within the head, or if it has two formats.
 */
export function pcmBytesPerSecond(head: Buffer): number | undefined {
  if (head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WAVE')
    return undefined
  if (isLikeAct(head)) return undefined
  let rate: number | undefined
  for (let at = 12; at + 8 <= head.length;) {
    const name = head.toString('latin1', at, at + 4)
    const length = head.readUInt32LE(at + 4)
    if (name === 'data') return rate
    if (name === 'fmt ') {
      if (rate !== undefined) return undefined
      rate = rateOfFormat(head.subarray(at + 8, at + 8 + length), length)
      if (rate === undefined) return undefined
    }
    at += 8 + length + (length % 2)
  }
  return undefined
}

function isLikeAct(head: Buffer): boolean {
  return (
    head.length > 256 &&
    head.readUInt32LE(16) === ACT_FORMAT_BYTES &&
    head.subarray(44, 256).equals(ACT_ZEROS) &&
    head[256] === ACT_MARK
  )
}

function rateOfFormat(format: Buffer, length: number): number | undefined {
  if (length < 16 || format.length < length) return undefined
  let tag = format.readUInt16LE(0)
  const channels = format.readUInt16LE(2)
  const sampleRate = format.readUInt32LE(4)
  const bytesPerSecond = format.readUInt32LE(8)
  const bytesPerFrame = format.readUInt16LE(12)
  const bits = format.readUInt16LE(14)
  if (tag === EXTENSIBLE) {
    if (length < 40 || !format.subarray(26, 40).equals(EXTENSIBLE_TAIL)) return undefined
    tag = format.readUInt16LE(24)
  }
  const isPlain =
    WIDTHS[tag]?.includes(bits) === true &&
    channels >= 1 &&
    channels <= CHANNELS_MAX &&
    sampleRate >= 1 &&
    sampleRate <= SAMPLE_RATE_MAX &&
    bytesPerFrame === (channels * bits) / 8 &&
    bytesPerSecond === sampleRate * bytesPerFrame
  return isPlain ? bytesPerSecond : undefined
}
