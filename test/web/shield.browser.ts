/** The LGPD shield on the profile page: its setting, and what it found. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask, askChat, sound } from '../harness/ask.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { assertAccessible, startBrowser, type BrowserUnderTest } from './browser.ts'
import { fund } from './fund.ts'
import { enterAs } from './sign-up.ts'

const EVA = { name: 'Eva Reis', email: 'eva@exemplo.com.br', password: 'uma frase bem comprida' }

let gateway: GatewayProcess
let browser: BrowserUnderTest
let secret: string

before(async () => {
  gateway = await startGatewayProcess()
  browser = await startBrowser(new URL(gateway.node.baseUrl).origin)
  await enterAs(browser, EVA)
  const funded = await fund(gateway.database.db, EVA.email)
  secret = funded.secret
})
after(async () => {
  await browser?.close()
  await gateway?.stop()
})

test('the shield is set on the profile page, and its report says what was blocked', async () => {
  const page = await browser.newPage()
  await page.goto('/perfil')
  await page.getByText('Nada foi encontrado nos últimos 30 dias.').waitFor()
  await page.getByLabel('O que fazer com dados pessoais').selectOption('block')
  await page.getByRole('button', { name: 'Salvar proteção' }).click()
  await page.getByText('Proteção salva.').waitFor()
  const { baseUrl } = gateway.node
  assert.equal((await ask(baseUrl, '/me/shield', { secret })).json.action, 'block')
  const messages = [{ role: 'user', content: 'CPF 529.982.247-25' }]
  const refused = await askChat(baseUrl, secret, { ...sound(), messages })
  assert.equal(refused.json.error.code, 'personal_data_found')
  for (;;) {
    const { json } = await ask(baseUrl, '/me/shield/report', { secret })
    if (json.by_kind.length > 0) break
    await sleep(200)
  }
  await page.reload()
  const found = page.getByRole('region', { name: 'Dados pessoais encontrados nos últimos 30 dias' })
  assert.match((await found.textContent()) ?? '', /CPF0?.*1/)
  await assertAccessible(page, 'profile with the shield')
})
