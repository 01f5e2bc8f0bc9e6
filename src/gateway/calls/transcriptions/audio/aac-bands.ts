/** The widths of the scale factor bands of long and of short windows (ISO/IEC 14496-3, 4.5.4), in four coefficients. */
export interface Bands {
  readonly long: Uint8Array
  readonly short: Uint8Array
}

/** By the index of the sample rate. */
export const BANDS: readonly Bands[] = [
  ...bandsOf(2, '11111111111111222223333344679bggggggggggg', '111111222479'),
  ...bandsOf(1, '11111111111111222233344456679aaaaaaaaaaaaaaaaaa', '111111222479'),
  ...bandsOf(2, '111111111122222223333445566778888888888888888888o', '11111222333444'),
  ...bandsOf(1, '111111111122222223333445566778888888888888888888888', '11111222333444'),
  ...bandsOf(2, '1111111111122222222223333444556677899abcddggggg', '111111122233445'),
  ...bandsOf(3, '222222222223333333334444555667789aabcdefggg', '111111112233455'),
  ...bandsOf(2, '33333333333334444444555566677899abcdefgk', '111111122223455'),
]

function bandsOf(rates: number, long: string, short: string): readonly Bands[] {
  return Array.from({ length: rates }, () => ({ long: widths(long), short: widths(short) }))
}

function widths(digits: string): Uint8Array {
  return Uint8Array.from(digits, (digit) => Number.parseInt(digit, 36))
}
