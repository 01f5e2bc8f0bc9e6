/** Calls during a pause of the machine are excused: no node could answer them. */
const EVERY_MS = 50
/** Half of the time after which a node says that the database does not answer. */
const PAUSE_MS = 1_000

/** Returns a function that ends the watch. */
export function watchPauses(onPause: (fromMs: number, toMs: number) => void): () => void {
  let lastMs = Date.now()
  const timer = setInterval(() => {
    const nowMs = Date.now()
    if (nowMs - lastMs > PAUSE_MS) onPause(lastMs, nowMs)
    lastMs = nowMs
  }, EVERY_MS)
  return () => clearInterval(timer)
}
