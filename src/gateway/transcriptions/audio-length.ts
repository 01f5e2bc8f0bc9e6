/**
 * How long a sound can be, from the size of its file and its first bytes. Pure.
 *
 * Of a header only what every decoder lives by is believed: the rate, the channels and the width of PCM
 * samples. Whatever else is there, or is odd, gets the fewest bytes a second that its format can need.
 * Not guaranteed: a container may state a length that none of its samples back; an upstream that bills
 * such a statement bills above this.
 */
export interface AudioFile {
  readonly bytes: number
  /** The first bytes: some thousands, or the whole file. */
  readonly head: Buffer
}

/** MPEG audio of the lowest rate in its tables, 8 kbit/s. Every frame names its rate, silence too. */
const MP3_BYTES_PER_SECOND_MIN = 1_000
/** Silence as AAC: an access unit of 4 bytes and its entry in the table of sizes, 1,024 samples at 8 kHz. */
const MP4_BYTES_PER_SECOND_MIN = 60
/** Silence as Opus that sends nothing but comfort noise, or as FLAC of constant blocks at 8 kHz. */
const OTHER_BYTES_PER_SECOND_MIN = 20
/** 128 kbit/s. */
const BYTES_PER_SECOND_TYPICAL = 16_000

/** The most seconds that this file can be; exact for WAV. */
export function audioSecondsBound({ bytes, head }: AudioFile): number {
  return Math.ceil(bytes / (pcmBytesPerSecond(head) ?? leastBytesPerSecond(head)))
}

/** About how many seconds it is, where nobody told; exact for WAV. */
export function audioSecondsTypical({ bytes, head }: AudioFile): number {
  return Math.ceil(bytes / (pcmBytesPerSecond(head) ?? BYTES_PER_SECOND_TYPICAL))
}

function leastBytesPerSecond(head: Buffer): number {
  if (isMp3(head)) return MP3_BYTES_PER_SECOND_MIN
  return head.toString('latin1', 4, 8) === 'ftyp'
    ? MP4_BYTES_PER_SECOND_MIN
    : OTHER_BYTES_PER_SECOND_MIN
}

const PCM = 1
const FLOAT = 3
const ALAW = 6
const MULAW = 7
const EXTENSIBLE = 0xfffe
/** What follows the format's number in the identifier of an extensible format. */
const EXTENSIBLE_TAIL = Buffer.from('000000001000800000aa00389b71', 'hex')
const WIDTHS: Readonly<Record<number, readonly number[]>> = {
  [PCM]: [8, 16, 24, 32],
  [FLOAT]: [32, 64],
  [ALAW]: [8],
  [MULAW]: [8],
}
const SAMPLE_RATE_MAX = 384_000
const CHANNELS_MAX = 8

/**
 * Bytes of a second of a WAV of plain samples, computed from rate, channels and width. Undefined where
 * the file is compressed, contradicts itself, or has its samples or a second format where the first
 * bytes do not show them.
 */
function pcmBytesPerSecond(head: Buffer): number | undefined {
  if (head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WAVE')
    return undefined
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

/** Kilobits a second of Layer III by their place in the tables, the first of which is a free rate. */
const MPEG1_KBITS = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const MPEG2_KBITS = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
const SAMPLE_RATES: Readonly<Record<number, readonly number[]>> = {
  0: [11_025, 12_000, 8_000],
  2: [22_050, 24_000, 16_000],
  3: [44_100, 48_000, 32_000],
}

/**
 * Frames of Layer III from the first byte on, or from the end of an ID3 tag, the second one where the
 * first says. A tag longer than the first bytes hides what follows it, and a frame of a free rate may be
 * slower than any in the tables.
 */
function isMp3(head: Buffer): boolean {
  const at = id3Bytes(head)
  const first = mp3FrameBytes(head, at)
  if (first === undefined) return false
  return head.length < at + first + 4 || mp3FrameBytes(head, at + first) !== undefined
}

/** Of the tag at the beginning of a file; 0 where there is none. */
function id3Bytes(head: Buffer): number {
  if (head.length < 10 || head.toString('latin1', 0, 3) !== 'ID3') return 0
  const [a, b, c, d] = [head[6], head[7], head[8], head[9]] as [number, number, number, number]
  if ((a | b | c | d) > 0x7f) return 0
  const hasFooter = ((head[5] as number) & 0x10) !== 0
  return (hasFooter ? 20 : 10) + (a << 21) + (b << 14) + (c << 7) + d
}

function mp3FrameBytes(head: Buffer, at: number): number | undefined {
  if (at + 4 > head.length) return undefined
  const [sync, version, bitrate] = [head[at], head[at + 1], head[at + 2]] as [
    number,
    number,
    number,
  ]
  if (sync !== 0xff || (version & 0xe6) !== 0xe2) return undefined
  const mpeg = (version >> 3) & 3
  const kbits = (mpeg === 3 ? MPEG1_KBITS : MPEG2_KBITS)[(bitrate >> 4) - 1]
  const sampleRate = SAMPLE_RATES[mpeg]?.[(bitrate >> 2) & 3]
  if (kbits === undefined || sampleRate === undefined) return undefined
  const padding = (bitrate >> 1) & 1
  return Math.floor(((mpeg === 3 ? 144 : 72) * kbits * 1_000) / sampleRate) + padding
}
