import type { AudioWindow } from './audio-window.ts'

/** Decoders look at no more of a file to find its format. */
const SEARCHED_BYTES = 2 * 1024 * 1024
const STEP_BYTES = 64 * 1024
/** Two frames of the most bytes, and the head of a third. */
const REACH_BYTES = 2 * 8_195 + 7
const HEAD_BYTES = 7

/**
 * Whether three frames of AAC follow one another in the part of a file by which decoders tell its format. Such a file is
 * AAC for some of them, whatever it begins with: a second of silence takes 80 bytes then.
 */
export async function hasAacFrames(file: AudioWindow): Promise<boolean> {
  const end = Math.min(file.bytes, SEARCHED_BYTES)
  for (let at = 0; at < end; at += STEP_BYTES) {
    const bytes = await file.read(at, STEP_BYTES + REACH_BYTES)
    if (findChain(bytes, adtsBytes, 0xff) || findChain(bytes, loasBytes, 0x56)) return true
  }
  return false
}

type FrameBytes = (bytes: Buffer, at: number) => number | undefined

function findChain(bytes: Buffer, frameBytes: FrameBytes, sync: number): boolean {
  for (let at = bytes.indexOf(sync); at >= 0 && at < STEP_BYTES; at = bytes.indexOf(sync, at + 1)) {
    const first = frameBytes(bytes, at)
    const second = first === undefined ? undefined : frameBytes(bytes, at + first)
    if (first !== undefined && second !== undefined && frameBytes(bytes, at + first + second))
      return true
  }
  return false
}

/** The size of a frame with an ADTS header; undefined if there is none. */
function adtsBytes(bytes: Buffer, at: number): number | undefined {
  if (at + HEAD_BYTES > bytes.length || (bytes.readUInt16BE(at) & 0xfff6) !== 0xfff0)
    return undefined
  const length = (bytes.readUInt32BE(at + 3) >>> 13) & 0x1fff
  return length < HEAD_BYTES ? undefined : length
}

/** The size of a frame with a LOAS header; undefined if there is none. */
function loasBytes(bytes: Buffer, at: number): number | undefined {
  if (at + HEAD_BYTES > bytes.length || bytes.readUInt16BE(at) >> 5 !== 0x2b7) return undefined
  const length = 3 + (bytes.readUInt16BE(at + 1) & 0x1fff)
  return length < HEAD_BYTES ? undefined : length
}

/** The sample rates by their index. */
const RATES: readonly number[] = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000,
  7_350,
]
const LOW_COMPLEXITY = 2
/** LC with SBR or PS, of which the first sample rate is the one of the frames. */
const REPLICATED: ReadonlySet<number> = new Set([5, 29])
const STREAM = 3
const DECODER = 4
const SPECIFIC = 5
const MPEG4_AUDIO = 0x40

/** Returns the sample rate of an AAC track by its description; undefined if it is not AAC-LC in frames of 1,024. */
export function aacRateOf(description: Buffer): number | undefined {
  const at = description.indexOf('esds', 0, 'latin1')
  if (at === -1 || description.lastIndexOf('esds', undefined, 'latin1') !== at) return undefined
  const stream = openDescriptor(description.subarray(at + 8), STREAM)
  if (!stream || stream.length < 3 || stream[2] !== 0) return undefined
  const decoder = openDescriptor(stream.subarray(3), DECODER)
  if (!decoder || decoder.length < 13 || decoder[0] !== MPEG4_AUDIO) return undefined
  const specific = openDescriptor(decoder.subarray(13), SPECIFIC)
  if (!specific || specific.length < 2) return undefined
  const bits = Buffer.concat([specific], 4).readUInt32BE(0)
  const [type, rateIndex] = [bits >>> 27, (bits >> 23) & 0xf]
  // The five bits of the type of the frames, and the flags of shorter frames, of another coder and of extensions.
  const core = REPLICATED.has(type) ? (bits >> 7) & 0xff : (type << 3) | ((bits >> 16) & 7)
  return core === LOW_COMPLEXITY << 3 ? RATES[rateIndex] : undefined
}

/** The content of a descriptor with this tag; its length field has one to four bytes. */
function openDescriptor(bytes: Buffer, tag: number): Buffer | undefined {
  if (bytes[0] !== tag) return undefined
  let length = 0
  for (let at = 1; at <= 4; at++) {
    const byte = bytes[at]
    if (byte === undefined) return undefined
    length = length * 128 + (byte & 0x7f)
    if (byte < 0x80) return bytes.subarray(at + 1, at + 1 + length)
  }
  return undefined
}
