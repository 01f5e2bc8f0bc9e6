import type { AudioWindow } from './audio-window.ts'

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
export async function hasOtherRates(file: AudioWindow, rate: number): Promise<boolean> {
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
