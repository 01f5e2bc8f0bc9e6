/** Without a network: acts fail at once and are never made up for, lists say so, and missing code has words. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { saveProfile } from '../../src/customers/profiles.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { seedPaidTopUp } from '../harness/seed-paid-top-up.ts'
import { screenshot, settled, startBrowser, useLook, type BrowserUnderTest } from './browser.ts'
import { fund } from './fund.ts'
import { enterAs } from './sign-up.ts'

const BIA = { name: 'Bia Lima', email: 'bia@exemplo.com.br', password: 'uma frase bem comprida' }
const UNREACHED = 'Não conseguimos falar com a Catraca'
const NOTICE = /^Sem conexão\./

let gateway: GatewayProcess
let browser: BrowserUnderTest
let customerId: string

before(async () => {
  gateway = await startGatewayProcess()
  browser = await startBrowser(new URL(gateway.node.baseUrl).origin)
  await enterAs(browser, BIA)
  const { db } = gateway.database
  customerId = (await fund(db, BIA.email)).customerId
  await saveProfile(db, customerId, { full_name: BIA.name, tax_id: '52998224725' })
  await seedPaidTopUp(db, { customerId, cents: 20_000, daysAgo: 1, method: 'pix' })
})
afterEach(() => setOffline(false))
after(async () => {
  await browser?.close()
  await gateway?.stop()
})

async function open(path: string): Promise<Page> {
  const page = await browser.newPage()
  await page.goto(path)
  await settled(page)
  return page
}

function setOffline(isOffline: boolean): Promise<void> {
  return browser.context.setOffline(isOffline)
}

async function count(table: 'top_ups' | 'refunds'): Promise<number> {
  const rows = await gateway.database.db
    .selectFrom(table)
    .select('id')
    .where('customer_id', '=', customerId)
    .execute()
  return rows.length
}

/** The network is back, and the page has read what it shows: an act that waited would have been sent with that. */
async function comeBack(page: Page): Promise<void> {
  const reads = page.waitForResponse('**/v1/**')
  await setOffline(false)
  await page.getByText(NOTICE).waitFor({ state: 'detached' })
  await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
  await reads
  await page.waitForLoadState('networkidle')
}

/** In each theme and width; axe cannot be loaded without a network, and needs none of it. */
async function picture(page: Page, name: string): Promise<void> {
  for (const [theme, width] of [
    ['dark', 'phone'],
    ['light', 'phone'],
    ['dark', 'desktop'],
    ['light', 'desktop'],
  ] as const) {
    await useLook(page, theme, width)
    await screenshot(page, `${name}-${width}-${theme}`)
  }
}

test('a refund that is confirmed without a network fails at once, and is not made when the network is back', async () => {
  const page = await open('/reembolsos')
  await page.getByLabel('Quanto você quer de volta?').fill('50')
  await page.getByRole('button', { name: 'Pedir reembolso' }).click()
  await setOffline(true)
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Pedir reembolso' }).click()
  await dialog.getByText(UNREACHED).waitFor()
  await picture(page, 'reembolso-sem-conexao')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  await comeBack(page)
  assert.equal(await count('refunds'), 0)
  // The same form acts once it is sent again.
  await page.getByRole('button', { name: 'Pedir reembolso' }).click()
  await dialog.getByRole('button', { name: 'Pedir reembolso' }).click()
  await page.getByText(/^Pedido feito/).waitFor()
  assert.equal(await count('refunds'), 1)
  await page.close()
})

test('a Pix without a network fails at once, and is not made when the network is back', async () => {
  const page = await open('/recargas')
  const before = await count('top_ups')
  await setOffline(true)
  await page.getByRole('button', { name: /^Gerar Pix/ }).click()
  await page.getByText(UNREACHED).waitFor()
  await comeBack(page)
  assert.equal(await count('top_ups'), before)
  await page.close()
})

test('a list that cannot be read says so and comes by itself; one that is shown says that it may be old', async () => {
  const page = await open('/chaves')
  await page.getByText('Site').first().waitFor()
  await setOffline(true)
  await page.getByText(NOTICE).waitFor()
  await page.getByText('Site').first().waitFor()
  await page.getByLabel('Situação').selectOption('revoked')
  await page.getByText(UNREACHED).waitFor()
  await picture(page, 'chaves-sem-conexao')
  await setOffline(false)
  await page.getByText('Nenhuma chave encontrada').waitFor()
  await page.getByText(NOTICE).waitFor({ state: 'detached' })
  await page.close()
})

test('a server that does not answer is no connection, too, until it answers', async () => {
  const page = await open('/chaves')
  await page.route('**/v1/**', (route) => route.abort())
  await page.getByLabel('Situação').selectOption('revoked')
  await page.getByText(NOTICE).waitFor()
  await page.getByText(UNREACHED).waitFor()
  await page.unroute('**/v1/**')
  await page.getByRole('button', { name: 'Tentar de novo' }).click()
  await page.getByText('Nenhuma chave encontrada').waitFor()
  await page.getByText(NOTICE).waitFor({ state: 'detached' })
  await page.close()
})

for (const [what, lose, find] of [
  ['offline', () => setOffline(true), () => setOffline(false)],
  [
    'after an update of the service',
    (page: Page) =>
      page.route('**/assets/SessionsPage-*.js', (route) => route.fulfill({ status: 404 })),
    (page: Page) => page.unroute('**/assets/SessionsPage-*.js'),
  ],
] as const)
  test(`a page whose code is missing ${what} has words and a button, in the frame`, async () => {
    const page = await open('/chaves')
    await lose(page)
    await page.getByRole('link', { name: 'Sessões' }).click()
    await page.getByRole('heading', { name: 'Esta página não abriu' }).waitFor()
    await page.getByText('Falta uma parte desta página').waitFor()
    await page.getByRole('link', { name: 'Chaves' }).waitFor()
    await picture(page, `codigo-ausente-${what.slice(0, 7)}`)
    await find(page)
    await page.getByRole('button', { name: 'Recarregar a página' }).click()
    await page.getByRole('heading', { name: 'Sessões', level: 1 }).waitFor()
    await page.close()
  })

test('the search of pages without its code leaves the page as it is', async () => {
  const page = await open('/recargas')
  await page.getByLabel('Valor').fill('77')
  await page.route('**/assets/CommandMenu-*.js', (route) => route.abort())
  await page.keyboard.press('Control+k')
  await page.getByText('Falta uma parte desta página').waitFor()
  assert.equal(await page.getByLabel('Valor').inputValue(), '77')
  await page.unroute('**/assets/CommandMenu-*.js')
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByText('Ir para').waitFor()
  await page.close()
})

test('without the code of the dashboard the page is not white', async () => {
  const page = await browser.newPage()
  await page.route('**/assets/base-*.js', (route) => route.abort())
  await page.goto('/')
  await page.getByText('A Catraca não carregou').waitFor()
  await picture(page, 'painel-ausente')
  await page.unroute('**/assets/base-*.js')
  await page.getByRole('button', { name: 'Recarregar a página' }).click()
  await page.getByRole('heading', { name: 'Início', level: 1 }).waitFor()
  await page.close()
})
