/** An amount as it would be typed: what a field shows to be changed. */
export function typedAmount(amount: number): string {
  return String(amount).replace('.', ',')
}
