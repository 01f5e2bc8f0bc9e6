/** A count that crosses the turn of the minute would prove nothing. */
export async function untilMinuteHasRoom(): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000)
  if (leftMs < 4_000) await new Promise((resolve) => setTimeout(resolve, leftMs + 50))
}
