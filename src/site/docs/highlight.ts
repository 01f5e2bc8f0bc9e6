/** Colours for comments and texts of a code sample; everything else stays as it is. */
import { html, type Html } from '../../platform/lib/html.ts'

/** A comment begins a line or follows a space, so that an address is none. */
const PARTS =
  /(?<comment>(?<=^|\s)(?:#|\/\/)[^\n]*)|(?<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')/gm

export function highlight(code: string): readonly Html[] {
  const pieces: Html[] = []
  let at = 0
  for (const match of code.matchAll(PARTS)) {
    const [whole] = match
    pieces.push(html`${code.slice(at, match.index)}`)
    pieces.push(
      match.groups?.comment === undefined ? html`<span>${whole}</span>` : html`<i>${whole}</i>`,
    )
    at = match.index + whole.length
  }
  return [...pieces, html`${code.slice(at)}`]
}
