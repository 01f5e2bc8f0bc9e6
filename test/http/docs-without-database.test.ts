/** The documentation of a live server, written by the routes alone: no visitor causes a query, for there is no database. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import Fastify from 'fastify'
import { loadConfig } from '../../src/app/config/config.ts'
import { addOpenApi } from '../../src/site/docs/add-open-api.ts'
import { listDocPaths } from '../../src/site/docs/write-doc-pages.ts'
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
  reading: { markups: [], prices: [], health: [], rates: [] },
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
