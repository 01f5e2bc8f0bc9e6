/** The pages for visitors: what they show, to whom, and what browsers and search engines may do with them. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { sql } from 'kysely'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { openIncident, resolveIncident } from '../../src/platform/health/incidents.ts'
import { LATENCY_BUCKETS } from '../../src/platform/lib/latency-buckets.ts'
import { scheduleMarkup } from '../../src/money/catalog/markup-changes.ts'
import { SITE_STYLE } from '../../src/site/pages/site-style.ts'
import { ask } from '../harness/ask.ts'
import { writeConfigFile } from '../harness/config-file.ts'
import { startGateway } from '../harness/gateway.ts'
import { startLocalNode } from '../harness/local-node.ts'

const PUBLIC_URL = 'http://catraca.example'
const HOSTILE = '"><script>alert(1)</script>'
const file = await writeConfigFile({
  models: [
    { id: 'gpt-4o', display_name: `GPT ${HOSTILE}`, description: `Um modelo ${HOSTILE}` },
    { id: 'gpt-4.1', enabled: false },
  ],
})
const gateway = await startGateway({ CATRACA_CONFIG: file.path, PUBLIC_URL })
after(async () => {
  await gateway.stop()
  await file.remove()
})
const { baseUrl } = gateway.node

async function open(
  path: string,
  headers: Record<string, string> = {},
  method: 'GET' | 'HEAD' = 'GET',
) {
  const answer = await request(new URL(path, baseUrl), { method, headers })
  const bytes = Buffer.from(await answer.body.arrayBuffer())
  return { status: answer.statusCode, headers: answer.headers, bytes, text: bytes.toString() }
}

async function listIds(): Promise<string[]> {
  return (await ask(baseUrl, '/models')).json.models.map(({ id }: { id: string }) => id)
}

test('a visitor at / reads what the service is, its prices in reais and the curl', async () => {
  const { status, headers, text } = await open('/')
  assert.equal(status, 200)
  assert.match(String(headers['content-type']), /^text\/html/)
  assert.match(text, /<html lang="pt-BR">/)
  assert.match(text, /<h1>Modelos de IA pagos em reais, por Pix<\/h1>/)
  assert.match(text, /R\$ 5 de crédito para experimentar/)
  assert.ok(text.includes(`curl ${PUBLIC_URL}/v1/chat/completions`))
  assert.ok(text.includes(`<link rel="canonical" href="${PUBLIC_URL}/"`))
  const { prices } = (await ask(baseUrl, '/model-prices')).json
  const [, id] = /<th scope="row">[^]*?<code>([^<]+)<\/code/.exec(text) ?? []
  const [tier] = prices.find(({ model_id }: any) => model_id === id).tiers
  assert.ok(text.includes(`R$ ${tier.input_brl.toFixed(2).replace('.', ',')}`), id)
  assert.match(text, /Empresa Fictícia do Sandbox, CNPJ 00\.000\.000\/0000-00/)
})

test('every client without a session cookie gets the page at /, by GET and by HEAD', async () => {
  for (const accept of ['text/html', '*/*', 'application/json']) {
    const page = await open('/', { accept })
    const head = await open('/', { accept }, 'HEAD')
    assert.deepEqual([page.status, head.status, head.text], [200, 200, ''])
    assert.equal(head.headers['content-length'], String(page.bytes.length))
  }
})

test('a browser that is signed in gets the dashboard at /, /modelos and the page of a model, and no cache may mix them up', async () => {
  for (const name of ['catraca.session_token', '__Host-catraca.session_token'])
    for (const path of ['/', '/modelos', '/modelos/gpt-4o']) {
      const visitor = await open(path)
      const customer = await open(path, { cookie: `a=b; ${name}=token.mac` })
      assert.notEqual(visitor.text, customer.text)
      assert.doesNotMatch(customer.text, /<h1>Modelos/)
      assert.match(String(visitor.headers.vary), /cookie/)
      assert.equal(visitor.headers['cache-control'], 'private, no-cache')
      assert.match(String(customer.headers['cache-control']), /no-cache/)
    }
})

