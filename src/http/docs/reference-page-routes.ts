/** `GET /docs`: the API reference as a page. It has no script and loads nothing from other sites. */
import { escapeHtml } from '../../lib/escape-html.ts'
import type { Route } from '../rest/route.ts'

interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: unknown
}
interface Content {
  readonly [type: string]: { readonly schema?: Schema }
}
interface Operation {
  readonly tags?: readonly string[]
  readonly summary?: string
  readonly security?: readonly object[]
  readonly parameters?: readonly { name: string; in: string; required?: boolean; schema?: Schema }[]
  readonly requestBody?: { readonly content: Content }
  readonly responses?: Readonly<Record<string, { description: string; content?: Content }>>
}
interface Document {
  readonly info: { readonly title: string; readonly description?: string }
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

export const referencePageRoutes: readonly Route<unknown>[] = [
  {
    method: 'GET',
    url: '/docs',
    access: 'public',
    schema: { hide: true },
    handlersOf() {
      let page: string | undefined
      return {
        handler(request, reply) {
          page ??= renderPage(request.server.swagger() as unknown as Document)
          return reply
            .type('text/html; charset=utf-8')
            .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
            .header('x-content-type-options', 'nosniff')
            .header('cache-control', 'public, max-age=300')
            .send(page)
        },
      }
    },
  },
]

const STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
code{font:0.9em ui-monospace,monospace}h2{margin-top:3rem}h3{margin-top:2rem}table{border-collapse:collapse;width:100%}
td,th{border-bottom:1px solid #8886;padding:.3rem .6rem;text-align:left;vertical-align:top}nav a{margin-right:1rem}
.verb{font-weight:700}`

function renderPage({ info, paths = {} }: Document): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const tags = [...new Set(operations.flatMap(({ operation }) => operation.tags ?? []))]
  const sections = tags.map((tag) => {
    const own = operations.filter(({ operation }) => operation.tags?.includes(tag))
    return `<h2 id="${escapeHtml(tag)}">${escapeHtml(tag)}</h2>${own.map(renderOperation).join('')}`
  })
  return `<!doctype html><html lang="pt-BR"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(info.title)}: referência da API</title><style>${STYLE}</style></head><body>
<h1>${escapeHtml(info.title)}: referência da API</h1><p>${escapeHtml(info.description ?? '')}</p>
<p>Endereço base: <code>/v1</code>. A mesma descrição para programas: <a href="/v1/openapi.json"><code>/v1/openapi.json</code></a> (OpenAPI 3.1).</p>
<nav>${tags.map((tag) => `<a href="#${escapeHtml(tag)}">${escapeHtml(tag)}</a>`).join('')}</nav>
${sections.join('\n')}</body></html>`
}

function wordsOf(security: readonly object[] | undefined): string {
  if (!security) return 'Pública.'
  return security.some((way) => 'key' in way)
    ? 'Com chave: Authorization: Bearer sk-svc-…'
    : 'Só na sessão do painel de quem opera o serviço, com a segunda etapa.'
}

function renderOperation(each: { path: string; method: string; operation: Operation }): string {
  const { path, method, operation } = each
  const { summary = '', security, parameters = [], requestBody, responses = {} } = operation
  const given = parameters.map(({ name, schema, required = false }) =>
    renderField(name, schema ?? {}, required),
  )
  const bodies = Object.entries(requestBody?.content ?? {}).map(
    ([type, { schema }]) =>
      `<p>Corpo, <code>${escapeHtml(type)}</code>:</p>${renderFields(schema)}`,
  )
  const answers = Object.entries(responses).map(([status, { description, content = {} }]) => {
    const isError = Number(status) >= 400
    const fields = isError
      ? ''
      : Object.values(content)
          .map(({ schema }) => renderFields(schema))
          .join('')
    return `<tr><td><code>${escapeHtml(status)}</code></td><td>${escapeHtml(description)}${fields}</td></tr>`
  })
  return `<h3><span class="verb">${escapeHtml(method.toUpperCase())}</span> <code>${escapeHtml(path)}</code></h3>
<p>${escapeHtml(summary)}. ${escapeHtml(wordsOf(security))}</p>
${given.length > 0 ? `<table>${given.join('')}</table>` : ''}${bodies.join('')}<table>${answers.join('')}</table>`
}

function renderFields(schema: Schema | undefined): string {
  if (!schema?.properties) return ''
  const rows = Object.entries(schema.properties).map(([name, field]) =>
    renderField(name, field, schema.required?.includes(name) ?? false),
  )
  return `<table>${rows.join('')}</table>`
}

function renderField(name: string, schema: Schema, isRequired: boolean): string {
  const inner = schema.items ?? schema
  const facts = [
    typeOf(schema),
    isRequired ? 'obrigatório' : '',
    schema.minimum === undefined ? '' : `mínimo ${schema.minimum}`,
    schema.maximum === undefined ? '' : `máximo ${schema.maximum}`,
    schema.default === undefined ? '' : `padrão ${JSON.stringify(schema.default)}`,
  ].filter(Boolean)
  return `<tr><td><code>${escapeHtml(name)}</code></td><td>${escapeHtml(facts.join(', '))}${
    schema.description ? `<br>${escapeHtml(schema.description)}` : ''
  }${renderFields(inner)}</td></tr>`
}

function typeOf({ type, anyOf, enum: values, const: only, items, format }: Schema): string {
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ')
  if (only !== undefined) return JSON.stringify(only)
  if (anyOf) return anyOf.map(typeOf).join(' | ')
  if (items) return `lista de ${typeOf(items)}`
  return format ?? [type ?? 'qualquer'].flat().join(' | ')
}
