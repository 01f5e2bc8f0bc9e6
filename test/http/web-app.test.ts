/** The dashboard's files at `/`: what is a page, what is not, and what browsers may do with them. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import Fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import type { Provider } from '../../src/identity/sign-in/providers.ts'
import { addWebApp } from '../../src/http/dashboard/web-app.ts'

const PAGE = '<!doctype html><title>Painel</title>'

let dist: string
let server: FastifyInstance

async function serve(
  folder: string,
  providers: readonly Provider[] = [],
): Promise<FastifyInstance> {
  const made = Fastify()
  const webApp = await addWebApp(made, providers, folder)
  made.get('/v1/usage', () => 'uso')
  made.get('/', (_request, reply) => webApp.sendFirstPage(reply))
  made.setNotFoundHandler(
    (request, reply) => webApp.answerPage(request, reply) ?? reply.code(404).send('nada'),
  )
  return made
}

before(async () => {
  dist = await mkdtemp(join(tmpdir(), 'catraca-web-'))
  await mkdir(join(dist, 'assets'))
  await writeFile(join(dist, 'index.html'), PAGE)
  await writeFile(join(dist, 'assets/base-abc.js'), 'let a')
  await writeFile(join(dist, 'assets/base-abc.js.br'), 'brotli')
  server = await serve(dist)
})

after(async () => {
  await server.close()
  await rm(dist, { recursive: true })
})

function open(url: string, headers: Record<string, string> = {}): Promise<LightMyRequestResponse> {
  return server.inject({ url, headers: { accept: 'text/html,*/*;q=0.8', ...headers } })
}

test('whatever page is opened, the first page answers, and is asked for again', async () => {
  for (const url of ['/', '/entrar', '/recargas?pagina=2', '/sessoes/uma%20conversa']) {
    const answer = await open(url)
    assert.equal(answer.statusCode, 200, url)
    assert.equal(answer.body, PAGE)
    assert.equal(answer.headers['cache-control'], 'no-cache')
    assert.match(String(answer.headers['content-type']), /^text\/html/)
  }
})

test('every page of the dashboard is found, and an address that is none is a 404 with the page that says so', async () => {
  const pages: string[] = []
  for (const [file, base] of [
    ['router.tsx', ''],
    ['admin-routes.tsx', '/admin'],
  ] as const) {
    const text = await readFile(new URL(`../../web/src/${file}`, import.meta.url), 'utf8')
    for (const [, path = ''] of text.matchAll(/ path: '([^']+)'/g))
      // The site knows which models there are.
      if (path !== '/modelos/$')
        pages.push((path === '/admin' ? path : base + path).replace('$id', 'um-id'))
  }
  assert.ok(pages.length > 35)
  for (const url of pages) assert.equal((await open(url)).statusCode, 200, url)
  for (const url of ['/nada', '/admin/nada', '/uso/nada', '/entrar/nada', '/equipes/a/b']) {
    const answer = await open(url)
    assert.equal(answer.statusCode, 404, url)
    assert.equal(answer.body, PAGE, url)
  }
})

test('a visitor gets the drawn page in the language of the browser, which may run only what is in it', async () => {
  const drawn = (language: string): string =>
    `<script>theme()</script><style>p{}</style><p>${language}</p>`
  for (const language of ['pt-BR', 'en-US'])
    for (const ending of ['', '.br'])
      await writeFile(join(dist, `entrar.${language}.html${ending}`), drawn(language))
  const other = await serve(dist)
  const ask = (headers: Record<string, string>) =>
    other.inject({ url: '/entrar?voltar=/uso', headers: { accept: 'text/html', ...headers } })
  for (const [languages, expected] of [
    ['', 'pt-BR'],
    ['pt-BR,en;q=0.9', 'pt-BR'],
    ['de, en-GB;q=0.9, pt', 'en-US'],
  ] as const) {
    const { body, headers } = await ask({ 'accept-language': languages })
    assert.equal(body, drawn(expected), languages)
    assert.equal(headers['cache-control'], 'no-cache')
    assert.match(String(headers.vary), /accept-language, cookie/)
    const packed = await ask({ 'accept-language': languages, 'accept-encoding': 'br' })
    assert.equal(packed.headers['content-encoding'], 'br')
    for (const given of [headers, packed.headers])
      assert.match(
        String(given['content-security-policy']),
        /script-src 'self' 'sha256-[^']+'; style-src 'self' 'sha256-[^']+'; /,
      )
  }
  assert.equal((await ask({ cookie: 'catraca.session_token=a.b' })).body, PAGE)
  await other.close()
  for (const language of ['pt-BR', 'en-US'])
    for (const ending of ['', '.br']) await rm(join(dist, `entrar.${language}.html${ending}`))
})

