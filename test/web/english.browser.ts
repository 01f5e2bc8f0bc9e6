/** The dashboard in English: chosen by the browser, the switch and the account; every page checked by axe. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { startBrowser, type BrowserUnderTest } from './browser.ts'
import { lookAt } from './look-at.ts'
import { detailPages, PAGES } from './pages.ts'
import { seedOwnThings, type OwnThings } from './seed-things.ts'
import { seedUseOf } from './seed-use-of.ts'
import { enterAsOperator, type Person } from './sign-up.ts'
import english from '../../web/src/language/en.json' with { type: 'json' }

const EVA: Person = {
  name: 'Eva Stone',
  email: 'eva@admin.example',
  password: 'uma frase bem comprida',
}

let gateway: GatewayProcess
let browser: BrowserUnderTest
/** A visitor whose browser prefers English. */
let visitor: BrowserUnderTest
let own: OwnThings

before(async () => {
  gateway = await startGatewayProcess({ ADMIN_EMAILS: EVA.email })
  const { origin } = new URL(gateway.node.baseUrl)
  browser = await startBrowser(origin)
  visitor = await startBrowser(origin, { locale: 'en-GB' })
  await enterAsOperator(browser, EVA, gateway.database.db)
  await seedUseOf(gateway.database.db, EVA.email)
  own = await seedOwnThings(gateway, EVA)
})
after(async () => {
  await browser?.close()
  await visitor?.close()
  await gateway?.stop()
})

const languageOf = (page: Page): Promise<string> => page.evaluate('document.documentElement.lang')

test('a browser that prefers English gets it, and the switch keeps what was typed', async () => {
  const page = await visitor.newPage()
  await page.goto('/entrar')
  await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor()
  assert.equal(await languageOf(page), 'en')
  await page.getByLabel('Email').fill('someone@example.com')
  await page.getByRole('button', { name: 'PT: em português' }).click()
  await page.getByRole('heading', { name: 'Entrar', level: 1 }).waitFor()
  assert.equal(await page.getByLabel('E-mail').inputValue(), 'someone@example.com')
  await page.reload()
  await page.getByRole('heading', { name: 'Entrar', level: 1 }).waitFor()
  assert.equal(await languageOf(page), 'pt-BR')
  await page.getByRole('button', { name: 'EN: in English' }).click()
  await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor()
  await page.close()
})

test('the preference changes the language at once, and for good', async () => {
  const page = await browser.newPage()
  await page.goto('/perfil')
  await page.getByLabel('Idioma preferido').selectOption('English')
  await page.getByRole('button', { name: 'Salvar preferências' }).click()
  await page.getByRole('heading', { name: 'Profile', level: 1 }).waitFor()
  assert.equal(await languageOf(page), 'en')
  await page.reload()
  await page.getByRole('heading', { name: 'Profile', level: 1 }).waitFor()
  await page.evaluate("document.cookie = 'catraca.language=pt-BR; path=/'")
  await page.goto('/')
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  assert.equal(await languageOf(page), 'en', 'the account decides, not this browser')
  await page.close()
})

for (const { path, heading, isPublic = false } of PAGES)
  test(`${path} in English, in light and dark, on a desktop and on a phone`, async () => {
    const page = await (isPublic ? visitor : browser).newPage()
    await page.goto(path)
    const name =
      path === '/admin/ajustes'
        ? 'Adjustments'
        : ((english as Record<string, string>)[heading] ?? heading)
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    await lookAt(page, `en${path.replaceAll('/', '-')}`)
    await page.close()
  })

test('the pages for visitors in English fit a phone of 320 px, in light and dark', async () => {
  for (const [path, heading] of [
    ['/', 'AI models, paid in Brazilian reais by Pix'],
    ['/modelos', 'Models and prices'],
    ['/modelos/gpt-4o', 'GPT-4o'],
    ['/verificar', 'Verify a charge'],
    ['/cambio', 'Exchange rate'],
    ['/termos', 'Termos de uso'],
    ['/docs', 'Documentation for developers'],
    ['/docs/ferramentas', 'Tools'],
    ['/docs/chaves-e-orcamentos', 'Keys and budgets'],
    ['/docs/erros', 'Errors'],
    ['/docs/clientes/claude-code', 'Claude Code'],
    ['/docs/referencia/uso', 'Usage and balance: reference'],
  ] as const) {
    const page = await visitor.newPage()
    await page.goto(path)
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    assert.equal(await languageOf(page), 'en-US')
    await lookAt(page, `en-visita${path.replaceAll('/', '-')}`)
    await page.setViewportSize({ width: 320, height: 640 })
    const needed = await page.evaluate<number>('document.documentElement.scrollWidth')
    assert.ok(needed <= 320, `${path} needs ${needed} px`)
    await page.close()
  }
})

test('a language that is chosen on the site goes with the visitor to the sign-up and back', async () => {
  const page = await visitor.newPage()
  await page.goto('/modelos')
  await page.getByRole('link', { name: 'PT: em português' }).click()
  await page.getByRole('heading', { name: 'Modelos e preços', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'Criar conta' }).first().click()
  await page.getByRole('heading', { name: 'Criar conta', level: 1 }).waitFor()
  await page.getByRole('button', { name: 'EN: in English' }).click()
  await page.getByRole('heading', { name: 'Create account', level: 1 }).waitFor()
  await page.goto('/cambio')
  await page.getByRole('heading', { name: 'Exchange rate', level: 1 }).waitFor()
  await page.close()
})

test('the search of an English page of the documentation finds English words', async () => {
  const page = await visitor.newPage()
  await page.goto('/docs')
  await page.getByLabel('Search the docs').fill('signature')
  await page.getByRole('link', { name: /Verify the signature/ }).click()
  await page.getByRole('heading', { name: '3. Verify the signature' }).waitFor()
  await page.getByRole('button', { name: 'Copy Code: Create a webhook' }).waitFor()
  await page.getByLabel('Search the docs').fill('xyzzy')
  await page.getByText('Nothing found').waitFor()
  await page.close()
})

test('the calculator of the English page reads and writes English', async () => {
  const page = await visitor.newPage()
  await page.goto('/')
  await page.getByRole('button', { name: 'Use an example' }).click()
  await page.locator('#total').waitFor()
  const said = await page.locator('#resultado').innerText()
  assert.match(said, /By Pix, on Catraca, US\$\u00a0\d+\.\d\d would be/)
  assert.match(said, /R\$\u00a0[\d,]+\.\d\d (less|more) than on an international card/)
  await page.close()
})

test('the detail pages in English', async () => {
  for (const { path } of detailPages(own, EVA.name)) {
    const page = await browser.newPage()
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await lookAt(page, `en${path.replace(/[^/]{20,}$/, 'um').replaceAll('/', '-')}`)
    await page.close()
  }
})

test('no page has errors in its console', () => {
  const faults = [...browser.faults, ...visitor.faults]
  // A browser reports the status of the page that it opened.
  assert.deepEqual(
    faults.filter((fault) => !/status of 404 .*\/nada-aqui$/.test(fault)),
    [],
  )
})
