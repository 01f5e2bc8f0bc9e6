/** True once this many minutes have passed from now. */
export function inMinutes(minutes: number): () => boolean {
  const untilMs = Date.now() + minutes * 60_000
  return () => Date.now() > untilMs
}
