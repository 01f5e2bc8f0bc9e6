/** The documentation of a live server, written by the routes alone: no visitor causes a query, for there is no database. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import Fastify from 'fastify'
import { loadConfig } from '../../src/app/config/config.ts'
import { addOpenApi } from '../../src/site/docs/add-open-api.ts'
import type { ApiDocument } from '../../src/site/docs/api-document.ts'
import { createDocs, listDocPaths } from '../../src/site/docs/write-doc-pages.ts'
import { docRoutes } from '../../src/site/docs/doc-routes.ts'
import { listRoutes } from '../../src/app/resources.ts'
import { addRoutes } from '../../src/http/rest/route.ts'
import { schemaController } from '../../src/http/server/schema-compilers.ts'
import type { SiteDeps } from '../../src/site/pages/layout.ts'
import type { SiteFacts } from '../../src/site/pages/site-facts.ts'
import { createSitePages } from '../../src/site/pages/site-pages.ts'
import type { MailSender } from '../../src/deliveries/email/mail-sender.ts'
import type { Catalog } from '../../src/money/catalog/catalog.ts'

const PUBLIC_URL = 'https://catraca.example'
const facts: SiteFacts = {
  models: [],
  fxRate: undefined,
  reading: { markups: [], prices: [], health: [], speeds: [], rates: [] },
}
const config = loadConfig({ DATA_DIR: '.' }, '.')
const deps: SiteDeps = {
  siteFacts: async () => facts,
  sitePages: createSitePages(),
  catalog: {} as Catalog,
  sender: {
    company: {
      name: 'Empresa',
      cnpj: '00000000000000',
      address: 'Rua',
      contactEmail: 'a@b.example',
    },
  } as MailSender,
  config: { ...config, mode: 'live', publicUrl: PUBLIC_URL, topUpMinBrl: 20 },
  webApp: { sendFirstPage: (reply) => reply, findScript: () => '/assets/docs-1.js' },
}
const server = Fastify({ schemaController })
after(() => server.close())
await addOpenApi(server)
const docUrls = new Set(docRoutes.map(({ url }) => url))
addRoutes(
  server,
  listRoutes(config).filter(({ url }) => !docUrls.has(url)),
  () => ({ handler: () => undefined }),
)
addRoutes(server, docRoutes, (route) => route.handlersOf(deps))
await server.ready()

test('every page is written, with its canonical address, for search engines', async () => {
  const paths = listDocPaths(server.swagger())
  assert.ok(paths.length > 30)
  for (const path of paths) {
    const { statusCode, body } = await server.inject(path)
    assert.equal(statusCode, 200, path)
    assert.ok(body.includes(`<link rel="canonical" href="${PUBLIC_URL}${path}" />`), path)
    assert.doesNotMatch(body, /content="noindex"/, path)
    assert.equal([...body.matchAll(/<script/g)].length, 1, path)
  }
})

/** Names of products and of the API, and words that both languages have. */
const SAME =
  /^(?:\/ )?(Catraca|EN|Status|[Ss]treaming|Embeddings|Idempotency-Key|Webhooks|Prompts|curl|Python|JavaScript|PHP|Claude Code|Codex|Cursor|opencode|AI SDK|LangChain|OpenAI|OpenAI Chat Model|Credentials|API Key|Base URL|Gemini CLI|scope|calls|account|manage|budget|website|noindex|GET|POST|PUT|PATCH|DELETE|BRL|USD|UUID|true|null|[a-z_]+( [-+] [a-z_]+)+|host:port|(GET|POST) \S+|((&quot;\S*|null|\d+)( \| |, |$))+|(\S*[_./-]\S*(, |$))+)$/
/** Of the source; what is in code is for people too. */
const PORTUGUESE =
  /(?<![\p{L}\d])(não|você|para|com|são|uma?|cada|preço|modelos?|chamadas?|saldo|câmbio|chaves?|respostas?|erros?|quando|SUA|SEU)(?![\p{L}\d])|ção(?!\p{L})/iu

/** Names in code; the messages of the API are in Portuguese. */
const API_WORDS = /\bexample\.com\b|&quot;(message|details)&quot;: .*/g

/** The fields of a model as the configuration file has them are described in English to operators. */
const OF_THE_FILE =
  /^(USD per|Keys:|Prices that|The (most|prices|lengths|sizes|days?|model&#39;s|share)|A model of|Hours from|Smaller|Concurrent|UTC,) /

test('every text of a page in English is another one than in Portuguese, and no word of Portuguese is in it', async () => {
  const faults = new Set<string>()
  for (const path of [...createDocs(server.swagger() as ApiDocument).pages.keys(), '/docs/nada']) {
    const [portuguese, english] = [await textsOf(path, 'pt-BR'), await textsOf(path, 'en')]
    assert.equal(english.lang, 'en-US', path)
    const known = new Set(
      portuguese.texts.filter((text) => !SAME.test(text) && !OF_THE_FILE.test(text)),
    )
    for (const text of english.texts) if (known.has(text) || PORTUGUESE.test(text)) faults.add(text)
    for (const code of english.code) {
      const said = PORTUGUESE.exec(code.replaceAll(API_WORDS, ''))
      if (said) faults.add(`${path}: ${said[0]} in ${code}`)
    }
  }
  assert.deepEqual([...faults], [])
})

/** What people read, without the footer, whose words are the company's. */
async function textsOf(path: string, language: string) {
  const { body } = await server.inject({ url: path, headers: { 'accept-language': language } })
  const shown = body.replaceAll(
    /<style>[^]*?<\/style>|<footer[^]*<\/footer>|href="[^"]*"|https?:[^"<\s]*/g,
    '',
  )
  const code = [...shown.matchAll(/<(pre|code)\b[^>]*>([^]*?)<\/\1\s*>/g)].map(
    ([, , text = '']) => text,
  )
  const labels = [...shown.matchAll(/ (?:aria-label|content)="([^"]*)"/g)].map(
    ([, text = '']) => text,
  )
  const texts = shown.replaceAll(/<(pre|code)\b[^>]*>[^]*?<\/\1\s*>/g, '').split(/<[^>]*>/)
  return {
    lang: /<html lang="([^"]+)">/.exec(body)?.[1],
    code: code.map((text) => text.replaceAll(/<[^>]*>/g, '')),
    texts: [...labels, ...texts]
      .map((text) => text.trim())
      .filter((text) => /\p{L}{2}/u.test(text)),
  }
}

test('the search index of each language is one for everybody', async () => {
  for (const path of ['/docs/busca.json', '/docs/search.json']) {
    const headers = { 'accept-language': 'en' }
    const answer = await server.inject({ url: path, headers })
    assert.match(String(answer.headers['cache-control']), /^public/, path)
    const word = path.endsWith('busca.json') ? 'Erro 402' : 'Error 402'
    assert.ok(answer.body.includes(`"${word}"`), path)
  }
})

test('the part of the operators is not for search engines', async () => {
  const { statusCode, body } = await server.inject('/docs/operadores/clientes')
  assert.equal(statusCode, 200)
  assert.match(body, /content="noindex"/)
})

test('a page is written once and sent again: the same version is a 304', async () => {
  const first = await server.inject('/docs/streaming')
  const again = await server.inject({
    url: '/docs/streaming',
    headers: { 'if-none-match': String(first.headers.etag) },
  })
  assert.deepEqual([again.statusCode, again.body], [304, ''])
})
