/** The seconds of the longest packet; decoders refuse a packet that declares more. */
export const OPUS_PACKET_SECONDS_MAX = 0.12

const SILK_MS = [10, 20, 40, 60]
const HYBRID_MS = [10, 20]
const CELT_MS = [2.5, 5, 10, 20]

/**
 * Returns the seconds of a packet by its first two bytes (RFC 6716, section 3.1); the maximum if the bytes are missing.
 */
export function opusPacketSeconds(first: number | undefined, second: number | undefined): number {
  if (first === undefined) return OPUS_PACKET_SECONDS_MAX
  const config = first >> 3
  const frameMs =
    config < 12 ? SILK_MS[config & 3] : config < 16 ? HYBRID_MS[config & 1] : CELT_MS[config & 3]
  const code = first & 3
  const frames = code === 0 ? 1 : code < 3 ? 2 : second === undefined ? 48 : second & 0x3f
  return Math.min(((frameMs as number) * frames) / 1_000, OPUS_PACKET_SECONDS_MAX)
}
