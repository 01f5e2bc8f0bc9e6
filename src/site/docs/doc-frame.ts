/** The frame of the documentation inside that of the site: search, contents, what comes before and after. */
import { html, type Html } from '../../platform/lib/html.ts'
import { language, t, type Language } from '../../platform/lib/language.ts'
import { layout, type SiteDeps } from '../pages/layout.ts'
import { DOCS_STYLE } from './docs-style.ts'
import { sectionHtml, type DocGroup, type DocLink, type DocPage } from './doc-page.ts'

/** The script asks without cookies, so each language has an address. */
export const SEARCH_INDEX_PATHS: Readonly<Record<Language, string>> = {
  'pt-BR': '/docs/busca.json',
  'en-US': '/docs/search.json',
}

export function docFrame(page: DocPage, groups: readonly DocGroup[], deps: SiteDeps): Html {
  const isHome = page.path === '/docs'
  return layout(
    {
      path: page.path,
      title: isHome ? page.title : t`${page.title} · Documentação da Catraca`,
      description: page.description,
      isIndexed: page.isIndexed ?? true,
      style: DOCS_STYLE,
      script: deps.webApp.findScript('docs'),
      main: html`<div class="wrap docs">
        <article>
          ${
            !isHome &&
            html`<nav class="crumbs" aria-label="Onde você está">
              <a href="/docs">Documentação</a> / ${page.title}
            </nav>`
          }
          <div class="seek" data-index="${SEARCH_INDEX_PATHS[language()]}">
            <noscript
              ><p class="small muted">
                A busca precisa de JavaScript. Tudo está no <a href="#indice">índice</a>.
              </p></noscript
            >
          </div>
          <h1>${page.title}</h1>
          <p class="lead">${page.description}</p>
          <p class="to-index small"><a href="#indice">Índice da documentação</a></p>
          ${page.content ?? sectionsOf(page)} ${neighbours(page, groups)}
        </article>
        ${contents(page, groups)}
      </div>`,
    },
    deps,
  )
}

function sectionsOf({ sections }: DocPage): Html {
  return html`${
    sections.length > 2 &&
    html`<nav class="toc" aria-label="Nesta página">
      <ul>
        ${sections.map(({ id, heading }) => html`<li><a href="#${id}">${heading}</a></li>`)}
      </ul>
    </nav>`
  }
  ${sections.map(sectionHtml)}`
}

/** Only the part with the page is open. */
function contents({ path }: DocPage, groups: readonly DocGroup[]): Html {
  return html`<nav class="side" id="indice" aria-label="Documentação">
    <div>
      ${groups.map(
        ({ title, links }, index) =>
          html`<details${isOpen(path, links, index) && html` open`}><summary>${t(title)}</summary>
            <ul>
              ${links.map(
                (link) =>
                  html`<li>
                    <a href="${link.path}" ${link.path === path && html` aria-current="page"`}
                      >${t(link.title)}</a
                    >
                  </li>`,
              )}
            </ul></details>`,
      )}
    </div>
  </nav>`
}

function isOpen(path: string, links: readonly DocLink[], index: number): boolean {
  return links.some((link) => link.path === path) || (path === '/docs' && index === 0)
}

function neighbours({ path }: DocPage, groups: readonly DocGroup[]): Html | false {
  const links = groups.flatMap((group) => group.links)
  const index = links.findIndex((link) => link.path === path)
  if (index < 0) return false
  const [before, after] = [links[index - 1], links[index + 1]]
  return html`<nav class="next" aria-label="Antes e depois">
    ${before ? link(t('Antes'), before) : html`<span></span>`} ${after && link(t('Depois'), after)}
  </nav>`
}

function link(word: string, { path, title }: DocLink): Html {
  return html`<a href="${path}">${word}: ${t(title)}</a>`
}
