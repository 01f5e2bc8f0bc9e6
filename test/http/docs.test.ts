// deep: starts processes
/** The documentation: complete by the API's own description, every link and every sample works, and nothing is heavy. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { errorAnchor, errorCodesOf, listOperations } from '../../src/site/docs/api-document.ts'
import { ERROR_ADVICE, errorAdvice } from '../../src/site/docs/error-advice.ts'
import { listErrorCodes } from '../../src/site/docs/errors-page.ts'
import { exampleBodies } from '../../src/site/docs/example-bodies.ts'
import type { SearchEntry } from '../../src/site/docs/doc-routes.ts'
import { refusals } from '../../src/gateway/calls/refusal.ts'
import { describeRoutes } from '../../web/contract/describe-routes.ts'
import { searchEntries } from '../../web/site/rank-entries.ts'
import { ask } from '../harness/ask.ts'
import { makeRefusal } from '../harness/make-refusal.ts'
import { startGateway } from '../harness/gateway.ts'

/** Compressed, and the search index too. */
const PAGE_BYTES_MAX = 30_000
const SAMPLES_MIN = 20
/** Pages of the dashboard, which a server without a built dashboard does not have. */
const OF_THE_DASHBOARD = new Set(['/entrar', '/cadastrar'])
const FILE = join(import.meta.dirname, '../../docs/examples/reuniao.wav')
const hasCurl = spawnSync('curl', ['--version']).status === 0

const gateway = await startGateway()
const { baseUrl } = gateway.node
const { origin } = new URL(baseUrl)
after(() => gateway.stop())
const operations = listOperations((await describeRoutes()) as object)

interface Opened {
  readonly path: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly ids: ReadonlySet<string>
}

const opened = new Map<string, Promise<Opened>>()

function open(path: string): Promise<Opened> {
  const known = opened.get(path)
  if (known) return known
  const page = read(path)
  opened.set(path, page)
  return page
}

async function read(path: string): Promise<Opened> {
  const answer = await fetch(new URL(path, origin), { headers: { accept: 'text/html' } })
  const text = await answer.text()
  const ids = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id))
  return { path, status: answer.status, headers: answer.headers, text, ids }
}

