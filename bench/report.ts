/** Prints the progress of a run to stderr; stdout is for the report alone. */
export function report(...words: readonly string[]): void {
  process.stderr.write(`${words.join('  ')}\n`)
}