test('the header of every page knows who is signed in, and no shared cache gets that page', async () => {
  const paths = ['/modelos/gpt-4o?publica=1', '/modelos/nada', '/docs', '/docs/erros', '/verificar']
  for (const path of [
    ...paths,
    '/cambio',
    '/termos',
    '/privacidade',
    '/docs/nada',
    '/conta/nada',
  ]) {
    const visitor = await open(path)
    assert.match(visitor.text, /href="\/cadastrar">Criar conta</, path)
    assert.match(String(visitor.headers.vary), /cookie/, path)
    assert.doesNotMatch(String(visitor.headers['cache-control']), /(^|[ ,])max-age=[1-9]/, path)
    const customer = await open(path, { cookie: 'catraca.session_token=token.mac' })
    const [header = ''] = /<header[^]*?<\/header>/.exec(customer.text) ?? []
    assert.match(header, /<a class="button" href="\/">Abrir o painel</, path)
    assert.doesNotMatch(header, /Entrar|Criar conta/, path)
    assert.match(String(customer.headers['cache-control']), /^private, no-(cache|store)$/, path)
    assert.notEqual(customer.headers.etag, visitor.headers.etag, path)
  }
})

test('a visitor reads the state of the service, its incidents and the last 90 days', async () => {
  const { db } = gateway.database
  await sql`
    insert into upstream_health_hours
    select date_trunc('hour', now() - make_interval(days => day)), 'secreto', 'openai', 100, day, array_fill(0, array[${sql.lit(LATENCY_BUCKETS)}])
    from generate_series(0, 20) day`.execute(db)
  assert.match((await open('/status')).text, /✓ Tudo funcionando/)
  const incident = {
    title: `Lento ${HOSTILE}`,
    message: 'Vendo.',
    vendors: ['openai'],
    modelIds: [],
  }
  const id = await openIncident(db, SYSTEM, { ...incident, severity: 'major' })
  const { status, text, headers } = await open('/status')
  assert.equal(status, 200)
  assert.match(text, /! Um incidente em andamento/)
  assert.match(text, /Lento &quot;&gt;&lt;script[^]*Grave[^]*Vendo\.[^]*Afeta: openai/)
  assert.doesNotMatch(text, /secreto|<script/)
  assert.match(text, /aria-label="openai: [\d,]+% em 90 dias; o pior dia foi [\d/]+, com 83,33%"/)
  for (const [name, count] of [
    ['all', 2],
    ['most', 4],
    ['few', 15],
    ['none', 69],
  ] as const) {
    const [, shape = ''] = new RegExp(`<path class="${name}" d="([^"]+)"`).exec(text) ?? []
    assert.equal(shape.split('M').length - 1, count, name)
  }
  assert.equal(headers['cache-control'], 'private, no-cache')
  const english = await open('/status', { 'accept-language': 'en-US,pt;q=0.5' })
  assert.match(english.text, /<html lang="en-US">[^]*! One ongoing incident/)
  assert.match(english.text, /Lento &quot;[^]*Major[^]*Vendo\.[^]*Affects: openai/)
  assert.match(
    english.text,
    /aria-label="openai: [\d.]+% over 90 days; the worst day was \w{3} \d+, \d{4}, at 83\.33%"/,
  )
  await resolveIncident(db, SYSTEM, { id, message: 'Voltou.' })
  const after = (await open('/status')).text
  assert.match(after, /Incidentes resolvidos[^]*Voltou\./)
  assert.match(after, /✓ Tudo funcionando/)
})

