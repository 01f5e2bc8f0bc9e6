/**
 * A page of the documentation, before its frame. Guides give their texts in Portuguese; what is written here is in the
 * language of the page.
 */
import { html, type Html } from '../../platform/lib/html.ts'
import { t } from '../../platform/lib/language.ts'

export interface DocSection {
  /** Of its heading, and its address after `#`. */
  readonly id: string
  readonly heading: string
  readonly body: Html
}

export interface DocPage {
  readonly path: string
  readonly title: string
  /** One sentence, for lists and search engines. */
  readonly description: string
  readonly sections: readonly DocSection[]
  /** In place of the sections, for pages that are built otherwise. */
  readonly content?: Html
  readonly isIndexed?: boolean
}

export interface DocLink {
  readonly path: string
  readonly title: string
  readonly description: string
}

export interface DocGroup {
  readonly title: string
  readonly links: readonly DocLink[]
}

/** The models of the examples: the catalog has them, so that every example runs. */
export interface ExampleModels {
  readonly chat: string
  readonly claude: string
  readonly claudeSmall: string
  readonly embedding: string
  readonly rerank: string
  readonly moderation: string
  readonly image: string
  readonly speech: string
  readonly video: string
  readonly audio: string
}

/** What guides state. */
export interface GuideFacts {
  readonly origin: string
  readonly models: ExampleModels
}

export interface Guide {
  /** After `/docs/`. */
  readonly slug: string
  readonly title: string
  readonly description: string
  readonly sections: (facts: GuideFacts) => readonly DocSection[]
}

export function section(id: string, heading: string, body: Html): DocSection {
  return { id, heading: t(heading), body }
}

export function guidePath({ slug }: Pick<Guide, 'slug'>): string {
  return `/docs/${slug}`
}

export function sectionHtml({ id, heading, body }: DocSection): Html {
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}"><a class="at" href="#${id}">${heading}</a></h2>
    ${body}
  </section>`
}

/** Shows a table. `label` is unique on its page. The first column is code. */
export function table(
  label: string,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): Html {
  return html`<div class="scroll" role="region" aria-label="Tabela: ${t(label)}" tabindex="0">
    <table>
      <thead>
        <tr>
          ${heads.map((head) => html`<th scope="col">${t(head)}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([first, ...rest]) =>
            html`<tr>
              <th scope="row"><span>${t(first ?? '')}</span></th>
              ${rest.map((cell) => html`<td>${t(cell)}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}
