import type { AudioWindow } from './audio-window.ts'
import { hasOtherRates } from './has-other-rates.ts'

/** Header, one constant 8-bit sample, checksum: the shortest frame that decodes. */
const FRAME_BYTES_MIN = 11
/** The smallest block that the format allows. */
const SAMPLES_MIN = 16

/**
 * The most seconds of a FLAC file, by its first block (STREAMINFO), without which no decoder opens the file. Assumes
 * as many frames as fit into the file, each of the largest block size; or the declared length, if that is longer.
 * Infinite if the block is missing or is one that decoders doubt, and for frames of another sample rate.
 */
export async function flacSeconds(file: AudioWindow): Promise<number> {
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