/** All pages, from the contents of the first one. */
const pages: Opened[] = []
before(async () => {
  const home = await open('/docs')
  const paths = [...home.text.matchAll(/href="(\/docs[^"#]*)"/g)].map(([, path = '']) => path)
  for (const path of new Set(['/docs', ...paths])) pages.push(await open(path))
})

test('every operation has one place in the reference, with three samples, and operators have theirs apart', () => {
  for (const { name, anchor, isForOperators } of operations) {
    const found = pages.filter(({ ids }) => ids.has(anchor))
    assert.equal(found.length, 1, name)
    const [{ path, text } = { path: '', text: '' }] = found
    assert.equal(path.startsWith('/docs/operadores/'), isForOperators, name)
    for (const client of ['curl', 'Python', 'JavaScript'])
      assert.ok(text.includes(`aria-label="Código: ${client}: ${name}"`), `${name}: ${client}`)
  }
})

test('the body of every sample is one that its operation takes', () => {
  const models = {
    chat: 'a',
    claude: 'b',
    claudeSmall: 'c',
    embedding: 'd',
    rerank: 'g',
    moderation: 'j',
    image: 'e',
    speech: 'h',
    video: 'i',
    audio: 'f',
  }
  const bodies = exampleBodies(models)
  const ajv = new Ajv2020({ strict: false, formats: { uuid: true, 'date-time': true } })
  const withBodies = operations.filter(({ body }) => body)
  assert.deepEqual(Object.keys(bodies).sort(), withBodies.map(({ name }) => name).sort())
  for (const { name, body } of withBodies)
    assert.ok(ajv.validate(body?.schema ?? {}, bodies[name]), `${name}: ${ajv.errorsText()}`)
})

test('every error code of the API is explained, and no other', async () => {
  const codes = listErrorCodes(operations).map(({ code }) => code)
  assert.ok(codes.length > 80)
  assert.deepEqual(
    codes.filter((code) => errorAdvice(code) === undefined),
    [],
  )
  const used = codes.map((code) => errorAdvice(code))
  assert.deepEqual(
    Object.keys(ERROR_ADVICE).filter((code) => !used.includes(ERROR_ADVICE[code])),
    [],
  )
  const { ids } = await open('/docs/erros')
  assert.deepEqual(
    codes.filter((code) => !ids.has(errorAnchor(code))),
    [],
  )
})

test('the codes of an operation are read from its description, all of them', () => {
  for (const { name, answers } of operations)
    for (const { status, answer } of answers.filter(({ status: at }) => at >= 400)) {
      const read = errorCodesOf({ answers: [{ status, answer }] })
      // The 401 of REST has no body, and a database that is down no code.
      const hasNone = status === 401 || name === 'GET /healthz/db'
      assert.ok(read.length > 0 || hasNone, `${name} ${status}`)
      for (const { code } of read) assert.match(code, /^[a-z][a-z0-9_ -]*$/, name)
    }
})

test('every refusal of a model call is explained', () => {
  for (const each of Object.entries(refusals)) {
    const { code } = makeRefusal(each)
    assert.ok(ERROR_ADVICE[code], `${each[0]}: ${code}`)
  }
})

test('every link leads somewhere, to the very place', async () => {
  let links = 0
  for (const { path, text } of pages) {
    for (const [, href = ''] of text.matchAll(/<a [^>]*?href="([^"]+)"/g)) {
      if (/^(mailto:|\?lang=)/.test(href)) continue
      const [target = '', id] = (href.startsWith('#') ? `${path}${href}` : href).split('#')
      assert.ok(target.startsWith('/'), `${path} -> ${href}`)
      if (OF_THE_DASHBOARD.has(target)) continue
      const page = await open(target)
      assert.ok([200, 503].includes(page.status), `${path} -> ${href}: ${page.status}`)
      if (id !== undefined) assert.ok(page.ids.has(id), `${path} -> ${href}`)
      links++
    }
  }
  assert.ok(links > 500)
})

test('no id is twice on a page, and no page is heavy', async () => {
  for (const { path, text, ids } of [...pages, await open('/docs/busca.json')]) {
    assert.equal([...text.matchAll(/ id="([^"]+)"/g)].length, ids.size, path)
    const packed = await fetch(new URL(path, origin), { headers: { 'accept-encoding': 'br' } })
    const bytes = Number(packed.headers.get('content-length'))
    assert.ok(bytes > 1_000 && bytes < PAGE_BYTES_MAX, `${path}: ${bytes}`)
  }
})

test('a page runs only our own files and connects to nobody else', async () => {
  for (const { path, headers, text } of pages) {
    const policy = headers.get('content-security-policy') ?? ''
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'sha256-/, path)
    assert.match(policy, /connect-src 'self';/)
    assert.doesNotMatch(policy, /unsafe/)
    assert.doesNotMatch(text, / (style|on\w+)="/)
    assert.match(text, /<meta name="description" content="[^"]{20,}"/)
  }
  const { status, text } = await open('/docs/nada')
  assert.equal(status, 404)
  assert.match(text, /Página não encontrada/)
  assert.equal((await open('/docs/__proto__')).status, 404)
})

test('the search finds guides, operations and errors, with and without accents', async () => {
  const entries = JSON.parse((await open('/docs/busca.json')).text) as SearchEntry[]
  const first = (typed: string) => searchEntries(entries, typed)[0]?.path
  assert.equal(first('áudio'), first('audio'))
  assert.match(first('assinatura') ?? '', /^\/docs\/webhooks#/)
  assert.equal(first('insufficient_balance'), '/docs/erros#insufficient_balance')
  assert.match(first('bulk-revoke') ?? '', /^\/docs\/referencia\/chaves#post-api-keys-bulk-revoke/)
  assert.deepEqual(searchEntries(entries, 'xyzzy'), [])
  assert.deepEqual(searchEntries(entries, ' '), [])
  for (const { path } of entries) {
    const [target = '', id] = path.split('#')
    if (id !== undefined) assert.ok((await open(target)).ids.has(id), path)
  }
})

test('the search of an English page finds English words', async () => {
  const { text } = await open('/docs/search.json')
  const entries = JSON.parse(text) as SearchEntry[]
  const first = (typed: string) => searchEntries(entries, typed)[0]
  assert.deepEqual(first('signature')?.title, '3. Verify the signature')
  assert.match(first('budget')?.path ?? '', /^\/docs\/(chaves-e-orcamentos|erros)/)
  const page = await fetch(new URL('/docs', origin), { headers: { 'accept-language': 'en' } })
  assert.match(await page.text(), /data-index="\/docs\/search\.json"/)
})

test('the sitemap lists guides and reference, and not the operators\u2019 part', async () => {
  const { text } = await open('/sitemap.xml')
  for (const { path } of pages)
    assert.equal(text.includes(`${path}</loc>`), !path.startsWith('/docs/operadores/'), path)
})

test(
  'every curl of the guides works, copied as it is shown, with a key in its place',
  { skip: !hasCurl && 'there is no curl' },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'catraca-guides-'))
    try {
      await copyFile(FILE, join(folder, 'reuniao.mp3'))
      // The receipt of a top-up goes to it.
      await gateway.database.db
        .updateTable('customers')
        .set({ email: 'maria@exemplo.com.br' })
        .where('id', '=', gateway.customerId)
        .execute()
      const profile = { full_name: 'Maria Souza', cpf_cnpj: '529.982.247-25' }
      const options = { method: 'PUT', body: profile, secret: gateway.secret }
      assert.equal((await ask(baseUrl, '/me/profile', options)).status, 200)
      const samples = pages
        .filter(({ path }) => !/^\/docs\/(referencia|operadores)\//.test(path))
        .flatMap(({ path, text }) => curlsOf(text).map((code) => ({ path, code })))
      assert.ok(samples.length >= SAMPLES_MIN, String(samples.length))
      for (const { path, code } of samples) await runCurl(path, code, folder)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
)

function curlsOf(page: string): string[] {
  return [...page.matchAll(/<pre[^>]*data-sample="curl"\s*>\n?([^]*?)<\/pre>/g)].map(
    ([, code = '']) =>
      code
        .replace(/<[^>]*>/g, '')
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&quot;', '"')
        .replaceAll('&#39;', "'")
        .replaceAll('&amp;', '&'),
  )
}

async function runCurl(path: string, code: string, folder: string): Promise<void> {
  assert.match(code, /^curl /, path)
  const command = code
    .replace(/^curl /, 'curl --silent --show-error --fail-with-body --max-time 60 ')
    .replaceAll('SUA_CHAVE', gateway.secret)
  const run = promisify(execFile)('sh', ['-c', command], { cwd: folder })
  const { stdout } = await run.catch((error: Error & { stdout?: string }) => {
    throw new Error(`${path}\n${code}\n${error.message}\n${error.stdout ?? ''}`)
  })
  assert.ok(stdout.length > 0, path)
}
