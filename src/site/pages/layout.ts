/** The frame of every page of the site: head, header, footer. The pages run no script but those that they name. */
import { language, t, type Language } from '../../platform/lib/language.ts'
import { formatTaxId } from '../../platform/lib/tax-id.ts'
import { dataBlock, html, trustedHtml, type Html } from '../../platform/lib/html.ts'
import type { WebApp } from '../../http/dashboard/web-app.ts'
import type { HttpParts } from '../../http/rest/parts.ts'
import type { SiteFacts } from './site-facts.ts'
import type { SitePages } from './site-pages.ts'
import { SITE_STYLE } from './site-style.ts'

/** What the pages of the site are written from. */
export type SiteDeps = Pick<HttpParts, 'config' | 'catalog' | 'sender'> & {
  readonly siteFacts: () => Promise<SiteFacts>
  readonly sitePages: SitePages
  readonly webApp: Pick<WebApp, 'sendFirstPage' | 'findScript'>
  /** Of a visit: the browser has been signed in here. The session may have ended since. */
  readonly isSignedIn?: boolean
  /** Of a visit, if the page is in both languages. */
  readonly language?: Language
}

export interface SitePage {
  readonly path: string
  readonly title: string
  readonly description: string
  readonly main: Html
  /** Beside the style of all pages; `pagePolicy` must name it. */
  readonly style?: string | undefined
  /** The path of a script. */
  readonly script?: string | undefined
  /** The path of an Atom feed. */
  readonly feed?: { readonly path: string; readonly title: string }
  /** For search engines, in the words of schema.org. */
  readonly linkedData?: object
  readonly isIndexed?: boolean
}

const LOGO = trustedHtml(
  `<svg aria-hidden="true" viewBox="0 0 32 32"><rect width="32" height="32" rx="8"/><path d="M16 16V7M16 16l8 4.6M16 16l-8 4.6"/><circle cx="16" cy="16" r="3"/></svg>`,
)
const STYLE = trustedHtml(`<style>${SITE_STYLE}</style>`)

type LayoutDeps = Pick<SiteDeps, 'config' | 'sender' | 'isSignedIn' | 'language'>

export function layout(page: SitePage, deps: LayoutDeps): Html {
  return html`<!doctype html>
    <html lang="${language()}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${page.title}</title>
        <meta name="description" content="${page.description}" />
        ${indexing(page, deps)}
        <meta name="theme-color" media="(prefers-color-scheme: light)" content="#f7f8f6" />
        <meta name="theme-color" media="(prefers-color-scheme: dark)" content="#0e1411" />
        <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
        <link rel="apple-touch-icon" href="/icone-180.png" />
        <link rel="manifest" href="/manifest.webmanifest" />
        ${
          page.feed &&
          html`<link
            rel="alternate"
            type="application/atom+xml"
            title="${page.feed.title}"
            href="${page.feed.path}"
          />`
        }
        ${STYLE} ${page.style !== undefined && trustedHtml(`<style>${page.style}</style>`)}
        ${page.script !== undefined && html`<script type="module" src="${page.script}"></script>`}
      </head>
      <body>
        <a class="skip" href="#conteudo">Ir para o conteúdo</a>
        ${deps.config.mode === 'sandbox' && sandboxNotice()}
        <header class="wrap top">
          <a class="logo" href="/" aria-label="Catraca: início">${LOGO}Catraca</a>
          <nav aria-label="Principal">
            <a href="/modelos">Modelos e preços</a><a href="/docs">Documentação</a
            ><a href="/status">Status</a
            >${deps.isSignedIn ? ownAccount() : entrance()}${!deps.isSignedIn && deps.language && otherLanguage()}
          </nav>
        </header>
        <main id="conteudo">${page.main}</main>
        ${footer(deps)}
      </body>
    </html> `
}

const entrance = () =>
  html`<a href="/entrar">Entrar</a><a class="button" href="/cadastrar">Criar conta</a>`
const ownAccount = () => html`<a class="button" href="/">Abrir o painel</a>`

/** Named in its own language, for those who do not read this one. Whoever is signed in has the language of the account. */
const otherLanguage = () =>
  language() === 'pt-BR'
    ? html`<a href="?lang=en" hreflang="en" lang="en" aria-label="EN: in English">EN</a>`
    : html`<a href="?lang=pt" hreflang="pt-BR" lang="pt-BR" aria-label="PT: em português">PT</a>`

const sandboxNotice = () =>
  html`<aside class="notice" aria-label="Modo de teste">
    <strong>Modo de teste:</strong> os modelos, o câmbio e os pagamentos daqui são fictícios.
  </aside>`

/** Search engines see one address for a page, and no page of a sandbox: its prices are not real. */
function indexing(
  { path, title, description, linkedData, isIndexed = true }: SitePage,
  { config: { mode, publicUrl }, language: chosen }: LayoutDeps,
): Html {
  const isEnglish = language() === 'en-US'
  const address = `${publicUrl}${path}`
  const isShown = isIndexed && mode === 'live'
  return html`${!isShown && html`<meta name="robots" content="noindex" />`}
    <meta property="og:type" content="website" />
    <meta property="og:site_name" content="Catraca" />
    <meta property="og:locale" content="${isEnglish ? 'en_US' : 'pt_BR'}" />
    <meta property="og:title" content="${title}" />
    <meta property="og:description" content="${description}" />
    ${
      publicUrl !== undefined &&
      html`<link rel="canonical" href="${address}${isEnglish && '?lang=en'}" />
        ${
          chosen &&
          isIndexed &&
          html`<link rel="alternate" hreflang="pt-BR" href="${address}" />
            <link rel="alternate" hreflang="en" href="${address}?lang=en" />
            <link rel="alternate" hreflang="x-default" href="${address}" />`
        }
        <meta property="og:url" content="${address}${isEnglish && '?lang=en'}" />
        <meta property="og:image" content="${publicUrl}/og.png" />
        <meta property="og:image:width" content="1200" />
        <meta property="og:image:height" content="630" />
        <meta
          property="og:image:alt"
          content="${t('Catraca: modelos de IA pagos em reais, por Pix')}"
        />
        <meta name="twitter:card" content="summary_large_image" />`
    }
    ${linkedData !== undefined && dataBlock('application/ld+json', linkedData)}`
}

function footer({ sender: { company } }: Pick<HttpParts, 'sender'>): Html {
  return html`<footer class="wrap foot">
    <nav aria-label="Rodapé">
      <a href="/modelos">Modelos e preços</a><a href="/docs">Documentação da API</a
      ><a href="/cambio">Câmbio aplicado</a><a href="/verificar">Conferir uma cobrança</a
      ><a href="/status">Status</a><a href="/termos">Termos de uso</a
      ><a href="/privacidade">Política de privacidade</a>
    </nav>
    <p>
      ${company.name}, CNPJ ${formatTaxId(company.cnpj)}. ${company.address}.
      <a href="mailto:${company.contactEmail}">${company.contactEmail}</a>
    </p>
  </footer>`
}
