/** Keys in the browser: secrets are not lost, and limits mean what the form says. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { startBrowser, type BrowserUnderTest } from './browser.ts'
import { lookAt } from './look-at.ts'
import { enterAs, type Person } from './sign-up.ts'

const GIL: Person = { name: 'Gil Prates', email: 'gil@exemplo.com.br', password: 'uma frase longa' }

let gateway: GatewayProcess
let browser: BrowserUnderTest

before(async () => {
  gateway = await startGatewayProcess()
  browser = await startBrowser(new URL(gateway.node.baseUrl).origin)
  await enterAs(browser, GIL)
})
after(async () => {
  await browser?.close()
  await gateway?.stop()
})

async function openForm(page: Page) {
  await page
    .getByRole('button', { name: /^Criar/ })
    .first()
    .click()
  const form = page.getByRole('dialog', { name: 'Criar chave' })
  await form.getByLabel('Nome').waitFor()
  return form
}

async function makeKey(page: Page, name: string): Promise<void> {
  const form = await openForm(page)
  await form.getByLabel('Nome').fill(name)
  await form.getByRole('button', { name: 'Criar chave' }).click()
  await page.getByRole('heading', { name: `A chave “${name}” está pronta` }).waitFor()
}

function storedKey(name: string) {
  return gateway.database.db
    .selectFrom('api_keys')
    .selectAll()
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
}

test('each new secret stays until it is kept, and nobody leaves the page without being asked', async () => {
  const page = await browser.newPage()
  await page.goto('/chaves')
  await makeKey(page, 'Primeira')
  await makeKey(page, 'Segunda')
  const first = page.getByRole('region', { name: 'A chave “Primeira” está pronta' })
  const second = page.getByRole('region', { name: 'A chave “Segunda” está pronta' })
  for (const each of [first, second])
    assert.match(
      (await each.getByLabel('A chave', { exact: true }).textContent()) ?? '',
      /^sk-svc-/,
    )
  await page.getByRole('link', { name: 'Uso', exact: true }).first().click()
  const question = page.getByRole('dialog', { name: 'Já guardou o segredo?' })
  await question.getByText('Os 2 segredos desta página').waitFor()
  await lookAt(page, 'chaves-segredo-sair')
  await question.getByRole('button', { name: 'Cancelar' }).click()
  await second.getByRole('button', { name: 'Já guardei a chave' }).click()
  await second.waitFor({ state: 'detached' })
  await first.waitFor()
  const asked = page.waitForEvent('dialog')
  void page.close({ runBeforeUnload: true })
  const dialog = await asked
  assert.equal(dialog.type(), 'beforeunload')
  const closed = page.waitForEvent('close')
  await dialog.accept()
  await closed
})

test('a click beside a filled dialog discards nothing; beside an empty one it closes it', async () => {
  const page = await browser.newPage()
  await page.goto('/chaves')
  const form = await openForm(page)
  await page.mouse.click(5, 5)
  await form.waitFor({ state: 'hidden' })
  await openForm(page)
  await form.getByLabel('Nome').fill('Escrita com cuidado')
  await page.mouse.click(5, 5)
  assert.equal(await form.getByLabel('Nome').inputValue(), 'Escrita com cuidado')
  await form.getByRole('button', { name: 'Fechar' }).click()
  await form.waitFor({ state: 'hidden' })
  await page.close()
})

test('a dialog that is opened again before the browser reports its end stays open', async () => {
  const page = await browser.newPage()
  await page.goto('/chaves')
  const form = await openForm(page)
  // A slow phone handles both taps before it reports the dialog's end.
  await page.evaluate(`(async () => {
    const dialog = document.querySelector('dialog[open]')
    const buttons = [...document.querySelectorAll('button')]
    const reported = new Promise((resolve) => dialog.addEventListener('close', resolve))
    dialog.querySelector('button[aria-label="Fechar"]').click()
    await null
    buttons.find(({ textContent }) => textContent === 'Criar chave').click()
    await reported
  })()`)
  assert.equal(await page.getByRole('dialog').count(), 1)
  await form.getByLabel('Nome').fill('Escrita depois')
  await page.close()
})

test('a key with all models has no list, so it calls those that come later', async () => {
  assert.equal((await storedKey('Primeira')).model_ids, null)
})

test("a key expires at the end of the day in the customer's zone, not the browser's", async () => {
  const { cookies } = await browser.context.storageState()
  const context = await browser.context.browser()?.newContext({
    baseURL: new URL(gateway.node.baseUrl).origin,
    locale: 'pt-BR',
    timezoneId: 'Asia/Tokyo',
  })
  assert.ok(context)
  await context.addCookies(cookies)
  const page = await context.newPage()
  await page.goto('/chaves')
  const form = await openForm(page)
  await form.getByLabel('Nome').fill('De viagem')
  await form.getByText(/^Mais limites/).click()
  await form.getByLabel('Vale até').fill('2031-05-10')
  await form.getByRole('button', { name: 'Criar chave' }).click()
  await page.getByRole('heading', { name: 'A chave “De viagem” está pronta' }).waitFor()
  const { expires_at } = await storedKey('De viagem')
  assert.equal(expires_at?.toISOString(), '2031-05-11T02:59:59.000Z', 'midnight in São Paulo')
  await page.getByRole('button', { name: 'Alterar De viagem' }).click()
  assert.equal(await page.getByLabel('Vale até').inputValue(), '2031-05-10')
  await context.close()
})

test('a budget is taken and shown in reais beside dollars', async () => {
  const page = await browser.newPage()
  await page.goto('/chaves')
  const form = await openForm(page)
  await form.getByLabel('Nome').fill('Com orçamento')
  await form.getByLabel('Orçamento').fill('100')
  await form.getByText(/^Hoje são US\$/).waitFor()
  await lookAt(page, 'chaves-orcamento')
  await form.getByRole('button', { name: 'Criar chave' }).click()
  await page.getByRole('heading', { name: 'A chave “Com orçamento” está pronta' }).waitFor()
  const rates = await page.request.get('/v1/fx-rates?limit=1')
  const { fx_rates } = (await rates.json()) as { fx_rates: { rate: number }[] }
  const stored = await page.request.get('/v1/api-keys')
  const { api_keys } = (await stored.json()) as {
    api_keys: { name: string; budget: { limit_usd: number } | null }[]
  }
  const limit = api_keys.find(({ name }) => name === 'Com orçamento')?.budget?.limit_usd
  assert.equal(limit, Number((100 / (fx_rates[0]?.rate ?? Number.NaN)).toFixed(6)))
  await page.getByText(/R\$.0,00 de R\$.100,00 por mês/).waitFor()
  await page.close()
})

test('an unknown filter in the address is refused, and shows no key', async () => {
  const page = await browser.newPage()
  await page.goto('/chaves?situacao=constructor')
  await page.getByRole('alert').first().waitFor()
  assert.equal(await page.getByText('Primeira', { exact: true }).count(), 0)
  await page.close()
})
