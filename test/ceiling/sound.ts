/**
 * The length of an audio file as a decoder finds it: by its samples, not by the header's bytes per second.
 * Also creates audio that is longer than its size suggests.
 */

/** Seconds of the received audio; `secondsMax` when the format lets a few bytes be arbitrarily long. */
export function audioSecondsOf(bytes: Buffer | undefined, secondsMax: number): number {
  if (!bytes) return secondsMax
  const head = bytes.toString('latin1', 0, 4)
  if (head === 'RIFF') return Math.min(wavSeconds(bytes), secondsMax)
  if (head === 'fLaC') return Math.min(flacSeconds(bytes), secondsMax)
  if (head === 'OggS') return Math.min(oggSeconds(bytes), secondsMax)
  // No MP3 frame has a rate below 8 kbit/s.
  const isMp3 = bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0
  if (head.startsWith('ID3')) {
    const inner = bytes.subarray(10)
    return inner.toString('latin1', 0, 4) === 'fLaC'
      ? Math.min(flacSeconds(inner), secondsMax)
      : bytes.length / 1_000
  }
  return isMp3 ? bytes.length / 1_000 : bytes.length / 250
}

const ADPCM = 0x11
const GSM = 0x31

/**
 * The length of the samples in the file, at the rate of the header. No decoder opens a header without a rate
 * or a width.
 */
function wavSeconds(bytes: Buffer): number {
  if (bytes.length < 44) return 0
  const format = bytes.readUInt16LE(20)
  const channels = bytes.readUInt16LE(22)
  const rate = bytes.readUInt32LE(24)
  const bits = format === ADPCM ? 4 : bytes.readUInt16LE(34)
  const data = bytes.length - 44
  if (channels * rate === 0) return 0
  // A GSM block has 65 bytes for 320 samples.
  if (format === GSM) return ((data / 65) * 320) / rate
  return bits === 0 ? 0 : data / ((channels * rate * bits) / 8)
}

const FLAC_HEADER_BYTES = 42
/** A frame of silence: header, one constant sample, checksum. */
const FLAC_FRAME_BYTES_MIN = 14
const FLAC_FRAME_SAMPLES_MAX = 65_535

function flacSeconds(bytes: Buffer): number {
  const at = 8
  const rate = bytes.readUIntBE(at + 10, 3) >> 4
  const samples = Number(bytes.readBigUInt64BE(at + 10) & 0xf_ffff_ffffn)
  const frames = Math.floor((bytes.length - FLAC_HEADER_BYTES) / FLAC_FRAME_BYTES_MIN)
  return Math.min(samples, frames * FLAC_FRAME_SAMPLES_MAX) / Math.max(rate, 1)
}

/** Silent Opus: packets of 120 ms in two bytes, one of them the length in the page. */
function oggSeconds(bytes: Buffer): number {
  const granule = Number(bytes.readBigUInt64LE(6))
  return Math.min(granule / 48_000, (bytes.length / 2) * 0.12)
}

export interface WavShape {
  readonly channels: number
  readonly rate: number
  readonly bits: number
  /** The length in the header, which a decoder ignores. */
  readonly byteRate: number
  readonly dataBytes: number
  readonly format?: number
}

export function wav({ channels, rate, bits, byteRate, dataBytes, format = 1 }: WavShape): Buffer {
  const bytes = Buffer.alloc(44 + dataBytes)
  bytes.write('RIFF', 0, 'latin1')
  bytes.writeUInt32LE(dataBytes + 36, 4)
  bytes.write('WAVEfmt ', 8, 'latin1')
  bytes.writeUInt32LE(16, 16)
  bytes.writeUInt16LE(format, 20)
  bytes.writeUInt16LE(channels, 22)
  bytes.writeUInt32LE(rate, 24)
  bytes.writeUInt32LE(byteRate, 28)
  bytes.writeUInt16LE(Math.max(1, (channels * bits) / 8), 32)
  bytes.writeUInt16LE(bits, 34)
  bytes.write('data', 36, 'latin1')
  bytes.writeUInt32LE(dataBytes, 40)
  return bytes
}

/** The stream's header, and frames of silence as short as the format allows. */
export function flac(rate: number, frames: number): Buffer {
  const bytes = Buffer.alloc(FLAC_HEADER_BYTES + frames * FLAC_FRAME_BYTES_MIN)
  bytes.write('fLaC', 0, 'latin1')
  bytes[4] = 0x80
  bytes.writeUIntBE(34, 5, 3)
  bytes.writeUInt16BE(FLAC_FRAME_SAMPLES_MAX, 8)
  bytes.writeUInt16BE(FLAC_FRAME_SAMPLES_MAX, 10)
  const samples = BigInt(frames * FLAC_FRAME_SAMPLES_MAX)
  bytes.writeBigUInt64BE((BigInt(rate) << 44n) | (7n << 36n) | samples, 18)
  return bytes
}

/** An Opus page whose position gives its length. */
export function ogg(packets: number): Buffer {
  const bytes = Buffer.alloc(27 + packets * 2)
  bytes.write('OggS', 0, 'latin1')
  bytes.writeBigUInt64LE(BigInt(Math.floor(packets * 0.12 * 48_000)), 6)
  return bytes
}

export function mp3(bytes: number): Buffer {
  const sound = Buffer.alloc(Math.max(bytes, 4))
  sound.writeUInt32BE(0xff_e3_18_c4, 0)
  return sound
}

/** A tag before the audio, which any format allows. */
export function tagged(sound: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from('ID3\u0004\u0000\u0000\u0000\u0000\u0000\u0000', 'latin1'),
    sound,
  ])
}
