/**
 * `/termos` and `/privacidade`, also of earlier versions, and `/auth/legal` for the dashboard: the operator's company
 * and the version in force.
 */
import { formatDay } from '../../deliveries/email/formats.ts'
import { language, t } from '../../platform/lib/language.ts'
import { formatTaxId } from '../../platform/lib/tax-id.ts'
import {
  type LegalDocument,
  CURRENT_LEGAL_VERSION,
  LEGAL_VERSIONS,
  type LegalVersion,
} from '../../customers/legal/legal-versions.ts'
import { html, type Html } from '../../platform/lib/html.ts'
import { AUTH_PATH } from '../../identity/sign-in/sign-in-terms.ts'
import { hiddenRoute } from '../../http/rest/route.ts'
import type { HttpParts } from '../../http/rest/parts.ts'
import { layout, type SiteDeps } from '../pages/layout.ts'
import { OF_EVERYBODY, sendWritten, visitInLanguage } from '../pages/send-page.ts'

const PATHS = { terms: '/termos', privacy: '/privacidade' } as const
const MAX_AGE_SECONDS = 300

const pageRoutes = (kind: keyof LegalVersion) =>
  [PATHS[kind], `${PATHS[kind]}/:version`].map((url) =>
    hiddenRoute({
      method: 'GET',
      url,
      access: 'public',
      handle(request, reply, given: SiteDeps) {
        const { version = CURRENT_LEGAL_VERSION } = request.params as { version?: string }
        const write = Object.hasOwn(LEGAL_VERSIONS, version)
          ? LEGAL_VERSIONS[version]?.[kind]
          : undefined
        const visit = visitInLanguage(request, reply, given)
        const { deps } = visit
        return sendWritten(visit, `${PATHS[kind]} ${write ? version : '404'}`, {
          status: write ? 200 : 404,
          cacheControl: OF_EVERYBODY,
          write: () =>
            write
              ? documentPage(write(deps.sender.company), version, kind, deps)
              : missingPage(deps),
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
    handle(_request, reply, { sender: { company } }: Pick<HttpParts, 'sender'>) {
      const { name, address, contactEmail } = company
      return reply.header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`).send({
        version: CURRENT_LEGAL_VERSION,
        company: { name, cnpj: formatTaxId(company.cnpj), address, contactEmail },
      })
    },
  }),
]

function missingPage(deps: SiteDeps): Html {
  return layout(
    {
      path: PATHS.terms,
      title: t('Versão não encontrada · Catraca'),
      description: t('Não há uma versão com essa data.'),
      isIndexed: false,
      main: html`<div class="wrap prose">
        <h1>Versão não encontrada</h1>
        <p class="lead">
          Não há uma versão com essa data. Em vigor estão os
          <a href="${PATHS.terms}">termos de uso</a> e a
          <a href="${PATHS.privacy}">política de privacidade</a>.
        </p>
      </div>`,
    },
    deps,
  )
}

function documentPage(
  { title, sections }: LegalDocument,
  version: string,
  kind: keyof LegalVersion,
  deps: SiteDeps,
): Html {
  const isCurrent = version === CURRENT_LEGAL_VERSION
  const others = Object.keys(LEGAL_VERSIONS).filter((other) => other !== version)
  return layout(
    {
      path: isCurrent ? PATHS[kind] : `${PATHS[kind]}/${version}`,
      title: `${title} · Catraca`,
      description: t`${title} da Catraca, na versão de ${formatDay(version) ?? version}.`,
      isIndexed: isCurrent,
      main: html`<div class="wrap prose">
        <h1 lang="pt-BR">${title}</h1>
        ${
          language() === 'en-US' &&
          html`<p class="notice">Este texto existe só em português, que é a versão que vale.</p>`
        }
        <p class="small muted">
          Versão de <time datetime="${version}">${formatDay(version) ?? version}</time>${
            isCurrent
              ? t(', em vigor.')
              : html` (<a href="${PATHS[kind]}">ver a versão em vigor</a>).`
          }
        </p>
        ${
          deps.config.mode === 'sandbox' &&
          html`<p class="notice">
            <strong>Modo de teste.</strong> A empresa no fim desta página é fictícia.
          </p>`
        }
        <div lang="pt-BR">
          ${sections.map(
            (section) =>
              html`<h2 class="h3 gap">${section.title}</h2>
                ${section.paragraphs.map((text) => html`<p>${text}</p>`)}`,
          )}
        </div>
        ${
          others.length > 0 &&
          html`<p>
            Outras versões:
            ${others.map((other) => html`<a href="${PATHS[kind]}/${other}">${formatDay(other) ?? other}</a> `)}
          </p>`
        }
      </div>`,
    },
    deps,
  )
}
