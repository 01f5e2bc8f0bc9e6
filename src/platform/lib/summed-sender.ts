export type Sums = readonly (readonly [subject: string, amount: number])[]

/** Adds up amounts by subject, and sends the sums together a moment after the first of them. */
export function createSummedSender(
  send: (sums: Sums) => void,
  afterMs = 20,
): (subject: string, amount: number) => void {
  let sums = new Map<string, number>()
  return (subject, amount) => {
    if (sums.size === 0)
      setTimeout(() => {
        const taken = [...sums]
        sums = new Map()
        send(taken)
      }, afterMs).unref()
    sums.set(subject, (sums.get(subject) ?? 0) + amount)
  }
}
