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
