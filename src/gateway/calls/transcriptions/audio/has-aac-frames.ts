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
