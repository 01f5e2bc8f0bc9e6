/** The documentation in a real browser: looks in both themes, narrow screens, search, trying out, and no scripts. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { startBrowser, type BrowserUnderTest } from './browser.ts'
import { assertStill, watchShifts } from './layout-shift.ts'
import { lookAt } from './look-at.ts'

/** All that a first visit of a guide loads, compressed. */
const BYTES_MAX = 45_000
const PAGES = [
  { path: '/docs', heading: 'Documentação para desenvolvedores', name: 'docs' },
  { path: '/docs/primeira-chamada', heading: 'Primeira chamada', name: 'docs-primeira' },
  { path: '/docs/imagens', heading: 'Imagens', name: 'docs-imagens' },
  { path: '/docs/limites', heading: 'Limites', name: 'docs-limites' },
  { path: '/docs/webhooks', heading: 'Webhooks', name: 'docs-webhooks' },
  { path: '/docs/erros', heading: 'Erros', name: 'docs-erros' },
  { path: '/docs/clientes/codex', heading: 'Codex', name: 'docs-codex' },
  { path: '/docs/referencia/recargas', heading: 'Recargas: referência', name: 'docs-recargas' },
  { path: '/docs/operadores/ajustes', heading: 'Ajustes (operação)', name: 'docs-ajustes' },
  { path: '/docs/nada', heading: 'Página não encontrada', name: 'docs-nada' },
]

let gateway: GatewayProcess
let browser: BrowserUnderTest

before(async () => {
  gateway = await startGatewayProcess()
  browser = await startBrowser(new URL(gateway.node.baseUrl).origin)
})
after(async () => {
  await browser?.close()
  await gateway?.stop()
})

for (const { path, heading, name } of PAGES)
  test(`${path} in light and dark, on a desktop and on a phone, and at 320 px with everything open`, async () => {
    const page = await browser.newPage()
    await page.goto(path)
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    await lookAt(page, name)
    await page.setViewportSize({ width: 320, height: 640 })
    await page.evaluate(`for (const each of document.querySelectorAll('details')) {
      each.removeAttribute('name'); each.open = true }`)
    const needed = await page.evaluate<number>('document.documentElement.scrollWidth')
    assert.ok(needed <= 320, `${path} needs ${needed} px`)
    await page.close()
  })

test('a first visit is light, loads neither the search nor the trial, and nothing moves', async () => {
  const page = await browser.newPage()
  await page.setViewportSize({ width: 390, height: 844 })
  await watchShifts(page)
  await page.goto('/docs/referencia/chaves', { waitUntil: 'networkidle' })
  const sizes = await page.evaluate<{ name: string; size: number }[]>(
    `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
      .map(({ name, encodedBodySize }) => ({ name, size: encodedBodySize }))`,
  )
  const bytes = sizes.reduce((sum, { size }) => sum + size, 0)
  assert.ok(bytes > 5_000 && bytes < BYTES_MAX, JSON.stringify(sizes))
  assert.ok(sizes.some(({ name }) => /docs-[^/]*\.js/.test(name)))
  assert.ok(!sizes.some(({ name }) => /search|try-|busca/.test(name)), JSON.stringify(sizes))
  await assertStill(page, 'docs')
  await page.close()
})

