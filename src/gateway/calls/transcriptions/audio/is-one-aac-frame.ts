import { BANDS, type Bands } from './aac-bands.ts'
import { AacBits } from './aac-bits.ts'
import { SCALE_FACTORS, SPECTRUM, type Codebook } from './aac-codebooks.ts'

/** A frame of two channels has at most 1,536, with some hundred for other data. */
export const FRAME_BYTES_MAX = 8_191

const PAIR = 1
const DATA = 4
const FILL = 6
const END = 7
/** One channel, two, and one of low frequencies. The third of the four kinds is a coupled channel. */
const CHANNELS: ReadonlySet<number> = new Set([0, PAIR, 3])
/** Contents of fill elements: padding, and the higher frequencies of HE-AAC. Decoders read others in ways of their own. */
const PADDINGS: ReadonlySet<number> = new Set([0, 1])
const REPLICATIONS: ReadonlySet<number> = new Set([13, 14])

const EIGHT_SHORT = 2
const SHORT_WINDOWS = 8
const RESERVED = 12
const NOISE = 13
const NOISE_START_BITS = 9
const TNS_ORDER_MAX = 12
/** More than the bands of a group. */
const GROUP_STEP = 64

/** The windows of a channel, or of both channels of a pair. */
interface Windows {
  readonly isShort: boolean
  readonly widths: Uint8Array
  readonly bands: number
  /** How many windows each group has. */
  readonly groups: readonly number[]
}

/**
 * Whether a sample is one frame of AAC-LC (`raw_data_block` in ISO/IEC 14496-3, 4.4.2) with nothing but zeros after it:
 * decoders take other bytes there for further frames. False also for syntax that no encoder writes for one or two
 * channels: coupled channels, descriptions of the program, gain control and prediction. Numbers are not decoded, so a
 * frame that passes may still be refused by a decoder, which makes no sound of it then.
 */
export function createIsOneAacFrame(
  rateIndex: number,
): (bytes: Uint8Array, from: number, to: number) => boolean {
  const bandsOfRate = BANDS[rateIndex] as Bands
  const bits = new AacBits()
  const books = new Uint8Array(SHORT_WINDOWS * GROUP_STEP)

  function readWindows(): Windows | undefined {
    const isShort = (bits.read(3) & 3) === EIGHT_SHORT
    bits.read(1)
    const widths = isShort ? bandsOfRate.short : bandsOfRate.long
    const bands = bits.read(isShort ? 4 : 6)
    const groups = [1]
    if (isShort)
      for (let window = 1; window < SHORT_WINDOWS; window++)
        if (bits.read(1) === 0) groups.push(1)
        else groups[groups.length - 1] = (groups.at(-1) as number) + 1
    const hasPrediction = !isShort && bits.read(1) === 1
    return hasPrediction || bands > widths.length ? undefined : { isShort, widths, bands, groups }
  }

  function readBooks({ isShort, bands, groups }: Windows): boolean {
    const lengthBits = isShort ? 3 : 5
    const more = (1 << lengthBits) - 1
    for (let group = 0; group < groups.length; group++)
      for (let band = group * GROUP_STEP, end = band + bands; band < end;) {
        const book = bits.read(4)
        const start = band
        let length = more
        while (length === more && band <= end) band += length = bits.read(lengthBits)
        if (book === RESERVED || band > end || bits.left() < 0) return false
        books.fill(book, start, band)
      }
    return true
  }

  function skipScaleFactors({ bands, groups }: Windows): void {
    let isFirstNoise = true
    for (let group = 0; group < groups.length; group++)
      for (let band = group * GROUP_STEP, end = band + bands; band < end; band++) {
        if (books[band] === 0) continue
        if (books[band] === NOISE && isFirstNoise) {
          isFirstNoise = false
          bits.at += NOISE_START_BITS
        } else bits.skipWords(SCALE_FACTORS, 1)
      }
  }

  function skipPulses({ isShort, widths }: Windows): boolean {
    if (bits.read(1) === 0) return true
    const pulses = bits.read(2) + 1
    if (isShort || bits.read(6) >= widths.length) return false
    bits.at += 5 + pulses * 9
    return true
  }

  function skipNoiseShaping({ isShort }: Windows): boolean {
    if (bits.read(1) === 0) return true
    for (let window = isShort ? SHORT_WINDOWS : 1; window > 0; window--) {
      const filters = bits.read(isShort ? 1 : 2)
      const resolution = filters > 0 ? bits.read(1) + 3 : 0
      for (let filter = 0; filter < filters; filter++) {
        bits.at += isShort ? 4 : 6
        const order = bits.read(isShort ? 3 : 5)
        if (order > TNS_ORDER_MAX) return false
        if (order === 0) continue
        const isCompressed = bits.read(2) & 1
        bits.at += order * (resolution - isCompressed)
      }
    }
    return true
  }

  function skipSpectrum({ widths, bands, groups }: Windows): boolean {
    for (let group = 0; group < groups.length; group++)
      for (let band = 0; band < bands;) {
        const number = books[group * GROUP_STEP + band] as number
        let width = 0
        for (; band < bands && books[group * GROUP_STEP + band] === number; band++)
          width += widths[band] as number
        if (number === 0 || number > RESERVED) continue
        const book = SPECTRUM[number - 1] as Codebook
        const words = (width * 4 * (groups[group] as number)) / book.dimension
        if (!bits.skipWords(book, words) || bits.left() < 0) return false
      }
    return true
  }

  function skipChannel(shared: Windows | undefined): boolean {
    bits.at += 8
    const windows = shared ?? readWindows()
    if (!windows || !readBooks(windows)) return false
    skipScaleFactors(windows)
    if (!skipPulses(windows) || !skipNoiseShaping(windows)) return false
    const hasGainControl = bits.read(1) === 1
    return !hasGainControl && skipSpectrum(windows)
  }

  function skipPair(): boolean {
    if (bits.read(1) === 0) return skipChannel(undefined) && skipChannel(undefined)
    const windows = readWindows()
    const masks = bits.read(2)
    if (!windows || masks === 3) return false
    if (masks === 1) bits.at += windows.bands * windows.groups.length
    return skipChannel(windows) && skipChannel(windows)
  }

  function skipData(): boolean {
    const isAligned = bits.read(1) === 1
    const bytes = bits.read(8)
    const more = bytes === 255 ? bits.read(8) : 0
    if (isAligned) bits.at = (bits.at + 7) & ~7
    bits.at += (bytes + more) * 8
    return true
  }

  function skipFill(count: number, isAfterChannel: boolean): boolean {
    const bytes = count === 15 ? 14 + bits.read(8) : count
    if (bytes === 0) return true
    const content = bits.read(4)
    bits.at += bytes * 8 - 4
    return PADDINGS.has(content) || (isAfterChannel && REPLICATIONS.has(content))
  }

  return (bytes, from, to) => {
    bits.open(bytes, from, to)
    let isAfterChannel = false
    for (let element = bits.read(3); element !== END; element = bits.read(3)) {
      const tag = bits.read(4)
      let isKnown = false
      if (CHANNELS.has(element)) {
        isKnown = element === PAIR ? skipPair() : skipChannel(undefined)
        isAfterChannel = true
      } else if (element === DATA) isKnown = skipData()
      else if (element === FILL) isKnown = skipFill(tag, isAfterChannel)
      if (!isKnown || bits.left() < 3) return false
    }
    for (let at = (bits.at + 7) >> 3; at < to; at++) if (bytes[at] !== 0) return false
    return bits.left() >= 0
  }
}
