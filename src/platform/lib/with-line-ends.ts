/**
 * Writes the line ends of a form's texts, which are CR LF, whatever they were (HTML, "multipart/form-data encoding
 * algorithm").
 */
export function withLineEnds(text: string): string {
  return text.replace(/\r\n|\r|\n/g, '\r\n')
}
