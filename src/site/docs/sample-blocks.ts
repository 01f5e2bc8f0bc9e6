/** Code on a page. `data-sample` names the client: tests run what is shown. */
import type { CodeSample } from '../pages/code-samples.ts'
import { codeText } from '../pages/model-words.ts'
import { html, type Html } from '../../platform/lib/html.ts'
import { t } from '../../platform/lib/language.ts'

/**
 * The comments and texts of a code sample, which get colours. A comment begins a line or follows a space, so that an
 * address is none.
 */
const PARTS =
  /(?<comment>(?<=^|\s)(?:#|\/\/)[^\n]*)|(?<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')/gm

function highlight(code: string): readonly Html[] {
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

/** Shows the same call with several clients; one is open at a time. `name` is unique on its page. */
export function sampleTabs(name: string, samples: readonly CodeSample[]): Html {
  return html`<div class="samples">
    ${samples.map(
      (sample, index) =>
        html`<details name="${t(name)}" ${index === 0 && html` open`}>
          <summary>${t(sample.client)}</summary>
          ${block(sample, `${t(sample.client)}: ${t(name)}`)}
        </details>`,
    )}
  </div>`
}

/** Shows a block of code. `label` is unique on its page. */
export function codeBlock(label: string, code: string, id = ''): Html {
  return html`<figure>
    <figcaption>${t(label)}</figcaption>
    ${block({ id, code }, t(label))}
  </figure>`
}

function block({ id, code }: Pick<CodeSample, 'id' | 'code'>, label: string): Html {
  return html`<pre
    class="code"
    tabindex="0"
    role="region"
    aria-label="Código: ${label}"
    data-sample="${id}"
  >
${highlight(codeText(code))}</pre>`
}
