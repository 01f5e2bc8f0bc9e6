/**
 * `/termos` and `/privacidade`, also of earlier versions, and `/auth/legal` for the dashboard: the operator's company
 * and the version in force. The pages have no script and load nothing.
 */
import { formatCnpj, formatDay } from '../../deliveries/email/formats.ts'
import type { Company } from '../../customers/legal/company.ts'
import {
  type LegalDocument,
  CURRENT_LEGAL_VERSION,
  LEGAL_VERSIONS,
  type LegalVersion,
} from '../../customers/legal/legal-versions.ts'
import { escapeHtml } from '../../platform/lib/html.ts'
import { AUTH_PATH } from '../../identity/sign-in/sign-in-terms.ts'
import { hiddenRoute } from '../../http/rest/route.ts'
import { sendStaticPage } from '../../http/rest/send-page.ts'
import type { HttpParts } from '../../http/rest/parts.ts'

type Deps = Pick<HttpParts, 'config' | 'sender'>

const PATHS = { terms: '/termos', privacy: '/privacidade' } as const
const MAX_AGE_SECONDS = 300

const pageRoutes = (kind: keyof LegalVersion) =>
  [PATHS[kind], `${PATHS[kind]}/:version`].map((url) =>
    hiddenRoute({
      method: 'GET',
      url,
      access: 'public',
      handle(request, reply, deps: Deps) {
        const { version = CURRENT_LEGAL_VERSION } = request.params as { version?: string }
        const write = Object.hasOwn(LEGAL_VERSIONS, version)
          ? LEGAL_VERSIONS[version]?.[kind]
          : undefined
        if (!write)
          return sendStaticPage(reply, NO_VERSION, { status: 404, maxAgeSeconds: MAX_AGE_SECONDS })
        const { company } = deps.sender
        return sendStaticPage(reply, renderDocument(write(company), version, kind, deps), {
          maxAgeSeconds: MAX_AGE_SECONDS,
        })
      },
    }),
  )

export const legalPageRoutes = [
  ...pageRoutes('terms'),
  ...pageRoutes('privacy'),
  hiddenRoute({
    method: 'GET',
    url: `${AUTH_PATH}/legal`,
    access: 'public',
    handle(_request, reply, { sender: { company } }: Deps) {
      const { name, address, contactEmail } = company
      return reply.header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`).send({
        version: CURRENT_LEGAL_VERSION,
        company: { name, cnpj: formatCnpj(company.cnpj), address, contactEmail },
      })
    },
  }),
]

const STYLE = `:root{color-scheme:light dark}body{font:16px/1.6 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}
h2{font-size:1.15rem;margin-top:2rem}footer{margin-top:3rem;border-top:1px solid #8886;padding-top:1rem}
.aviso{border:1px solid #b80;padding:.5rem 1rem}`

function page(title: string, body: string): string {
  return `<!doctype html><html lang="pt-BR"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escapeHtml(title)} · Catraca</title><style>${STYLE}</style></head><body><main><h1>${escapeHtml(title)}</h1>
${body}</body></html>`
}

const NO_VERSION = page(
  'Versão não encontrada',
  `<p>Não há uma versão com essa data. A versão em vigor: <a href="${PATHS.terms}">termos de uso</a> e <a href="${PATHS.privacy}">política de privacidade</a>.</p></main>`,
)

function renderDocument(
  { title, sections }: LegalDocument,
  version: string,
  kind: keyof LegalVersion,
  { sender: { company }, config: { mode } }: Deps,
): string {
  const isCurrent = version === CURRENT_LEGAL_VERSION
  const others = Object.keys(LEGAL_VERSIONS).filter((other) => other !== version)
  const body = [
    `<p>Versão de <time datetime="${version}">${formatDay(version) ?? version}</time>${isCurrent ? ', em vigor' : ` (<a href="${PATHS[kind]}">ver a versão em vigor</a>)`}.</p>`,
    mode === 'sandbox'
      ? '<p class="aviso"><strong>Modo de teste.</strong> A empresa abaixo é fictícia.</p>'
      : '',
    ...sections.map(
      (section) =>
        `<h2>${escapeHtml(section.title)}</h2>\n${section.paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`).join('\n')}`,
    ),
    others.length > 0
      ? `<p>Outras versões: ${others.map((other) => `<a href="${PATHS[kind]}/${other}">${formatDay(other) ?? other}</a>`).join(', ')}.</p>`
      : '',
    `</main><footer>${companyLines(company)}
<p><a href="${PATHS.terms}">Termos de uso</a> · <a href="${PATHS.privacy}">Política de privacidade</a> · <a href="/">Início</a></p></footer>`,
  ]
  return page(title, body.filter(Boolean).join('\n'))
}

function companyLines({ name, cnpj, address, contactEmail }: Company): string {
  const lines = [`${name}, CNPJ ${formatCnpj(cnpj)}`, address, `Contato: ${contactEmail}`]
  return `<p>${lines.map(escapeHtml).join('<br>')}</p>`
}
