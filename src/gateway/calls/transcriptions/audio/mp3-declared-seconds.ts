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
export function mp3DeclaredSeconds(head: Buffer): number | undefined {
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
