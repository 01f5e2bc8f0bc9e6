/** `/docs/erros`: every code that the operations declare, with what to do. */
import { html, type Html } from '../../platform/lib/html.ts'
import { t } from '../../platform/lib/language.ts'
import { refusals } from '../../gateway/calls/refusal.ts'
import { errorAnchor, errorCodesOf, type Operation } from './api-document.ts'
import { section, type DocPage, type DocSection, type GuideFacts } from './doc-page.ts'
import { errorAdvice } from './error-advice.ts'
import { codeBlock } from './sample-blocks.ts'
import { retryGuideSection } from './guides/retry-section.ts'

export const ERRORS_LINK = {
  path: '/docs/erros',
  title: 'Erros',
  description: 'Os dois formatos de erro, quando tentar de novo, e o que fazer em cada código.',
}

export interface ListedCode {
  readonly code: string
  readonly statuses: readonly number[]
  readonly isOfOperatorsOnly: boolean
}

/** Returns the error codes in the order of their first status. */
export function listErrorCodes(operations: readonly Operation[]): readonly ListedCode[] {
  const found = new Map<string, { statuses: Set<number>; isOfOperatorsOnly: boolean }>()
  for (const { code, status } of [refusals.routeNotFound(), refusals.endpointNotAvailable()])
    found.set(code, { statuses: new Set([status]), isOfOperatorsOnly: false })
  for (const operation of operations)
    for (const { status, code } of errorCodesOf(operation)) {
      const known = found.get(code) ?? { statuses: new Set(), isOfOperatorsOnly: true }
      known.statuses.add(status)
      if (!operation.isForOperators) known.isOfOperatorsOnly = false
      found.set(code, known)
    }
  return [...found]
    .map(([code, { statuses, isOfOperatorsOnly }]) => ({
      code,
      isOfOperatorsOnly,
      statuses: [...statuses].sort((a, b) => a - b),
    }))
    .sort((a, b) => (a.statuses[0] ?? 0) - (b.statuses[0] ?? 0))
}

export function errorsPage(operations: readonly Operation[], facts: GuideFacts): DocPage {
  const codes = listErrorCodes(operations)
  return {
    path: ERRORS_LINK.path,
    title: t(ERRORS_LINK.title),
    description: t(ERRORS_LINK.description),
    sections: [formats(), retryGuideSection(facts), ...byStatus(codes), ofOperators(codes)],
  }
}

function formats(): DocSection {
  const { status, message, type, code } = refusals.keyMissing()
  return section(
    'formatos',
    'Dois formatos',
    html`<p>
        As chamadas de modelos respondem erros no formato que as bibliotecas leem. As mensagens são
        em português e dizem o que fazer; programas devem decidir pelo <code>code</code>.
      </p>
      ${codeBlock(t`Chamada de modelo, ${status}`, JSON.stringify({ error: { message, type, code, param: null } }, null, 2))}
      <p>
        Todas as outras operações respondem um código e, quando ajuda, um detalhe. Um 401 delas não
        tem corpo.
      </p>
      ${codeBlock('Outras operações, 400', JSON.stringify({ error: 'invalid_request', details: 'days: deve ser um inteiro' }, null, 2))}
      <p>
        O formato Messages tem os erros no formato dele, com o mesmo <code>code</code>. Toda
        resposta traz <code>x-request-id</code>: envie-o ao suporte.
      </p>`,
  )
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'a requisição tem um erro',
  401: 'sem chave válida',
  402: 'falta saldo ou orçamento',
  403: 'sem permissão',
  404: 'não existe',
  409: 'conflito com o estado atual',
  413: 'grande demais',
  422: 'chave de idempotência repetida',
  429: 'requisições demais',
  500: 'erro inesperado',
  502: 'o modelo falhou',
  503: 'fora do ar por um momento',
}

function byStatus(codes: readonly ListedCode[]): DocSection[] {
  const own = codes.filter(({ isOfOperatorsOnly }) => !isOfOperatorsOnly)
  return [...new Set(own.map(({ statuses }) => statuses[0] ?? 0))].map((status) =>
    section(
      `status-${status}`,
      `${status}: ${t(TITLES[status] ?? 'outros')}`,
      list(own.filter(({ statuses }) => statuses[0] === status)),
    ),
  )
}

function ofOperators(codes: readonly ListedCode[]): DocSection {
  return section(
    'operadores',
    'Só das operações de quem opera o serviço',
    list(codes.filter(({ isOfOperatorsOnly }) => isOfOperatorsOnly)),
  )
}

function list(codes: readonly ListedCode[]): Html {
  return html`<dl class="fields-of">
    ${codes.map(
      ({ code, statuses }) =>
        html`<div>
          <dt id="${errorAnchor(code)}">
            <code>${code}</code> <span class="muted">${statuses.join(', ')}</span>
          </dt>
          <dd>${errorAdvice(code) ?? t('A mensagem da resposta diz o que houve.')}</dd>
        </div>`,
    )}
  </dl>`
}
