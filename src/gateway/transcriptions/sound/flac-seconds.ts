import type { SoundWindow } from './sound-window.ts'

/** Header, one constant sample of 8 bits, checksum: nothing that decodes is shorter. */
const FRAME_BYTES_MIN = 11

/**
 * The most seconds of a FLAC file by its first block, without which no decoder opens it: so many frames
 * as its bytes can be, each as long as the longest; or what it says of itself, where that is more.
 * Infinite where the block is not there. Not guaranteed for frames that name a rate of their own.
 */
export async function flacSeconds(file: SoundWindow): Promise<number> {
  const head = await file.read(0, 42)
  const isFirstBlock = head.length === 42 && ((head[4] as number) & 0x7f) === 0
  if (!isFirstBlock || head.readUIntBE(5, 3) !== 34) return Infinity
  const samplesOfFrame = head.readUInt16BE(10)
  const rate = head.readUIntBE(18, 3) >> 4
  const said = Number(head.readBigUInt64BE(18) & 0xf_ffff_ffffn)
  if (rate === 0) return Infinity
  const frames = Math.floor(file.bytes / FRAME_BYTES_MIN)
  return Math.max(frames * samplesOfFrame, said) / rate
}
