/** The pages of public bills cost little: anybody may ask for them, as often as for any other page. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { sql } from 'kysely'
import { billPageRoutes } from '../../src/site/public-bills/bill-page-routes.ts'
import { addRoutes } from '../../src/http/rest/route.ts'
import type { SiteDeps } from '../../src/site/pages/layout.ts'
import { createSitePages, type SitePages } from '../../src/site/pages/site-pages.ts'
import { sealUsage } from '../../src/money/ledger/audit/audit-seals.ts'
import { createPublicBill } from '../../src/money/public-bills/public-bills.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { createTestDatabase, seedCustomer } from '../harness/test-database.ts'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'

const DAY_MS = 86_400_000
const FACTS = { models: [], fxRate: undefined, reading: { markups: [], prices: [], health: [] } }

const database = await createTestDatabase()
const { db } = database
/** The pages that were written in all encodings, which takes long. */
let written = 0
const pages = createSitePages()
const sitePages: SitePages = {
  find: (facts, name, write) =>
    pages.find(facts, name, () => {
      written += 1
      return write()
    }),
}
const server = Fastify()
const deps = {
  db,
  sitePages,
  siteFacts: async () => FACTS,
  catalog: { listConfigured: () => [], findModel: () => undefined, findNamed: () => undefined },
  sender: {
    company: {
      name: 'Exemplo',
      cnpj: '11222333000181',
      address: 'Rua',
      contactEmail: 'a@b.example',
    },
  },
  config: { mode: 'sandbox', publicUrl: 'https://catraca.example', topUpMinBrl: 20 },
  webApp: { sendFirstPage: () => assert.fail(), findScript: () => undefined },
} as unknown as SiteDeps & { db: typeof db }
addRoutes(server, billPageRoutes, (route) => route.handlersOf(deps))
after(async () => {
  await server.close()
  await database.drop()
})

const open = (url: string) =>
  server.inject({ method: 'GET', url, headers: { 'accept-encoding': 'gzip, deflate, br' } })

async function seedDay(daysAgo: number): Promise<{ customerId: string; id: string }> {
  const { customerId, key } = await seedCustomer(db, { balanceBrl: '10' })
  const [event] = await seedUsage(db, {
    customerId,
    apiKeyId: key.id,
    events: [
      {
        at: new Date(Date.now() - daysAgo * DAY_MS),
        modelId: 'gpt-4o',
        promptTokens: 1,
        completionTokens: 1,
      },
    ],
  })
  await sql`update usage_events set settled_at = created_at`.execute(db)
  await sealUsage(db)
  return { customerId, id: event?.id ?? '' }
}

test('an unknown address gets a page that is written once for all of them', async () => {
  for (const token of ['x', 'a'.repeat(32), 'b'.repeat(32), '%00']) {
    const { statusCode, headers } = await open(`/conta/${token}`)
    assert.deepEqual([statusCode, headers['cache-control']], [404, 'private, no-store'])
  }
  assert.equal(written, 1)
})

test('the list of heads is written again when a head changes, and only then', async () => {
  await seedDay(3)
  written = 0
  const first = await open('/verificar')
  assert.deepEqual(
    [first.statusCode, first.headers['cache-control']],
    [200, 'public, max-age=0, s-maxage=60'],
  )
  for (let visit = 0; visit < 3; visit++)
    assert.deepEqual((await open('/verificar')).rawPayload, first.rawPayload)
  assert.equal(written, 1)
  await sql`update audit_seals set charges_head = sha256('another')`.execute(db)
  assert.notDeepEqual((await open('/verificar')).rawPayload, first.rawPayload)
  assert.equal(written, 2)
})

test('a bill is compressed with little work, and is written for each visit', async () => {
  const { customerId, id } = await seedDay(0)
  const bill = await createPublicBill(db, SYSTEM, customerId, { usageEventId: id })
  assert.ok('token' in bill)
  written = 0
  const { statusCode, headers, rawPayload } = await open(`/conta/${bill.token}`)
  assert.deepEqual([statusCode, headers['content-encoding']], [200, 'gzip'])
  assert.match(gunzipSync(rawPayload).toString(), /Cobrança de uma chamada/)
  assert.equal(written, 0)
  const known = await server.inject({
    method: 'GET',
    url: `/conta/${bill.token}`,
    headers: { 'if-none-match': String(headers.etag) },
  })
  assert.deepEqual([known.statusCode, known.body], [304, ''])
})