test('a visitor gets the page that was drawn with the services of the settings, in their order', async () => {
  const files = ['entrar.pt-BR.html', 'entrar.pt-BR.google-github.html', 'entrar.pt-BR.github.html']
  for (const file of files)
    await writeFile(join(dist, file), `<script>1</script><style>p{}</style>${file}`)
  for (const [providers, expected] of [
    [[], /entrar.pt-BR.html$/],
    [['github'], /entrar.pt-BR.github.html$/],
    [['google', 'github'], /entrar.pt-BR.google-github.html$/],
    // A build that does not know them: the code asks which there are.
    [['microsoft'], /^<!doctype html><title>Painel/],
  ] as const) {
    const other = await serve(dist, providers)
    const { body, headers } = await other.inject({
      url: '/entrar',
      headers: { accept: 'text/html' },
    })
    assert.match(body, expected)
    if (providers[0] !== 'microsoft')
      assert.match(String(headers['content-security-policy']), /style-src 'self' 'sha256-/)
    await other.close()
  }
  for (const file of files) await rm(join(dist, file))
})

test('a page may run nothing but our own files, and nobody may frame it', async () => {
  const { headers } = await open('/entrar')
  assert.equal(
    headers['content-security-policy'],
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  )
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.equal(headers['referrer-policy'], 'same-origin')
})

test('files with a hash in their name are kept for good, and come compressed', async () => {
  const plain = await open('/assets/base-abc.js')
  assert.equal(plain.body, 'let a')
  assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable')
  const small = await open('/assets/base-abc.js', { 'accept-encoding': 'br' })
  assert.equal(small.headers['content-encoding'], 'br')
  assert.equal(small.body, 'brotli')
  assert.match(String(small.headers['content-type']), /javascript/)
})

test('a path that is not a page stays a 404: API paths, removed files, programs, and methods other than GET', async () => {
  for (const url of [
    '/v1/nada',
    '/v1',
    '/auth/nada',
    '/metrics/nada',
    '/files/nada',
    '/assets/base-old.js',
    '/assets/../../package.json',
    '/%2e%2e/package.json',
  ])
    assert.notEqual((await open(url)).body, PAGE, url)
  assert.equal((await open('/entrar', { accept: '*/*' })).statusCode, 404)
  const posted = await server.inject({
    method: 'POST',
    url: '/entrar',
    headers: { accept: 'text/html' },
  })
  assert.equal(posted.statusCode, 404)
  assert.equal((await open('/v1/usage')).body, 'uso')
})

test('without a build every page explains how to make one, and the rest works', async () => {
  const bare = await serve(join(dist, 'assets'))
  for (const url of ['/', '/entrar']) {
    const page = await bare.inject({ url, headers: { accept: 'text/html' } })
    assert.equal(page.statusCode, 503)
    assert.match(page.body, /npm run web:build/)
  }
  assert.equal((await bare.inject('/v1/usage')).body, 'uso')
  assert.equal((await bare.inject('/entrar')).statusCode, 404)
  await bare.close()
})

test('a script is found by its name, whatever the hash of its content', async () => {
  const made = Fastify()
  const webApp = await addWebApp(made, [], dist)
  assert.equal(webApp.findScript('base'), '/assets/base-abc.js')
  assert.equal(webApp.findScript('nada'), undefined)
  await made.close()
})
