/** Kilobits per second of Layer III, by bitrate index from 1; index 0 is the free format, which is not accepted. */
const MPEG1_KBITS = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const MPEG2_KBITS = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
const SAMPLE_RATES: Readonly<Record<number, readonly number[]>> = {
  0: [11_025, 12_000, 8_000],
  2: [22_050, 24_000, 16_000],
  3: [44_100, 48_000, 32_000],
}

/** Whether the head begins with a Layer III frame, and a second frame follows at the offset that the first implies. */
export function isMp3(head: Buffer): boolean {
  const first = mp3FrameBytes(head, 0)
  if (first === undefined) return false
  return head.length < first + 4 || mp3FrameBytes(head, first) !== undefined
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
