/**
 * The upper end of an axis: the smallest of 1, 2, 5, 10, 20… (of any magnitude) that is not below the value.
 */
export function axisTop(value: number): number {
  if (!(value > 0)) return 1
  const size = 10 ** Math.floor(Math.log10(value))
  const factor = [1, 2, 5, 10].find((each) => each * size >= value) ?? 10
  return factor * size
}
