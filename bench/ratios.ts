/** The median of ratios, and the range of their middle half, as text. */
export function describeRatios(ratios: readonly number[]): string {
  const sorted = ratios.toSorted(ascending)
  const at = (share: number) =>
    (sorted[Math.floor(share * (sorted.length - 1))] as number).toFixed(3)
  return `${at(0.5)} (${at(0.25)} to ${at(0.75)})`
}

export function median(numbers: readonly number[]): number {
  return numbers.toSorted(ascending)[Math.floor(numbers.length / 2)] as number
}

function ascending(a: number, b: number): number {
  return a - b
}
