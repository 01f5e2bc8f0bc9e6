// deep: an attack
/** What a client says of itself through a proxy: hosts, protocols, and cookies that another host set. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, test } from 'node:test'
import { loadConfig } from '../../src/app/config/config.ts'
import { listRoutes } from '../../src/app/resources.ts'
import { credentialHeaders } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startLocalNode, type LocalNode } from '../harness/local-node.ts'
import { openSession } from '../harness/open-session.ts'
import { seedCustomer } from '../harness/test-database.ts'

const EVIL = 'evil.example'

/** Behind a proxy, without an address of its own. */
let gateway: TestGateway
/** At a public address. */
let published: LocalNode
before(async () => {
  gateway = await startGateway({ TRUST_PROXY: '127.0.0.1' })
  published = await startLocalNode({
    databaseUrl: gateway.database.databaseUrl,
    env: { PUBLIC_URL: 'https://painel.example.com' },
  })
})
after(async () => {
  await published.stop()
  await published.remove()
  await gateway.stop()
})

interface Answer {
  readonly status: number
  readonly head: string
  readonly text: string
}

function get(node: LocalNode, path: string, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port: node.port, path, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part) => (text += part))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          head: JSON.stringify(response.headers),
          text,
        }),
      )
    })
      .on('error', reject)
      .end()
  })
}

const PAGES = listRoutes(loadConfig({ DATA_DIR: '.' }, '.')).flatMap(({ method, url, access }) =>
  method === 'GET' && access === 'public' && !/[:*]|live/.test(url) ? [url] : [],
)

test('no page shows a host or protocol that a proxy passes on from its client', async () => {
  assert.ok(PAGES.length > 20)
  for (const url of PAGES)
    for (const claimed of [
      { 'x-forwarded-host': EVIL },
      { 'x-forwarded-proto': `https://${EVIL}/?` },
      { 'x-forwarded-host': EVIL, 'x-forwarded-proto': 'https', 'x-forwarded-for': '1.2.3.4' },
      { forwarded: `host=${EVIL};proto=https` },
    ] as Record<string, string>[]) {
      const { head, text } = await get(gateway.node, url, { host: 'api.example.com', ...claimed })
      assert.ok(!`${head}${text}`.includes(EVIL), `${url} ${JSON.stringify(claimed)}`)
    }
})

test('a page with an address that its request chose is in no shared cache', async () => {
  let chosen = 0
  for (const url of PAGES) {
    const { head, text } = await get(gateway.node, url, { host: EVIL })
    if (!text.includes(EVIL)) continue
    chosen += 1
    assert.match(head, /"cache-control":"(private|no-store)/, url)
    const own = await get(published, url, { host: EVIL })
    assert.ok(!own.text.includes(EVIL), url)
  }
  assert.ok(chosen >= 3, `${chosen}`)
})

test('over https a session is the cookie that only this host can set, whatever else is sent', async () => {
  const { db } = gateway.database
  for (const [node, headers] of [
    [published, {}],
    [gateway.node, { 'x-forwarded-proto': 'https' }],
  ] as const) {
    const people = await Promise.all([1, 2].map(() => seedCustomer(db, { balanceBrl: '1' })))
    const cookies = await Promise.all(
      people.map(async ({ customerId }) => {
        const secret = await openSession({ db, dataDir: node.dataDir }, customerId)
        return credentialHeaders(secret)['cookie'] ?? ''
      }),
    )
    const [own = '', evil = ''] = cookies
    const whose = async (cookie: string): Promise<unknown> => {
      const answer = await get(node, '/v1/session', { host: 'a.example', cookie, ...headers })
      return answer.status === 200 ? JSON.parse(answer.text).customer.id : answer.status
    }
    const hostOnly = `__Host-${own}`
    assert.equal(await whose(hostOnly), people[0]?.customerId)
    for (const planted of [
      evil,
      ` ${evil}`,
      `a=b;\t${evil}`,
      `${evil}; __Host-catraca.session_token=x`,
    ])
      assert.equal(await whose(planted), 401, planted)
    for (const both of [`${evil}; ${hostOnly}`, `${hostOnly}; ${evil}`])
      assert.equal(await whose(both), people[0]?.customerId, both)
  }
})
