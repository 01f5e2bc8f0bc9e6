/**
 * Bounds the length of an audio file. Exact for uncompressed samples. For compressed formats, the bound is the audio
 * that a decoder would produce, or the length that the container declares if that is longer. Other formats and files
 * that no encoder writes are unbounded: then the hold covers the longest audio that the model accepts.
 */
import { hasAacFrames } from './aac.ts'
import { mp4Seconds } from './mp4-seconds.ts'
import { oggSeconds } from './ogg-seconds.ts'
import { pcmBytesPerSecond } from './pcm-bytes-per-second.ts'
import { openWindow, type AudioFile, type AudioWindow } from './audio-window.ts'
import { webmSeconds } from './webm-seconds.ts'

/** Kilobits per second of Layer III, by bitrate index from 1; index 0 is the free format, which is not accepted. */
const MPEG1_KBITS = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const MPEG2_KBITS = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
const SAMPLE_RATES: Readonly<Record<number, readonly number[]>> = {
  0: [11_025, 12_000, 8_000],
  2: [22_050, 24_000, 16_000],
  3: [44_100, 48_000, 32_000],
}

/** The headers of a variable bitrate, each with the place of its number of frames. */
const VBR_HEADERS = [
  { name: 'Xing', framesAt: 8, flagsAt: 7 },
  { name: 'Info', framesAt: 8, flagsAt: 7 },
  { name: 'VBRI', framesAt: 14, flagsAt: undefined },
] as const
const HAS_FRAMES = 1

/**
 * The length that the first frame of an MP3 file declares, as encoders of a variable bitrate write it; 0 if it declares
 * none. Undefined if the head does not begin with a Layer III frame that another one follows at the offset that the
 * first implies.
 */
function mp3DeclaredSeconds(head: Buffer): number | undefined {
  const first = readFrame(head, 0)
  if (first === undefined) return undefined
  if (head.length >= first.bytes + 4 && !readFrame(head, first.bytes)) return undefined
  return declaredFrames(head.subarray(0, first.bytes)) * first.seconds
}

/** Players look for the header at one of several places; here it counts anywhere in the frame. */
function declaredFrames(frame: Buffer): number {
  let declared = 0
  for (const { name, framesAt, flagsAt } of VBR_HEADERS) {
    const at = frame.indexOf(name, 0, 'latin1')
    if (at < 0 || at + framesAt + 4 > frame.length) continue
    const flags = flagsAt === undefined ? HAS_FRAMES : (frame[at + flagsAt] as number)
    if (flags & HAS_FRAMES) declared = Math.max(declared, frame.readUInt32BE(at + framesAt))
  }
  return declared
}

function readFrame(head: Buffer, at: number): { bytes: number; seconds: number } | undefined {
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
  const samples = mpeg === 3 ? 1_152 : 576
  const bytes = Math.floor(((samples / 8) * kbits * 1_000) / sampleRate) + padding
  return { bytes, seconds: samples / sampleRate }
}

const STEP_BYTES = 64 * 1024
/** Four fixed bytes, a number of up to seven, block size and rate of two each, the checksum. */
const HEAD_BYTES_MAX = 16
/** Rates by their code, from 1; 0 is the rate of the file. */
const RATES = [
  88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000,
]
/** Bounds the time. An encoder's file has far fewer such heads, of which one in 256 has a true checksum by chance. */
const TRIED_MAX = 100_000

/** Whether a FLAC file has a frame whose head declares another sample rate than the file's, or too many like it. */
async function hasOtherRates(file: AudioWindow, rate: number): Promise<boolean> {
  let tried = 0
  for (let start = 0; start < file.bytes; start += STEP_BYTES) {
    const bytes = await file.read(start, STEP_BYTES + HEAD_BYTES_MAX)
    for (
      let at = bytes.indexOf(0xff);
      at >= 0 && at < STEP_BYTES;
      at = bytes.indexOf(0xff, at + 1)
    ) {
      const headBytes = headOfOtherRate(bytes, at, rate)
      if (headBytes === undefined) continue
      if (++tried > TRIED_MAX || hasTrueChecksum(bytes, at, headBytes)) return true
    }
  }
  return false
}

/** The bytes of a frame's head before its checksum, if it declares another rate. */
function headOfOtherRate(bytes: Buffer, at: number, rate: number): number | undefined {
  if (((bytes[at + 1] ?? 0) & 0xfe) !== 0xf8) return undefined
  const [sizes = 0, channels = 0xff, lead = 0xff] = bytes.subarray(at + 2, at + 5)
  const [sizeCode, rateCode] = [sizes >> 4, sizes & 0xf]
  const isInvalid = sizeCode === 0 || rateCode === 15 || channels > 0xaf || (channels & 1) !== 0
  const leadingOnes = Math.clz32(~(lead << 24))
  if (isInvalid || rateCode === 0 || leadingOnes === 1 || leadingOnes > 7) return undefined
  if (RATES[rateCode - 1] === rate) return undefined
  const rateAt = 4 + Math.max(1, leadingOnes) + (sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0)
  if (at + HEAD_BYTES_MAX > bytes.length && at + rateAt + 3 > bytes.length) return undefined
  if (rateCode < 12) return rateAt
  if (rateCode === 12)
    return (bytes[at + rateAt] as number) * 1_000 === rate ? undefined : rateAt + 1
  const declared = bytes.readUInt16BE(at + rateAt) * (rateCode === 13 ? 1 : 10)
  return declared === rate ? undefined : rateAt + 2
}