/** Every element ends, in order, and text has no character that XML refuses. */
function assertWellFormed(xml: string): void {
  const body = xml.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>/, '')
  assert.notEqual(body, xml)
  const open: string[] = []
  for (const [tag, end, name = '', closed] of body.matchAll(
    /<(\/?)([a-z]+)(?:\s+[a-z:]+="[^"<]*")*\s*(\/?)>/g,
  )) {
    if (end) assert.equal(open.pop(), name, tag)
    else if (!closed) open.push(name)
  }
  assert.deepEqual(open, [])
  const text = body.replaceAll(/<\/?[a-z]+(?:\s+[a-z:]+="[^"<]*")*\s*\/?>/g, '')
  assert.doesNotMatch(text, /[<>]|[^\P{Cc}\t\n\r]|&(?!(amp|lt|gt|quot|#39);)/u)
}

test('the feed has each incident with its updates, as XML whatever operators write, and is a 304 until something changes', async () => {
  const { db } = gateway.database
  const message = `Caiu & voltou ${HOSTILE}\u0001]]>`
  const incident = { title: `Fora ${HOSTILE}\u0007`, message, vendors: ['openai'], modelIds: [] }
  const id = await openIncident(db, SYSTEM, { ...incident, severity: 'major' })
  await resolveIncident(db, SYSTEM, { id, message: 'Voltou de vez.' })
  const page = await open('/status')
  assert.match(
    page.text,
    /<link\s+rel="alternate"\s+type="application\/atom\+xml"[^>]*href="\/status\.atom"/,
  )
  const feed = await open('/status.atom')
  assert.equal(feed.status, 200)
  assert.equal(feed.headers['content-type'], 'application/atom+xml; charset=utf-8')
  assert.equal(feed.headers['cache-control'], page.headers['cache-control'])
  assertWellFormed(feed.text)
  assert.ok(feed.text.includes(`<id>${PUBLIC_URL}/status.atom</id>`))
  const [entry = ''] = feed.text
    .split('<entry>')
    .filter((each) => each.includes(`<id>urn:uuid:${id}</id>`))
  assert.match(entry, /<title>Encerrado: Fora &quot;&gt;&lt;script[^<]*<\/title>/)
  assert.match(
    entry,
    /<content type="html">[^<]*Encerrado[^<]*Voltou de vez\.[^<]*Aberto[^<]*Caiu &amp;amp; voltou[^<]*&amp;lt;script[^<]*Gravidade:\s+Grave\. Afeta: openai/,
  )
  const ofReader = { 'if-none-match': String(feed.headers.etag) }
  assert.equal((await open('/status.atom', ofReader)).status, 304)
  await openIncident(db, SYSTEM, { ...incident, severity: 'minor' })
  assert.equal((await open('/status.atom', ofReader)).status, 200)
})

const IN_BOTH = [
  '/',
  '/modelos',
  '/modelos/gpt-4o',
  '/modelos/nada',
  '/cambio',
  '/verificar',
  '/conta/nada',
  '/status',
  '/termos',
  '/privacidade',
  '/termos/2020-01-01',
  '/docs',
  '/docs/streaming',
  '/docs/nada',
]

test('a page is in Portuguese for whoever asks for nothing, and in English for an address, a choice or a browser that says so', async () => {
  const english = { 'accept-language': 'en-GB,en;q=0.9,pt;q=0.8' }
  const chosen = (language: string) => ({ cookie: `a=b; catraca.language=${language}` })
  for (const path of IN_BOTH)
    for (const [language, address, headers] of [
      ['pt-BR', path, {}],
      ['pt-BR', path, { 'accept-language': '*' }],
      ['pt-BR', path, { 'accept-language': 'de, fr;q=0.5' }],
      ['pt-BR', path, { 'accept-language': 'pt-BR,en;q=0.9' }],
      ['pt-BR', path, { ...english, ...chosen('pt-BR') }],
      ['pt-BR', `${path}?lang=pt`, { ...english, ...chosen('en-US') }],
      ['pt-BR', `${path}?lang=fr`, {}],
      ['pt-BR', path, { cookie: 'xcatraca.language=en-US' }],
      ['en-US', path, english],
      ['en-US', path, chosen('en-US')],
      ['en-US', `${path}?lang=en`, chosen('pt-BR')],
    ] as const) {
      const { text, headers: answered } = await open(address, headers)
      const what = `${address} ${JSON.stringify(headers)}`
      assert.equal(/<html lang="([^"]+)">/.exec(text)?.[1], language, what)
      assert.match(text, language === 'pt-BR' ? />Criar conta</ : />Create account</, what)
      assert.equal(answered.vary, 'accept-encoding, accept-language, cookie', what)
    }
})

test('the switch of a page keeps the language in this browser, and no shared cache gets that page', async () => {
  for (const path of IN_BOTH) {
    const portuguese = await open(path)
    assert.match(portuguese.text, /<a href="\?lang=en" hreflang="en" lang="en"/, path)
    assert.equal(portuguese.headers['set-cookie'], undefined)
    const { text, headers } = await open(`${path}?lang=en`)
    const cookie = String(headers['set-cookie'])
    assert.match(cookie, /^catraca\.language=en-US; Path=\/; Max-Age=31536000; SameSite=Lax$/, path)
    assert.match(String(headers['cache-control']), /^private, no-(cache|store)$/, path)
    assert.match(text, /<a href="\?lang=pt" hreflang="pt-BR" lang="pt-BR"/, path)
    assert.match(
      (await open(path, { cookie: cookie.split(';', 1)[0] as string })).text,
      /<html lang="en-US">/,
    )
  }
})

test('search engines find each page in both languages', async () => {
  for (const [address, own] of [
    ['/cambio', '/cambio'],
    ['/cambio?lang=en', '/cambio?lang=en'],
  ]) {
    const { text } = await open(address as string)
    assert.ok(text.includes(`<link rel="canonical" href="${PUBLIC_URL}${own}"`), address)
    for (const [language, path] of [
      ['pt-BR', '/cambio'],
      ['en', '/cambio?lang=en'],
      ['x-default', '/cambio'],
    ] as const)
      assert.ok(
        text.includes(`<link rel="alternate" hreflang="${language}" href="${PUBLIC_URL}${path}"`),
        `${address} ${language}`,
      )
  }
})

/** Of the source: a name of a model, or of the company, may have them in both languages. */
const PORTUGUESE =
  /\b(não|você|para|com|são|preço|modelos|chamadas?|saldo|câmbio|chave|resposta)\b/i

test('a page in English has no word of Portuguese, but for the terms, which say so', async () => {
  // What the sandbox's own models do is said in Portuguese.
  const ids = (await listIds()).filter((id) => !id.startsWith('sandbox-'))
  const models = ids.map((id) => `/modelos/${id}`)
  for (const path of [...IN_BOTH, ...models]) {
    const { text } = await open(path, { 'accept-language': 'en' })
    const said = text
      .replaceAll(
        /https?:[^"<\s]*|href="[^"]*"|id="[^"]*"|aria-labelledby="[^"]*"|for="[^"]*"/g,
        '',
      )
      .replaceAll(/<(\w+)[^>]* lang="pt-BR"[^]*?<\/\1>|<footer[^]*<\/footer>/g, '')
      .replaceAll(/<script type[^]*?<\/script>|Um modelo/g, '')
    const at = PORTUGUESE.exec(said)?.index
    assert.equal(at && `${path}: ${said.slice(at - 90, at + 90)}`, undefined)
    if (/^\/(termos|privacidade)$/.test(path)) assert.match(text, /in Portuguese only/)
  }
})

test('money, numbers and dates of an English page are those of the dashboard in English', async () => {
  const { text } = await open('/modelos/gpt-4o', { 'accept-language': 'en' })
  assert.match(text, /<td class="num">US\$ 2\.50<\/td>\s*<td class="num">R\$ \d+\.\d+<\/td>/)
  assert.match(text, /<dd>128,000 tokens<\/dd>/)
  assert.match(text, /US\$ 1 = R\$ \d\.\d{4}, [^<]*\b[A-Z][a-z]{2} \d+, \d{4}/)
})

test('every page that the server writes has the style of the site and a way back', async () => {
  for (const path of ['/cambio', '/termos', '/privacidade', '/termos/2020-01-01', '/status']) {
    const { text } = await open(path)
    assert.ok(text.includes(SITE_STYLE), path)
    assert.match(text, /<a class="logo" href="\/"/, path)
  }
  for (const path of ['/chave-vazada', '/unsubscribe/nada', '/auth/link', '/mailbox']) {
    const { text } = await open(path)
    assert.match(text, /<a class="home" href="\/">/, path)
  }
})

test('a page is sent once: the same version is a 304, in each encoding', async () => {
  const shared = await open('/cambio')
  assert.equal(shared.headers['cache-control'], 'public, max-age=0, s-maxage=60')
  const plain = await open('/modelos/gpt-4o')
  const decoders = { br: brotliDecompressSync, gzip: gunzipSync }
  for (const [encoding, decode] of Object.entries(decoders)) {
    const packed = await open('/modelos/gpt-4o', { 'accept-encoding': encoding })
    assert.equal(packed.headers['content-encoding'], encoding)
    assert.equal(decode(packed.bytes).toString(), plain.text)
    assert.notEqual(packed.headers.etag, plain.headers.etag)
    for (const etag of [
      packed.headers.etag,
      plain.headers.etag,
      `W/${String(plain.headers.etag)}`,
    ]) {
      const again = await open('/modelos/gpt-4o', {
        'if-none-match': String(etag),
        'accept-encoding': encoding,
      })
      assert.deepEqual([again.status, again.text], [304, ''])
    }
  }
  const refused = await open('/modelos/gpt-4o', { 'accept-encoding': 'br;q=0, gzip;q=0' })
  assert.equal(refused.headers['content-encoding'], undefined)
})

test('a page runs only our own files, and nobody may frame it', async () => {
  for (const path of ['/', '/modelos', '/modelos/gpt-4o']) {
    const { headers, text } = await open(path)
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'sha256-[^']+'; /)
    assert.match(policy, /form-action 'none'; frame-ancestors 'none'$/)
    assert.doesNotMatch(policy, /unsafe|connect-src/)
    // Data blocks do not run.
    for (const [tag] of text.matchAll(/<script[^>]*>/g))
      assert.match(tag, /type="application\/(ld\+)?json"|src="\/assets\//)
    assert.doesNotMatch(text, / (style|on\w+)="/)
  }
})

test('a hostile name of a model is text on every page', async () => {
  for (const path of ['/', '/modelos', '/modelos/gpt-4o']) {
    const { text } = await open(path)
    assert.ok(text.includes('GPT '), path)
    assert.ok(!text.includes('<script>alert'), path)
    assert.ok(!text.includes('"><script'), path)
  }
})

test('each published model has a page with its exact price, and the sitemap lists exactly those that can be called', async () => {
  const { json } = await ask(baseUrl, '/model-prices')
  const ids = await listIds()
  assert.ok(ids.length > 20)
  for (const id of ids) {
    const { status, text } = await open(`/modelos/${id}`)
    assert.equal(status, 200, id)
    assert.ok(text.includes(`<code>${id}</code>`), id)
    const price = json.prices.find(({ model_id }: any) => model_id === id)
    const exact = String(price.tiers[0].input_brl).replace('.', ',')
    if (price.tiers[0].input_brl > 0) assert.ok(text.includes(`R$ ${exact}`), `${id}: ${exact}`)
  }
  const { headers, text } = await open('/sitemap.xml')
  assert.match(String(headers['content-type']), /^application\/xml/)
  const listed = [...text.matchAll(/<loc>[^<]*\/modelos\/([^<]+)<\/loc>/g)].map(([, id]) => id)
  const callable = json.prices.filter(({ is_available }: any) => is_available)
  assert.deepEqual(
    listed,
    callable.map(({ model_id }: any) => model_id),
  )
  for (const [, place = ''] of text.matchAll(/<loc>([^<]*)<\/loc>/g))
    assert.ok(place.startsWith(`${PUBLIC_URL}/`), place)
})

test('a model that is not in the catalog has no page, nor has a path that looks like one', async () => {
  for (const path of [
    '/modelos/gpt-4.1',
    '/modelos/nada',
    '/modelos/__proto__',
    `/modelos/${encodeURIComponent(HOSTILE)}`,
  ]) {
    const { status, text } = await open(path)
    assert.equal(status, 404, path)
    assert.match(text, /Modelo não encontrado/)
    assert.match(text, /noindex/)
    assert.doesNotMatch(text, /alert/)
  }
  assert.doesNotMatch((await open('/sitemap.xml')).text, /gpt-4\.1</)
})

test('another name of a model leads to its page', async () => {
  const { status, headers } = await open('/modelos/openai/gpt-4o-mini')
  assert.deepEqual([status, headers.location], [301, '/modelos/gpt-4o-mini'])
})

test('robots.txt keeps search engines out of a sandbox, whose prices are not real', async () => {
  const { status, headers, text } = await open('/robots.txt')
  assert.equal(status, 200)
  assert.match(String(headers['content-type']), /^text\/plain/)
  assert.equal(text, 'User-agent: *\nDisallow: /\n')
  assert.match((await open('/')).text, /<meta name="robots" content="noindex"/)
})

test('a planned rise of a markup is on the page of its model, and in the history once it is in force', async () => {
  const path = '/modelos/gpt-4o-mini'
  const startsAt = new Date(Date.now() + 40 * 86_400_000)
  await scheduleMarkup(gateway.database.db, SYSTEM, {
    modelId: 'gpt-4o-mini',
    markupE4: 13_000n,
    configuredE4: 12_500n,
    startsAt,
    reason: 'teste',
    noticeDays: 30,
  })
  // A second server has read nothing yet.
  const other = await startAnother()
  try {
    const page = await request(new URL(path, other.baseUrl))
    const text = await page.body.text()
    assert.match(text, /Mudança de preço marcada/)
    assert.match(text, /Multiplicador de 1,25× para 1,3×/)
  } finally {
    await other.stop()
    await other.remove()
  }
})

test('the site has the colours of the dashboard', async () => {
  const dashboard = await readFile(join(import.meta.dirname, '../../web/src/style.css'), 'utf8')
  const tokens = [...SITE_STYLE.matchAll(/--([a-z-]+):(#[\da-f]{6})/g)]
  assert.ok(tokens.length > 20)
  for (const [, name, colour] of tokens)
    assert.ok(dashboard.includes(`--${name}: ${colour};`), `${name} ${colour}`)
})

function startAnother() {
  return startLocalNode({ databaseUrl: gateway.database.databaseUrl, env: { PUBLIC_URL } })
}
