/** Usage in the customer's own Langfuse: the setting, a test, a failure and its end. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { startOtlpCollector, type OtlpCollector } from '../harness/otlp-collector.ts'
import { startBrowser, type BrowserUnderTest } from './browser.ts'
import { lookAt } from './look-at.ts'
import { enterAs } from './sign-up.ts'

const LIA = { name: 'Lia Prado', email: 'lia@exemplo.com.br', password: 'uma frase bem comprida' }
let collector: OtlpCollector
let gateway: GatewayProcess
let browser: BrowserUnderTest

before(async () => {
  collector = await startOtlpCollector()
  gateway = await startGatewayProcess({ WEBHOOKS_ALLOW_PRIVATE: 'true' })
  browser = await startBrowser(new URL(gateway.node.baseUrl).origin)
  await enterAs(browser, LIA)
})
after(async () => {
  await browser?.close()
  await gateway?.stop()
  collector?.close()
})

test('a destination is created, tested, shows why it fails, is changed without its secret, switched off and deleted', async () => {
  const page = await browser.newPage()
  await page.goto('/destinos-de-uso')
  await page.getByText('Nenhum destino ainda').waitFor()
  await lookAt(page, 'usage-destinations-empty')
  await page.getByRole('button', { name: 'Criar destino' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Criar destino' }).click()
  await dialog.getByRole('alert').filter({ hasText: 'Digite o endereço' }).waitFor()
  await dialog.getByLabel('Endereço').fill(`${collector.url}/?x=1`)
  await dialog.getByLabel('Chave pública').fill('pk-lf-1')
  await dialog.getByLabel('Chave secreta').fill('sk-lf-segredo')
  await lookAt(page, 'usage-destination-dialog')
  await dialog.getByRole('button', { name: 'Criar destino' }).click()
  await dialog
    .getByRole('alert')
    .filter({ hasText: 'O endereço não pode ter parâmetros' })
    .waitFor()
  await dialog.getByLabel('Endereço').fill(collector.url)
  await dialog.getByRole('button', { name: 'Criar destino' }).click()
  await page.getByText('nada enviado ainda').waitFor()

  await page.getByRole('button', { name: 'Enviar teste' }).click()
  await page.getByRole('status').filter({ hasText: 'foi aceito' }).waitFor()
  assert.equal(collector.spans[0]?.name, 'catraca test')
  collector.answer = (response) => {
    response.writeHead(401).end('Invalid credentials')
    return true
  }
  // A click within 0.6 s after the first test would pass for its double click.
  await page.reload()
  await page.getByRole('button', { name: 'Enviar teste' }).click()
  await page.getByRole('alert').filter({ hasText: 'não aceitou as chaves' }).waitFor()
  await sql`update usage_destinations set failing_since = now(), failures = 1, last_error = 'unauthorized',
    last_answer = 'Invalid credentials', rejected = 3, due_at = now() + interval '1 hour'`.execute(
    gateway.database.db,
  )
  await page.reload()
  await page.getByText('Invalid credentials').waitFor()
  await page.getByText('falhando', { exact: true }).waitFor()
  await lookAt(page, 'usage-destination-failing')
  collector.answer = () => false

  await page.getByRole('button', { name: 'Alterar' }).click()
  await dialog.getByRole('checkbox', { name: 'Enviar também prompts e respostas' }).check()
  await dialog.getByRole('button', { name: 'Salvar' }).click()
  await page.getByText('vão, quando armazenados').waitFor()
  await page.getByRole('button', { name: 'Desligar' }).click()
  await page.getByText('desligado', { exact: true }).waitFor()
  assert.ok(await page.getByRole('button', { name: 'Enviar teste' }).isDisabled())
  await page.getByRole('button', { name: 'Excluir' }).click()
  await dialog.getByRole('button', { name: 'Excluir destino' }).click()
  await page.getByText('Nenhum destino ainda').waitFor()
  await page.close()
})

test('a collector gets its headers, one a line', async () => {
  const page = await browser.newPage()
  await page.goto('/destinos-de-uso')
  await page.getByRole('button', { name: 'Criar destino' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Tipo').selectOption('otlp')
  await dialog.getByLabel('Endereço').fill(collector.url)
  await dialog.getByLabel('Cabeçalhos (opcional)').fill('sem valor')
  await dialog.getByRole('button', { name: 'Criar destino' }).click()
  await dialog.getByRole('alert').filter({ hasText: 'nome: valor' }).waitFor()
  await dialog
    .getByLabel('Cabeçalhos (opcional)')
    .fill('authorization: Bearer abc:def\nx-equipe: dados')
  await dialog.getByRole('button', { name: 'Criar destino' }).click()
  await page.getByText('authorization, x-equipe').waitFor()
  await page.getByRole('button', { name: 'Enviar teste' }).click()
  await page.getByRole('status').filter({ hasText: 'foi aceito' }).waitFor()
  const headers = collector.requests.at(-1)?.headers
  assert.equal(headers?.authorization, 'Bearer abc:def')
  assert.equal(headers?.['x-equipe'], 'dados')
  await page.close()
})