/** CRC-8 with the polynomial 0x07. */
function hasTrueChecksum(bytes: Buffer, at: number, length: number): boolean {
  let sum = 0
  for (let index = 0; index < length; index++) {
    sum ^= bytes[at + index] as number
    for (let bit = 0; bit < 8; bit++) sum = (sum << 1) ^ (sum & 0x80 ? 0x107 : 0)
  }
  return sum === bytes[at + length]
}

/** Header, one constant 8-bit sample, checksum: the shortest frame that decodes. */
const FRAME_BYTES_MIN = 11
/** The smallest block that the format allows. */
const SAMPLES_MIN = 16

/**
 * The most seconds of a FLAC file, by its first block (STREAMINFO), without which no decoder opens the file. Assumes
 * as many frames as fit into the file, each of the largest block size; or the declared length, if that is longer.
 * Infinite if the block is missing or is one that decoders doubt, and for frames of another sample rate.
 */
async function flacSeconds(file: AudioWindow): Promise<number> {
  const head = await file.read(0, 42)
  const isFirstBlock = head.length === 42 && ((head[4] as number) & 0x7f) === 0
  if (!isFirstBlock || head.readUIntBE(5, 3) !== 34) return Infinity
  const samplesOfFrame = head.readUInt16BE(10)
  const samplesMin = head.readUInt16BE(8)
  const rate = head.readUIntBE(18, 3) >> 4
  const declaredSamples = Number(head.readBigUInt64BE(18) & 0xf_ffff_ffffn)
  if (rate === 0 || samplesMin < SAMPLES_MIN || samplesMin > samplesOfFrame) return Infinity
  if (await hasOtherRates(file, rate)) return Infinity
  const frames = Math.floor(file.bytes / FRAME_BYTES_MIN)
  return Math.max(frames * samplesOfFrame, declaredSamples) / rate
}

export interface AudioLength {
  /** Never less than the true length; infinite if nothing bounds it. */
  readonly secondsMax: number
  /** An estimate of the true length, for when the upstream reports none. */
  readonly secondsTypical: number
}

/** Enough for the chunks before the samples of a WAV file. */
const HEAD_BYTES = 4_096
/** The lowest bitrate of MPEG audio, 8 kbit/s. Every frame declares its bitrate, even silence. */
const MP3_BYTES_PER_SECOND_MIN = 1_000
/** 128 kbit/s. */
const BYTES_PER_SECOND_TYPICAL = 16_000
const ID3_HEADER_BYTES = 10
const TAGS_MAX = 8
/** A decoder guesses the format of a file with a longer tag from the bytes of the tag. Only MP3 files have such tags. */
const TAG_BYTES_MAX = 512 * 1024

export async function measureAudio(file: AudioFile): Promise<AudioLength> {
  const start = await skipTags(file)
  if (start === undefined) return withinBound(file.bytes, Infinity)
  const audio = openWindow(file, start)
  const head = await audio.read(0, HEAD_BYTES)
  const declared = mp3DeclaredSeconds(head)
  if (declared !== undefined) {
    const mp3Seconds = Math.max(declared, file.bytes / MP3_BYTES_PER_SECOND_MIN)
    return withinBound(file.bytes, (await hasAacFrames(openWindow(file))) ? Infinity : mp3Seconds)
  }
  if (start > TAG_BYTES_MAX) return withinBound(file.bytes, Infinity)
  const rate = pcmBytesPerSecond(head)
  if (rate !== undefined) {
    const seconds = Math.ceil(file.bytes / rate)
    return { secondsMax: seconds, secondsTypical: seconds }
  }
  if (head.toString('latin1', 4, 8) === 'ftyp')
    return withinBound(file.bytes, await mp4Seconds(file, start))
  return withinBound(file.bytes, await containedSeconds(audio, head))
}

async function containedSeconds(audio: AudioWindow, head: Buffer): Promise<number> {
  const prefix = head.toString('latin1', 0, 8)
  if (prefix.startsWith('OggS')) return oggSeconds(audio)
  if (prefix.startsWith('fLaC')) return flacSeconds(audio)
  if (prefix.startsWith('\x1aE\xdf\xa3')) return webmSeconds(audio)
  return Infinity
}

/** Rounds the bound up to whole seconds, and to at least one second. */
function withinBound(bytes: number, bound: number): AudioLength {
  const secondsMax = Math.max(1, Math.ceil(bound))
  const secondsTypical = Math.min(Math.ceil(bytes / BYTES_PER_SECOND_TYPICAL), secondsMax)
  return { secondsMax, secondsTypical }
}

/** The offset of the audio after its ID3 tags; undefined if there are more than `TAGS_MAX` tags. */
async function skipTags(file: AudioFile): Promise<number | undefined> {
  const head = Buffer.alloc(ID3_HEADER_BYTES)
  let at = 0
  for (let tags = 0; tags <= TAGS_MAX; tags++) {
    const bytes = await file.readInto(head, at)
    const tagBytes = id3Bytes(head.subarray(0, bytes))
    if (tagBytes === 0) return at
    at += tagBytes
  }
  return undefined
}

/** The size of the ID3 tag at the beginning of these bytes; 0 if there is none. */
function id3Bytes(head: Buffer): number {
  if (head.length < ID3_HEADER_BYTES || head.toString('latin1', 0, 3) !== 'ID3') return 0
  if (head[3] === 0xff || head[4] === 0xff) return 0
  const [a, b, c, d] = [head[6], head[7], head[8], head[9]] as [number, number, number, number]
  if ((a | b | c | d) > 0x7f) return 0
  const hasFooter = ((head[5] as number) & 0x10) !== 0
  return (hasFooter ? 20 : 10) + (a << 21) + (b << 14) + (c << 7) + d
}
