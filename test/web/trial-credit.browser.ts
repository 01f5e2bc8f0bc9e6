/** The offer of the trial credit: once for each CPF, and what it says when it is refused. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { startBrowser, type BrowserUnderTest } from './browser.ts'
import { lookAt } from './look-at.ts'
import { enterAs, type Person } from './sign-up.ts'

const NINA: Person = {
  name: 'Nina Prado',
  email: 'nina@exemplo.com.br',
  password: 'uma frase bem comprida',
}
const OTTO: Person = { ...NINA, name: 'Otto Reis', email: 'otto@exemplo.com.br' }
const CPF = '52998224725'

let gateway: GatewayProcess
let browser: BrowserUnderTest
let other: BrowserUnderTest

before(async () => {
  gateway = await startGatewayProcess({ TRIAL_CREDIT_BRL: '7' })
  const { origin } = new URL(gateway.node.baseUrl)
  browser = await startBrowser(origin)
  other = await startBrowser(origin)
})
after(async () => {
  await browser?.close()
  await other?.close()
  await gateway?.stop()
})

test('the trial credit is offered until it is taken', async () => {
  await enterAs(browser, NINA)
  const page = await browser.newPage()
  await page.goto('/recargas')
  await page.getByLabel('CPF ou CNPJ').pressSequentially(CPF)
  await page.getByRole('button', { name: 'Ganhar R$ 7,00' }).click()
  await page.getByRole('button', { name: 'Ganhar R$ 7,00' }).waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('button', { name: /^Gerar Pix/ }).waitFor()
  assert.equal(await page.getByText('por nossa conta').count(), 0)
  await page.close()
})

test('a mistyped CPF is shown at its field, and a refusal says why and what to do', async () => {
  await enterAs(other, OTTO)
  const page = await other.newPage()
  await page.goto('/recargas')
  const offer = page.getByRole('region', { name: /^Experimente com R\$\s7,00/ })
  const taxId = offer.getByLabel('CPF ou CNPJ')
  await offer.getByRole('button', { name: 'Ganhar R$ 7,00' }).click()
  await offer.getByText('Informe seu CPF').waitFor()
  await taxId.pressSequentially('52998224726')
  await offer.getByRole('button', { name: 'Ganhar R$ 7,00' }).click()
  await offer.getByText('os dois últimos dígitos não conferem').waitFor()
  assert.equal(await page.evaluate('document.activeElement.name'), 'cpf_cnpj')
  await failToReadProfile(page)
  assert.equal(await taxId.inputValue({ timeout: 1_000 }), '529.982.247-26')
  await taxId.fill('')
  await taxId.pressSequentially(CPF)
  await offer.getByRole('button', { name: 'Ganhar R$ 7,00' }).click()
  await offer
    .getByRole('alert')
    .getByText(/já foi usado com este CPF.*faça uma recarga/)
    .waitFor()
  await lookAt(page, 'credito-recusado')
  // The profile has the number now: it is not asked for again, here and in the playground.
  await page.goto('/playground')
  await page.getByRole('button', { name: 'Ganhar R$ 7,00' }).waitFor()
  assert.equal(await page.getByLabel('CPF ou CNPJ').count(), 0)
  await page.getByRole('link', { name: 'Prefiro recarregar com Pix' }).click()
  await page.getByRole('button', { name: /^Gerar Pix/ }).waitFor()
  await page.close()
})

/** As for a customer who comes back from another tab while the network is down. */
async function failToReadProfile(page: Page): Promise<void> {
  let tries = 0
  const given = Promise.withResolvers<void>()
  await page.route('**/v1/me/dashboard-stats', async (route) => {
    if (route.request().method() !== 'GET') return route.continue()
    await route.abort()
    // The dashboard tries three times.
    if (++tries === 3) given.resolve()
  })
  await page.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`)
  await given.promise
  await page.unroute('**/v1/me/dashboard-stats')
}
