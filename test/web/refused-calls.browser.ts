/** The view of refused calls: why, when, by which key, and what to do; its filters are in the URL. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask, askChat, sound } from '../harness/ask.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { seedRefusals } from '../harness/seed-refusals.ts'
import { startBrowser, type BrowserUnderTest } from './browser.ts'
import { fund } from './fund.ts'
import { lookAt } from './look-at.ts'
import { enterAs } from './sign-up.ts'

const LIA = { name: 'Lia Prado', email: 'lia@exemplo.com.br', password: 'uma frase bem comprida' }
const DAY_MS = 86_400_000

let gateway: GatewayProcess
let browser: BrowserUnderTest
let secret: string

before(async () => {
  gateway = await startGatewayProcess()
  browser = await startBrowser(new URL(gateway.node.baseUrl).origin)
  await enterAs(browser, LIA)
  const funded = await fund(gateway.database.db, LIA.email)
  secret = funded.secret
  const noon = Date.now() - 3 * DAY_MS
  await seedRefusals(gateway.database.db, {
    customerId: funded.customerId,
    apiKeyId: funded.key.id,
    rows: [
      ...Array.from({ length: 55 }, (_, hours) => ({
        at: new Date(noon - hours * 3_600_000),
        code: 'insufficient_balance',
        status: 402,
        refusals: 20 + hours,
        modelId: 'gpt-4o',
      })),
      { at: new Date(noon), code: 'key_day_cap_exceeded', status: 402, refusals: 7 },
      { at: new Date(noon), code: 'upstream_error', status: 502, refusals: 3, modelId: 'gpt-5' },
    ],
  })
})
after(async () => {
  await browser?.close()
  await gateway?.stop()
})

test('without refused calls the view says where else to look', async () => {
  const page = await browser.newPage()
  await page.goto('/uso?ver=recusadas&de=2026-01-01&ate=2026-01-02')
  await page.getByText('Nenhuma chamada recusada neste período').waitFor()
  await page.getByText(/a chave da chamada não foi reconhecida/).waitFor()
  await lookAt(page, 'uso-recusadas-vazia')
  await page.close()
})

test('each reason has its count and its next step, opens to its hours, and Back undoes it', async () => {
  const page = await browser.newPage()
  await page.goto('/uso')
  await page.getByRole('tab', { name: 'Recusadas' }).click()
  const reasons = page.getByRole('table', { name: 'Os motivos, o mais frequente primeiro' })
  const short = reasons.getByRole('row', { name: /Saldo insuficiente/ })
  await short.waitFor()
  assert.match((await short.textContent()) ?? '', /402 insufficient_balance.*2\.585$/)
  assert.equal(
    await short.getByRole('link', { name: 'Fazer uma recarga' }).getAttribute('href'),
    '/recargas',
  )
  const hours = page.getByRole('table', { name: /^Chamadas com erro por hora/ }).getByRole('row')
  await page.getByRole('button', { name: 'Carregar mais' }).click()
  await hours.nth(57).waitFor()
  assert.equal(await hours.count(), 58)
  await lookAt(page, 'uso-recusadas')

  await reasons.getByRole('button', { name: 'Limite por dia da chave' }).click()
  await hours.nth(2).waitFor({ state: 'detached' })
  assert.match(
    (await hours.nth(1).textContent()) ?? '',
    /Limite por dia da chave.*sem modelo.*Site.*7$/,
  )
  assert.match(page.url(), /motivo=key_day_cap_exceeded/)
  await page.goBack()
  await hours.nth(49).waitFor()
  await page.getByLabel('Modelo').selectOption({ label: 'Todos' })
  await page.close()
})

test('a day of the chart opens to its hours', async () => {
  const page = await browser.newPage()
  await page.goto('/uso?ver=recusadas')
  const bars = page
    .getByRole('list', { name: 'Chamadas com erro por parte do período' })
    .getByRole('button')
  await bars.nth(29).waitFor()
  assert.equal(await bars.count(), 30)
  await bars.nth(25).click()
  // The thirty days stay until the hours are there.
  await bars.nth(24).waitFor({ state: 'detached' })
  await bars.nth(23).waitFor()
  assert.equal(await bars.count(), 24)
  assert.match((await bars.first().getAttribute('aria-label')) ?? '', /^00:00: /)
  await page.goBack()
  await bars.nth(29).waitFor()
  await page.close()
})

test('a call that was just refused is shown, and the list of calls leads to it', async () => {
  await askChat(gateway.node.baseUrl, secret, sound('modelo-errado'))
  for (let refusals = 0; refusals === 0;)
    refusals = (await ask(gateway.node.baseUrl, '/usage/refusals?code=model_not_found', { secret }))
      .json.refusals
  const page = await browser.newPage()
  await page.goto('/uso')
  await page.getByRole('button', { name: 'Recusadas' }).click()
  await page.getByRole('button', { name: 'Hoje' }).click()
  await page.getByRole('button', { name: 'Modelo que não existe' }).waitFor()
  await page.close()
})
