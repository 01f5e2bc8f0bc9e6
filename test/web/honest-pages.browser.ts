/** Pages say what is so: without a network, without a balance, while new calls come in. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { startBrowser, type BrowserUnderTest } from './browser.ts'
import { fund } from './fund.ts'
import { lookAt } from './look-at.ts'
import { enterAs, type Person } from './sign-up.ts'

const LIA: Person = { name: 'Lia Castro', email: 'lia@exemplo.com.br', password: 'uma frase longa' }
const SESSION = '12345678901234567890'

let gateway: GatewayProcess
let browser: BrowserUnderTest
let secret: string
let customerId: string

before(async () => {
  gateway = await startGatewayProcess()
  browser = await startBrowser(new URL(gateway.node.baseUrl).origin)
  await enterAs(browser, LIA)
  ;({ secret, customerId } = await fund(gateway.database.db, LIA.email))
})
after(async () => {
  await browser?.close()
  await gateway?.stop()
})

async function call(): Promise<void> {
  const answer = await fetch(`${gateway.node.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      'x-svc-session-id': SESSION,
    },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Olá!' }],
      max_tokens: 16,
    }),
  })
  assert.equal(answer.status, 200, await answer.text())
}

test('offline, the status page blames nobody; without its incidents it does not say that all is well', async () => {
  const page = await browser.newPage()
  await page.goto('/status')
  await page.getByText('Tudo funcionando').waitFor()
  await browser.context.setOffline(true)
  await page.getByText('Você está sem internet').waitFor()
  assert.equal(
    await page.getByText(/não está (respondendo|funcionando)|Tudo funcionando/).count(),
    0,
  )
  await lookAt(page, 'status-offline')
  await browser.context.setOffline(false)
  await page.getByText('Tudo funcionando').waitFor()
  await page.route('**/v1/incidents/active', (route) => route.fulfill({ status: 404, body: '{}' }))
  await page.reload()
  await page.getByText('não deu para ler a lista de incidentes').waitFor()
  assert.equal(await page.getByText('Tudo funcionando').count(), 0)
  await page.unroute('**/v1/incidents/active')
  await page.route('**/v1/healthz', (route) => route.abort())
  await page.reload()
  await page.getByText('Pode ser a sua conexão ou o serviço').waitFor()
  await page.close()
})

test('a cold load and a cold error have the frame', async () => {
  const page = await browser.newPage()
  let answer = (): void => {}
  const asked = new Promise<void>((resolve) => {
    answer = resolve
  })
  await page.route('**/v1/session', async (route) => {
    await asked
    await route.fulfill({ status: 500, body: '{}' })
  })
  await page.goto('/uso')
  await page.getByText('Carregando a página…').waitFor()
  await page.getByRole('link', { name: 'Catraca: início' }).waitFor()
  answer()
  await page.getByRole('heading', { name: 'Esta página não abriu' }).waitFor()
  await page.getByRole('link', { name: 'Catraca: início' }).waitFor()
  await lookAt(page, 'erro-frio')
  await page.unroute('**/v1/session')
  await page.getByRole('button', { name: 'Recarregar a página' }).click()
  await page.getByRole('heading', { level: 1, name: 'Uso' }).waitFor()
  await page.close()
})

test('an opened row stays while calls come in, which are counted and shown on request', async () => {
  await call()
  const page = await browser.newPage()
  await page.goto(`/uso?sessao=${SESSION}`)
  const rows = page.getByRole('button', { name: /^Ver a cobrança de/ })
  await rows.first().waitFor()
  assert.equal(await rows.count(), 1, 'the twenty digits of a session are no number')
  await rows.first().click()
  const details = page.getByText(/Refazer|refeito/).first()
  await details.waitFor()
  for (let made = 0; made < 51; made++) await call()
  const fresh = page.getByRole('button', { name: /novas chamadas$/ })
  await page.getByRole('button', { name: '50+ novas chamadas' }).waitFor()
  await details.waitFor()
  await lookAt(page, 'uso-novas-chamadas')
  await fresh.click()
  await fresh.waitFor({ state: 'detached' })
  assert.equal(await rows.count(), 50)
  await page.close()
})

test('a dialog begins in its first field, and a key is found by a part of its name', async () => {
  const page = await browser.newPage()
  await page.goto('/chaves?criar=true')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Nome').waitFor()
  assert.equal(
    await page.evaluate('document.activeElement.tagName'),
    'INPUT',
    'not the button that closes it',
  )
  await dialog.getByRole('button', { name: 'Fechar' }).click()
  const entries = page.getByRole('listitem').filter({ hasText: 'sk-svc-' })
  await entries.first().waitFor()
  await page.getByLabel('Procurar chave').fill('nada assim')
  await page.getByText('Nenhuma chave encontrada').waitFor()
  await page.getByLabel('Procurar chave').fill('sit')
  await entries.filter({ hasText: 'Site' }).waitFor()
  await page.close()
})

test('the language changes in the menu of the account, for good', async () => {
  const page = await browser.newPage()
  await page.goto('/')
  await page.getByRole('button', { name: /Sua conta/ }).click()
  await page.getByRole('button', { name: 'EN: in English' }).click()
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  await page.getByRole('button', { name: /Your account/ }).click()
  await page.getByRole('button', { name: 'PT: em português' }).click()
  await page.getByRole('heading', { name: 'Início', level: 1 }).waitFor()
  await page.close()
})

test('without a balance every page says that calls are refused', async () => {
  const { db } = gateway.database
  await sql`update accounts set debited_nano_brl = credited_nano_brl - charged_nano_brl
    where customer_id = ${customerId}`.execute(db)
  const page = await browser.newPage()
  await page.goto('/prompts')
  await page.getByText('Seu saldo acabou.').waitFor()
  await lookAt(page, 'sem-saldo')
  await page.getByRole('link', { name: 'Recarregar', exact: true }).click()
  await page.getByRole('heading', { name: 'Recargas', level: 1 }).waitFor()
  await page.getByText(/Saldo: R\$\s0,00/).waitFor()
  await page.close()
})

test('without a balance the playground offers a top-up, not another key', async () => {
  await sql`update accounts set debited_nano_brl = credited_nano_brl - charged_nano_brl
    where customer_id = ${customerId}`.execute(gateway.database.db)
  const page = await browser.newPage()
  await page.goto('/playground')
  await page.getByText('Você está sem saldo').waitFor()
  await page.getByRole('link', { name: 'Recarregar com Pix' }).waitFor()
  assert.equal(await page.getByText('precisa de uma chave ativa').count(), 0)
  await lookAt(page, 'playground-sem-saldo')
  await page.close()
})

test('a top-up of nothing is not offered', async () => {
  const page = await browser.newPage()
  await page.goto('/recargas')
  await page.getByLabel('Valor').fill('0')
  await page.getByRole('button', { name: 'Gerar Pix', exact: true }).click()
  await page.getByText('Digite um valor em reais').waitFor()
  await page.close()
})
