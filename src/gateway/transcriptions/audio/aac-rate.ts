const RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000,
  7_350,
]
/** Main, LC, SSR, LTP, and LC with SBR or PS; for the last two, the first sample rate is the one of the core frames. */
const OBJECT_TYPES: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 29])
const STREAM = 3
const DECODER = 4
const SPECIFIC = 5
const MPEG4_AUDIO = 0x40

/** The sample rate of an AAC track by its description; undefined if its frames may not have 1,024 samples. */
export function aacRateOf(description: Buffer): number | undefined {
  const at = description.indexOf('esds', 0, 'latin1')
  if (at === -1 || description.lastIndexOf('esds', undefined, 'latin1') !== at) return undefined
  const stream = openDescriptor(description.subarray(at + 8), STREAM)
  if (!stream || stream.length < 3 || stream[2] !== 0) return undefined
  const decoder = openDescriptor(stream.subarray(3), DECODER)
  if (!decoder || decoder.length < 13 || decoder[0] !== MPEG4_AUDIO) return undefined
  const specific = openDescriptor(decoder.subarray(13), SPECIFIC)
  if (!specific || specific.length < 2) return undefined
  const bits = specific.readUInt16BE(0)
  return OBJECT_TYPES.has(bits >> 11) ? RATES[(bits >> 7) & 0xf] : undefined
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
