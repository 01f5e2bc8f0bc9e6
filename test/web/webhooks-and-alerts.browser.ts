/** Notifications: webhooks with their attempts, alerts, mails; and the referral code. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { startBrowser, type BrowserUnderTest } from './browser.ts'
import { lookAt } from './look-at.ts'
import { enterAs } from './sign-up.ts'

const CAIO = { name: 'Caio Reis', email: 'caio@exemplo.com.br', password: 'uma frase bem comprida' }

interface Received {
  readonly headers: Record<string, string>
  readonly body: string
}

const received: Received[] = []
const receiver = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (text: string) => (body += text))
  request.on('end', () => {
    received.push({ headers: request.headers as Record<string, string>, body })
    response.end('recebido, obrigado')
  })
})
let gateway: GatewayProcess
let browser: BrowserUnderTest

before(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  gateway = await startGatewayProcess({ WEBHOOKS_ALLOW_PRIVATE: 'true' })
  browser = await startBrowser(new URL(gateway.node.baseUrl).origin)
  await enterAs(browser, CAIO)
})
after(async () => {
  await browser?.close()
  await gateway?.stop()
  receiver.close()
})

test('a webhook shows its secret once, signs a test, shows the exact attempt, and replays it', async () => {
  const page = await browser.newPage()
  await page.goto('/webhooks')
  await page.getByRole('button', { name: 'Criar webhook' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Endereço').fill('http://user:password@exemplo.com.br')
  await dialog.getByRole('button', { name: 'Criar webhook' }).click()
  await dialog
    .getByRole('alert')
    .filter({ hasText: 'O endereço não pode ter usuário nem senha' })
    .waitFor()
  const { port } = receiver.address() as AddressInfo
  await dialog.getByLabel('Endereço').fill(`http://127.0.0.1:${port}/aqui`)
  await dialog.getByLabel('Descrição (opcional)').fill('Faturamento')
  await dialog.getByRole('button', { name: 'Criar webhook' }).click()
  const secret = (await page.getByLabel('O segredo', { exact: true }).textContent()) ?? ''
  assert.match(secret, /^whsec_/)
  await page.getByRole('button', { name: 'Já guardei' }).click()
  await page.getByRole('link', { name: 'Faturamento' }).click()
  await page.getByRole('button', { name: 'Enviar teste' }).click()
  const attempt = page.getByRole('listitem').filter({ hasText: 'webhook.test' })
  await attempt.filter({ hasText: 'entregue' }).waitFor()
  await attempt.getByRole('button').first().click()
  await page.getByText('recebido, obrigado').waitFor()
  await lookAt(page, 'webhook')
  await page.getByRole('button', { name: 'Reenviar' }).click()
  await attempt.filter({ hasText: 'reenvio' }).filter({ hasText: 'entregue' }).waitFor()
  assert.equal(received.length, 2)
  for (const { headers, body } of received) new Webhook(secret).verify(body, headers)
  assert.equal(received[0]?.headers['webhook-id'], received[1]?.headers['webhook-id'])

  await page.getByRole('button', { name: 'Trocar segredo' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Trocar segredo' }).click()
  const changed = (await page.getByLabel('O segredo', { exact: true }).textContent()) ?? ''
  assert.match(changed, /^whsec_/)
  assert.notEqual(changed, secret)
  await page.close()
})

test('an alert is created, refused with an explanation, disabled, and deleted', async () => {
  const page = await browser.newPage()
  await page.goto('/alertas')
  await page.getByRole('button', { name: 'Criar alerta' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Avisar quando').selectOption('runway_days')
  await dialog.getByLabel('Limite (dias)').fill('366')
  await dialog.getByRole('button', { name: 'Criar alerta' }).click()
  await dialog.getByRole('alert').filter({ hasText: 'de 1 a 365 dias' }).waitFor()
  await dialog.getByLabel('Limite (dias)').fill('7')
  await dialog.getByRole('button', { name: 'Criar alerta' }).click()
  await page.getByText('Avisa por e-mail quando o saldo dura menos de 7 dias.').waitFor()
  const toggle = page.getByRole('switch', { name: 'Alerta Saldo perto do fim' })
  const saved = page.waitForResponse((answer) => answer.request().method() === 'PATCH')
  await toggle.click()
  assert.equal((await saved).status(), 200)
  await page.reload()
  await page.getByText('desligado').waitFor()
  assert.equal(await toggle.getAttribute('aria-checked'), 'false')
  await page.getByRole('button', { name: 'Excluir Saldo perto do fim' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Excluir alerta' }).click()
  await page.getByText('Nenhum alerta ainda').waitFor()
  await page.close()
})

test('sent mails are listed by their subject', async () => {
  const page = await browser.newPage()
  await page.goto('/notificacoes')
  await page.getByRole('listitem').filter({ hasText: 'Boas-vindas' }).waitFor()
  await page.close()
})

test("the page shows the account's referral code", async () => {
  const page = await browser.newPage()
  await page.goto('/indicacoes')
  await page.getByRole('heading', { name: 'Seu código' }).waitFor()
  // The code was made when the page asked for it.
  const { referral_code: code } = await gateway.database.db
    .selectFrom('customers')
    .select('referral_code')
    .where('email', '=', CAIO.email)
    .executeTakeFirstOrThrow()
  assert.ok(code)
  await page.getByText(code, { exact: true }).waitFor()
  await page.close()
})

test('the console shows no errors except the expected refusals', () => {
  const others = browser.faults.filter((fault) => !/status of 400/.test(fault))
  assert.deepEqual(others, [])
})
