/** From sign-up to the home page; and every page checked by axe, on a phone and in dark mode. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { startBrowser, type BrowserUnderTest } from './browser.ts'
import { lookAt } from './look-at.ts'
import { PAGES } from './pages.ts'
import { seedUseOf } from './seed-use-of.ts'
import { confirmEmail, enterAsOperator, followMail, signUp, type Person } from './sign-up.ts'

const ANA: Person = {
  name: 'Ana Souza',
  email: 'ana@exemplo.com.br',
  password: 'uma frase bem comprida',
}

const OPERATOR: Person = {
  name: 'Olga Prado',
  email: 'olga@admin.example',
  password: 'uma frase bem comprida',
}

const FIRST_LOAD_BYTES_MAX = 250_000

let gateway: GatewayProcess
let browser: BrowserUnderTest
/** A visitor who never signs in. */
let anonymous: BrowserUnderTest
let operator: BrowserUnderTest

before(async () => {
  gateway = await startGatewayProcess({ ADMIN_EMAILS: OPERATOR.email })
  const { origin } = new URL(gateway.node.baseUrl)
  browser = await startBrowser(origin)
  anonymous = await startBrowser(origin)
  operator = await startBrowser(origin)
  await enterAsOperator(operator, OPERATOR, gateway.database.db)
})
after(async () => {
  await browser?.close()
  await anonymous?.close()
  await operator?.close()
  await gateway?.stop()
})

test('a visitor is sent to the sign-in page, which explains errors in Portuguese', async () => {
  const page = await browser.newPage()
  await page.goto('/chaves')
  await page.getByRole('heading', { name: 'Entrar', level: 1 }).waitFor()
  await page.getByRole('button', { name: 'Entrar', exact: true }).click()
  await page.getByText('Digite seu e-mail.').waitFor()
  assert.equal(await page.getByLabel('E-mail').getAttribute('aria-invalid'), 'true')
  await page.getByLabel('E-mail').fill('ninguem@exemplo.com.br')
  await page.getByLabel('Senha').fill('nenhuma senha boa')
  await page.getByRole('button', { name: 'Entrar', exact: true }).click()
  await page.getByRole('alert').filter({ hasText: 'E-mail ou senha não conferem' }).waitFor()
  await page.close()
})

test('signing up and confirming by mail leads home; after signing out, a link leads back in', async () => {
  const page = await browser.newPage()
  await signUp(page, ANA)
  await confirmEmail(page, ANA)
  await page.getByText('0 de 3 passos feitos').waitFor()
  await lookAt(page, 'primeiros-passos')
  await page.getByRole('button', { name: /Sua conta/ }).click()
  await page.getByRole('button', { name: 'Sair' }).click()
  await page.getByRole('heading', { name: 'Entrar', level: 1 }).waitFor()
  assert.equal(new URL(page.url()).search, '', 'who leaves is not to be led back')
  await page.getByLabel('E-mail').fill(ANA.email)
  await page.getByRole('button', { name: 'Receber um link por e-mail' }).click()
  await page.getByRole('heading', { name: 'Confira seu e-mail' }).waitFor()
  await followMail(page, ANA.email, '/auth/link')
  await page.getByRole('button', { name: 'Entrar' }).click()
  await page.getByRole('heading', { name: 'Início', level: 1 }).waitFor()
  await page.close()
})

test('the chosen theme is applied before the first paint', async () => {
  const page = await anonymous.newPage()
  await page.goto('/confirmado')
  await page.getByRole('button', { name: 'Tema escuro' }).click()
  await page.reload()
  assert.equal(await page.evaluate('document.documentElement.className'), 'dark')
  await page.getByRole('button', { name: 'Tema do sistema' }).click()
  await page.reload()
  assert.equal(await page.evaluate('document.documentElement.className'), '')
  await page.close()
})

test('by keyboard, the first stop skips to the content', async () => {
  const page = await browser.newPage()
  await page.goto('/')
  await page.getByRole('heading', { name: 'Início', level: 1 }).waitFor()
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'Pular para o conteúdo')
  await page.keyboard.press('Enter')
  assert.equal(await page.evaluate('document.activeElement.id'), 'conteudo')
  await page.close()
})

test('after use, home shows the balance, the day and the models, and no first steps', async () => {
  await seedUseOf(gateway.database.db, ANA.email)
  const page = await browser.newPage()
  await page.goto('/')
  await page.getByRole('heading', { name: 'Gasto por dia' }).waitFor()
  await page.getByText('GPT-4o', { exact: true }).waitFor()
  const tiles = page.getByRole('region', { name: 'Os últimos 30 dias' })
  await tiles
    .getByText(/que nos 30 dias anteriores/)
    .first()
    .waitFor()
  await page.getByRole('button', { name: '7 dias' }).click()
  await page.getByRole('region', { name: 'Os últimos 7 dias' }).waitFor()
  await page.close()
})

test('the first load of the home page is under 250 kB of scripts and styles', async () => {
  const page = await browser.newPage()
  await page.goto('/')
  await page.getByRole('heading', { name: 'Gasto por dia' }).waitFor()
  const bytes = await page.evaluate<number>(
    `performance.getEntriesByType('resource')
      .filter(({ name }) => /\\.(js|css)$/.test(name))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
  )
  assert.ok(bytes > 50_000 && bytes < FIRST_LOAD_BYTES_MAX, `${bytes} bytes`)
  await page.close()
})

for (const { path, heading, isPublic = false, isForAdmin = false } of PAGES) {
  test(`${path} in light and dark, on a desktop and on a phone`, async () => {
    const signedIn = isForAdmin ? operator : browser
    const page = await (isPublic ? anonymous : signedIn).newPage()
    await page.goto(path)
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    await lookAt(page, path.slice(1).replaceAll('/', '-') || 'inicio')
    await page.close()
  })
}

test('no page has errors in its console', () => {
  const faults = [...browser.faults, ...anonymous.faults, ...operator.faults]
  // A browser reports the status of the page that it opened.
  assert.deepEqual(
    faults.filter((fault) => !/status of 404 .*\/nada-aqui$/.test(fault)),
    [],
  )
})
