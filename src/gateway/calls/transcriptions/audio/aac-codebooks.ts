/**
 * The Huffman codes of AAC (ISO/IEC 14496-3, 4.A.6), as far as the length of a frame depends on them: the bits of each
 * code word and of the signs after it, not its values.
 */
export interface Codebook {
  /** Coefficients in a code word. */
  readonly dimension: number
  /** Entries by the next `SHORT_BITS` bits; 0 for a longer code word. */
  readonly short: Uint8Array
  /** Entries by the next `longBits` bits less `longFrom`. */
  readonly long: Uint8Array
  readonly longBits: number
  readonly longFrom: number
}

/** The lower five bits of an entry are the bits of a code word and its signs, those above are its escapes. */
export const ENTRY_BITS = 0x1f
export const SHORT_BITS = 9

/**
 * Code words are consecutive numbers, the shorter ones first: `counts` says how many there are of one bit, of two bits,
 * and so on. `signs` has a digit for each in this order; `a` and `b` are one or two signs with as many escapes, `c` two
 * signs with one escape. Without it, no code word has a sign.
 */
export function codebookOf(dimension: number, counts: readonly number[], signs = ''): Codebook {
  const longBits = counts.length
  const entries = new Uint8Array(1 << longBits)
  let [word, at, longFrom] = [0, 0, 0]
  counts.forEach((count, index) => {
    const bits = index + 1
    const reach = 1 << (longBits - bits)
    for (const end = word + count; word < end; word++, at += reach)
      entries.fill(bits + (EXTRAS[signs[word] ?? '0'] as number), at, at + reach)
    if (bits <= SHORT_BITS) longFrom = at
  })
  const short = Uint8Array.from({ length: 1 << SHORT_BITS }, (_, prefix) => {
    const first = prefix << (longBits - SHORT_BITS)
    return first < longFrom ? (entries[first] as number) : 0
  })
  return { dimension, short, long: entries.slice(longFrom), longBits, longFrom }
}
const EXTRAS: Readonly<Record<string, number>> = {
  0: 0,
  1: 1,
  2: 2,
  3: 3,
  4: 4,
  a: 32 + 1,
  b: 64 + 2,
  c: 32 + 2,
}

export const SCALE_FACTORS: Codebook = codebookOf(
  1,
  [1, 0, 1, 3, 2, 4, 3, 5, 4, 6, 6, 6, 5, 8, 4, 7, 3, 7, 46],
)

/** The codebooks 1 to 11 of the spectrum. */
export const SPECTRUM: readonly Codebook[] = [
  codebookOf(4, [1, 0, 0, 0, 8, 0, 24, 0, 24, 8, 16]),
  codebookOf(4, [0, 0, 1, 1, 7, 24, 15, 19, 14]),
  codebookOf(
    4,
    [1, 0, 0, 4, 2, 6, 3, 5, 15, 15, 8, 9, 3, 3, 5, 2],
    '011112222232343311223232331221224334323244332333223243344233333344442233434443233',
  ),
  codebookOf(
    4,
    [0, 0, 0, 10, 6, 0, 9, 21, 8, 14, 11, 2],
    '433331202222121144443333333333332222222222221111444444333333333433344422222243333',
  ),
  codebookOf(2, [1, 0, 0, 4, 4, 0, 4, 12, 12, 12, 18, 10, 4]),
  codebookOf(2, [0, 0, 0, 9, 0, 16, 13, 8, 23, 8, 4]),
  codebookOf(
    2,
    [1, 0, 2, 1, 0, 4, 5, 10, 14, 15, 8, 4],
    '0112221122211222222221122212122222222211222222222222112222222222',
  ),
  codebookOf(
    2,
    [0, 0, 1, 5, 7, 10, 14, 15, 8, 4],
    '2212120112222222221122222222221212222222121222222222221212222112',
  ),
  codebookOf(
    2,
    [1, 0, 2, 1, 0, 4, 3, 8, 11, 20, 31, 38, 32, 14, 4],
    '0112221122211222222221122222221212222222212222222212221222212222112222222222222122212' +
      '222222222222222222212212222222122222222222222212212222122222222222222222222222222222',
  ),
  codebookOf(
    2,
    [0, 0, 0, 3, 8, 14, 17, 25, 31, 41, 22, 8],
    '2222112222211222202211222222222222121222222222222121222222222222222222122222122222222' +
      '222222222121222222212222221222222222222222221212122222222222222212122212221222222122',
  ),
  codebookOf(
    2,
    [0, 0, 0, 2, 6, 7, 16, 59, 55, 95, 43, 6],
    '02b11222222121222222211222222222222222ccccc2c121c2cccc22222cc22ccc22c2ccc2c22cc2221cc' +
      '222212cc22c2c2222222c221222222122222222222222122222222222a222222a21222222222222222222' +
      '2222222222221222222222222222222122222222222222222222222222211222222222222222222222222' +
      '2212212122212222211222212212112112',
  ),
]