test('the search finds a section and leads to it, by keyboard alone', async () => {
  const page = await browser.newPage()
  await page.goto('/docs')
  await page.getByLabel('Buscar na documentação').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('assinatura')
  await page.getByRole('link', { name: /Confira a assinatura/ }).waitFor()
  await lookAt(page, 'docs-busca')
  await page.getByLabel('Buscar na documentação').press('Enter')
  await page.waitForURL(/\/docs\/webhooks#conferir$/)
  await page.getByRole('heading', { name: '3. Confira a assinatura' }).waitFor()
  await page.getByLabel('Buscar na documentação').fill('xyzzy')
  await page.getByText('Nada encontrado').waitFor()
  await page.close()
})

test('a reading operation and a chat are tried with a key that is nowhere afterwards', async () => {
  const page = await browser.newPage()
  await page.goto('/docs/referencia/uso')
  await page.getByRole('button', { name: 'Experimentar GET /usage', exact: true }).click()
  await page.getByLabel('Sua chave de API').fill(gateway.secret)
  await lookAt(page, 'docs-experimentar')
  await page.getByRole('button', { name: 'Enviar' }).click()
  await page.getByText(/^200 em \d+ ms$/).waitFor()
  await page.getByRole('region', { name: 'A resposta' }).getByText('balance_brl').waitFor()
  const kept = await page.evaluate<string>(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])',
  )
  assert.ok(!kept.includes(gateway.secret))
  await page.goto('/docs/referencia/chamadas-de-modelos')
  await page.getByRole('button', { name: 'Experimentar POST /chat/completions' }).click()
  assert.equal(await page.getByLabel('Sua chave de API').inputValue(), '')
  await page.getByLabel('Sua chave de API').fill(gateway.secret)
  await page.getByRole('button', { name: 'Enviar' }).click()
  await page.getByText(/^200 em \d+ ms$/).waitFor()
  const answer = page.getByRole('region', { name: 'A resposta' })
  await answer.getByText('cost_billed_brl').waitFor()
  await page.close()
})

test('only what reads can be tried, and the chat; no operation of the operators', async () => {
  const page = await browser.newPage()
  await page.goto('/docs/referencia/recargas')
  const buttons = await page.getByRole('button', { name: /^Experimentar/ }).all()
  const names = await Promise.all(buttons.map((button) => button.getAttribute('aria-label')))
  assert.ok(names.length > 1)
  for (const name of names) assert.match(name ?? '', /^Experimentar GET /)
  await page.goto('/docs/operadores/ajustes')
  assert.equal(await page.getByRole('button', { name: /^Experimentar/ }).count(), 0)
  await page.close()
})

test('without JavaScript the guides and the reference are there, with the contents in place of the search', async () => {
  const context = await browser.context.browser()?.newContext({ javaScriptEnabled: false })
  assert.ok(context)
  const page = await context.newPage()
  await page.goto(new URL('/docs', gateway.node.baseUrl).href)
  await page.locator('noscript p').waitFor()
  await page.getByRole('link', { name: 'Streaming' }).first().click()
  await page.getByRole('heading', { name: 'Streaming', level: 1 }).waitFor()
  await page.getByText('Python', { exact: true }).click()
  await page.getByText('pip install openai').waitFor()
  await context.close()
})

test('the language that was chosen stands first in all samples of the documentation', async () => {
  const page = await browser.newPage()
  await page.goto('/docs')
  const first = page.locator('.samples').first().locator('details').first()
  assert.equal(await first.locator('summary').textContent(), 'curl')
  await page.getByText('Python', { exact: true }).click()
  await page.goto('/docs/streaming')
  assert.equal(await first.locator('summary').textContent(), 'Python')
  await page.getByText('pip install openai').waitFor()
  assert.equal(await page.locator('.samples').first().locator('details[open]').count(), 1)
  assert.equal(await page.evaluate<string>("localStorage.getItem('catraca.client')"), 'python')
  await page.evaluate("localStorage.removeItem('catraca.client')")
  await page.close()
})

test('a sample is copied as it is shown', async () => {
  const page = await browser.newPage()
  await page.goto('/docs/embeddings')
  await page.getByRole('button', { name: 'Copiar Código: Dois textos' }).click()
  await page
    .getByRole('button', { name: 'Copiar Código: Dois textos' })
    .getByText('Copiado')
    .waitFor()
  const copied = await page.evaluate<string>('navigator.clipboard.readText()')
  assert.match(copied, /^curl .*\/v1\/embeddings \\\n/)
  assert.match(copied, /'\{"model":/)
  await page.close()
})

test('no page has errors in its console', () => {
  const faults = browser.faults.filter((fault) => !/status of 404 .*\/docs\/nada/.test(fault))
  assert.deepEqual(faults, [])
})
