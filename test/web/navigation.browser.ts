/** The way to every page: the navigation in groups, and the menu of Ctrl-K. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { assertAccessible, startBrowser, type BrowserUnderTest } from './browser.ts'
import { fund } from './fund.ts'
import { lookAt } from './look-at.ts'
import { enterAs } from './sign-up.ts'

const LEO = { name: 'Léo Pinto', email: 'leo@exemplo.com.br', password: 'uma frase bem comprida' }

let gateway: GatewayProcess
let browser: BrowserUnderTest
let keyId: string

before(async () => {
  gateway = await startGatewayProcess()
  browser = await startBrowser(new URL(gateway.node.baseUrl).origin)
  await enterAs(browser, LEO)
  keyId = (await fund(gateway.database.db, LEO.email)).key.id
})
after(async () => {
  await browser?.close()
  await gateway?.stop()
})

test('every page of the navigation is in view from a laptop of 1366 by 640 on, in named groups', async () => {
  const page = await browser.newPage()
  await page.setViewportSize({ width: 1366, height: 640 })
  await page.goto('/modelos')
  const navigation = page.getByRole('navigation', { name: 'Principal' }).first()
  await navigation.getByRole('link', { name: 'Status' }).waitFor()
  for (const group of ['Construir', 'Dinheiro', 'Equipe', 'Conta'])
    await navigation.getByRole('list', { name: group }).waitFor()
  for (const height of [640, 768, 810, 900, 1080]) {
    await page.setViewportSize({ width: 1366, height })
    const box = await navigation.boundingBox()
    assert.ok(box)
    const links = await navigation.getByRole('link').all()
    assert.equal(links.length, 18)
    for (const link of links) {
      const own = await link.boundingBox()
      assert.ok(
        own && own.y >= box.y && own.y + own.height <= box.y + box.height + 0.5,
        `${height}`,
      )
      assert.ok(own.height >= 24, `${own.height} px can be hit`)
    }
  }
  await assertAccessible(page, 'navigation')
  await page.close()
})

function results(page: Page): Locator {
  return page.getByRole('listbox', { name: 'Resultados' })
}

async function search(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: /^Procurar página/ }).fill(text)
  await results(page).getByRole('option').first().waitFor()
}

test('Ctrl-K leads to pages, keys, models and acts, by keyboard alone', async () => {
  const page = await browser.newPage()
  await page.goto('/')
  await page.getByRole('heading', { name: 'Início', level: 1 }).waitFor()
  await search(page, 'reembolso')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Reembolsos', level: 1 }).waitFor()
  assert.equal(await page.getByRole('dialog').count(), 0)

  await search(page, 'Site')
  await results(page).getByRole('option', { name: /^Site/ }).waitFor()
  await lookAt(page, 'ir-para')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Uso', level: 1 }).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('chave'), keyId)

  await search(page, 'sandbox reasoning')
  await results(page)
    .getByRole('option', { name: /Modelo$/ })
    .waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^Modelo: .*Reasoning/i }).waitFor()

  await search(page, 'criar chave')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Nome').waitFor()
  await page.keyboard.press('Control+k')
  assert.equal(await page.getByRole('dialog').count(), 1, 'not over a dialog that asks something')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.waitForURL(({ search }) => search === '')

  await page.setViewportSize({ width: 700, height: 640 })
  await search(page, 'uso')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Uso', level: 1 }).waitFor()
  await page.setViewportSize({ width: 1280, height: 900 })

  await search(page, 'tema escuro')
  await page.keyboard.press('Enter')
  assert.equal(await page.evaluate('document.documentElement.className'), 'dark')
  await page.getByRole('button', { name: 'Procurar (Ctrl K)' }).click()
  await page.getByRole('combobox', { name: /^Procurar página/ }).fill('não existe nada assim')
  await page.getByText('Nada com esse nome.').waitFor()
  assert.deepEqual(browser.faults, [])
  await page.close()
})
