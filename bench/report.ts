/** How far a run is: to stderr, for stdout has the report alone. */
export function report(...words: readonly string[]): void {
  process.stderr.write(`${words.join('  ')}\n`)
}
