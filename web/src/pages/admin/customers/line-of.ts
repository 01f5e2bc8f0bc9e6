/** Text by an operator as the API takes it: one line. */
export function lineOf(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
