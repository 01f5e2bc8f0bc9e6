/** One operation of the reference. */
import { html, type Html } from '../../platform/lib/html.ts'
import { t } from '../../platform/lib/language.ts'
import type { Access } from '../../http/rest/access.ts'
import { errorAnchor, errorCodesOf, type Operation } from './api-document.ts'
import type { GuideFacts } from './doc-page.ts'
import { fieldItem, fieldList } from './field-list.ts'
import { operationSamples } from './operation-samples.ts'
import { sampleTabs } from './sample-blocks.ts'

export function operationArticle(operation: Operation, facts: GuideFacts): Html {
  const { anchor, method, path, summary, name } = operation
  return html`<section class="operation" aria-labelledby="${anchor}">
    <h2 id="${anchor}">
      <a class="at" href="#${anchor}"
        ><span class="verb">${method}</span> <code>/v1${path}</code></a
      >
    </h2>
    <p>${t(summary)}.</p>
    <p class="small muted">${accessWords(operation)}</p>
    ${sampleTabs(name, operationSamples(operation, facts))} ${tryIt(operation)} ${inputs(operation)}
    ${answers(operation)} ${errors(operation)}
  </section>`
}

const ACCESS_WORDS: Readonly<Partial<Record<Access, string>>> = {
  public: 'Pública: não precisa de chave.',
  calls: 'Chave com qualquer permissão, ou a sessão do painel.',
  account: 'Chave com a permissão account ou manage, ou a sessão do painel.',
  manage: 'Chave com a permissão manage, ou a sessão do painel.',
  support: 'Sessão do painel de quem opera o serviço: papel support, finance ou admin.',
  finance: 'Sessão do painel de quem opera o serviço: papel finance ou admin.',
  admin: 'Sessão do painel de quem opera o serviço: papel admin.',
}

function accessWords({ access }: Operation): Html {
  return html`<strong>Acesso:</strong> ${t(ACCESS_WORDS[access] ?? access)}`
}

/** Whether the page's script can call it: reading is safe, and a chat is what people come for. */
export function canBeTried({ method, name, isForOperators, answers }: Operation): boolean {
  const isJson = answers.some(({ status, answer }) => status < 300 && hasJson(answer))
  return !isForOperators && isJson && (method === 'GET' || name === 'POST /chat/completions')
}

function hasJson({ content = {} }: Operation['answers'][number]['answer']): boolean {
  return 'application/json' in content
}

function tryIt(operation: Operation): Html | false {
  if (!canBeTried(operation)) return false
  const { method, path, parameters, access } = operation
  const fields = parameters
    .filter((each) => each.in !== 'header')
    .map((each) => ({ name: each.name, in: each.in, isRequired: each.required ?? false }))
  return html`<div
    class="try"
    data-method="${method}"
    data-path="${path}"
    data-fields="${JSON.stringify(fields)}"
    data-needs-key="${String(access !== 'public')}"
  ></div>`
}

function inputs({ parameters, body, anchor }: Operation): Html {
  return html`${
    parameters.length > 0 &&
    html`<h3 id="${anchor}-parametros">Parâmetros</h3>
      <dl class="fields-of">
        ${parameters.map((each) =>
          fieldItem(
            each.name,
            { description: each.description ?? '', ...each.schema },
            each.required ?? false,
          ),
        )}
      </dl>`
  }
  ${
    body &&
    html`<h3 id="${anchor}-corpo">Corpo</h3>
      <p class="small muted"><code>${body.type}</code></p>
      ${fieldList(body.schema)}`
  }`
}

function answers({ answers: all, anchor }: Operation): Html {
  const good = all.filter(({ status }) => status < 400)
  return html`<h3 id="${anchor}-resposta">Resposta</h3>
    ${good.map(({ status, answer }) => {
      const [content] = Object.entries(answer.content ?? {})
      const list = content && fieldList(content[1].schema ?? {})
      return html`<p>
          <code>${status}</code> ${t(answer.description)}
          ${content && html`<span class="muted">${content[0]}</span>`}
        </p>
        ${
          list &&
          html`<details>
            <summary>Campos da resposta ${status}</summary>
            ${list}
          </details>`
        }`
    })}`
}

/** The codes that every operation may answer are on the page of errors. */
const EVERYWHERE = new Set([
  'internal_error',
  'service_unavailable',
  'rate_limit_exceeded',
  'invalid_request',
  'payload_too_large',
  'csrf_token_missing',
  'ip_blocked_by_allowlist',
  'key_paused',
  'forbidden',
])

function errors(operation: Operation): Html {
  const own = errorCodesOf(operation).filter(({ code }) => !EVERYWHERE.has(code))
  return html`<h3 id="${operation.anchor}-erros">Erros</h3>
    ${
      own.length > 0 &&
      html`<ul>
        ${own.map(
          ({ status, code }) =>
            html`<li>
              <code>${status}</code>
              <a href="/docs/erros#${errorAnchor(code)}"><code>${code}</code></a>
            </li>`,
        )}
      </ul>`
    }
    <p class="small muted">
      E os <a href="/docs/erros">erros de todas as operações</a>, como
      <code>rate_limit_exceeded</code>.
    </p>`
}
