/** Saved prompts: written with variables, changed in versions that are compared, run, copied, deleted. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { ask } from '../harness/ask.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { assertAccessible, settled, startBrowser, type BrowserUnderTest } from './browser.ts'
import { lookAt } from './look-at.ts'
import { fund } from './fund.ts'
import { enterAs } from './sign-up.ts'

const DUDA = { name: 'Duda Melo', email: 'duda@exemplo.com.br', password: 'uma frase bem comprida' }
const VALUES = { loja: 'Café Aurora', tom: 'cordial', mensagem: 'Cadê meu pedido?', nome: 'Duda' }

let gateway: GatewayProcess
let browser: BrowserUnderTest
let secret: string

before(async () => {
  gateway = await startGatewayProcess()
  browser = await startBrowser(new URL(gateway.node.baseUrl).origin)
  await enterAs(browser, DUDA)
  secret = (await fund(gateway.database.db, DUDA.email)).secret
})
after(async () => {
  await browser?.close()
  await gateway?.stop()
})

async function savedPrompts(): Promise<any[]> {
  return (await ask(gateway.node.baseUrl, '/me/prompts', { secret })).json.prompts
}

/** Opens the editor of the prompt with that name, or another part of its page. */
async function open(page: Page, name: string, part?: string): Promise<void> {
  await page.goto('/prompts')
  await page.getByRole('link', { name, exact: true }).click()
  await page.getByRole('heading', { name, level: 1 }).waitFor()
  if (part !== undefined) await page.getByRole('tab', { name: part, exact: true }).click()
}

test('a prompt is made from the example, with the variables of its text', async () => {
  const page = await browser.newPage()
  await page.goto('/prompts')
  await page.getByRole('link', { name: 'Começar por este exemplo' }).click()
  const text = page.getByRole('textbox', { name: 'Texto' })
  const variables = page.getByRole('list', { name: 'Variáveis do prompt' })
  await text.fill(`${await text.inputValue()}\nAssine como {{nome}}, do {{sétimo}}.`)
  await variables.getByText('nome', { exact: true }).waitFor()
  await page.getByText('{{sétimo}} não é uma variável').waitFor()
  await text.fill((await text.inputValue()).replace(', do {{sétimo}}', ''))
  await page.getByText('não é uma variável').waitFor({ state: 'detached' })
  await page.getByLabel('Nome').fill('Oi')
  await page.getByRole('button', { name: 'Salvar prompt' }).click()
  await page.getByText('ao menos 3 letras').waitFor()
  await page.getByLabel('Nome').fill('Resposta')
  await page.getByLabel('Modelo padrão').selectOption('sandbox-chat')
  await page.getByLabel('Limite da resposta, em tokens').fill('1.500')
  await page.getByLabel('Temperatura padrão').fill('0,5')
  await page.getByLabel('Tags (opcional)').fill('loja')
  await page.getByLabel('Tags (opcional)').press('Enter')
  await page.getByRole('button', { name: 'Salvar prompt' }).click()
  await page.getByRole('heading', { name: 'Resposta', level: 1 }).waitFor()
  const [saved] = await savedPrompts()
  assert.deepEqual(saved.variables, Object.keys(VALUES))
  assert.deepEqual(saved.tags, ['atendimento', 'loja'])
  assert.equal(saved.default_model, 'sandbox-chat')
  assert.deepEqual(saved.parameters, { max_tokens: 1_500, temperature: 0.5 })
  assert.equal(saved.version, 1)
  await page.getByRole('tab', { name: 'API' }).click()
  await page.getByText('não pode ter variáveis').waitFor()
  await page.getByText(`"model": "@preset/${saved.slug}"`).first().waitFor()
  await page.close()
})

test('a changed text becomes version 2, is not lost unsaved, and its changed words are highlighted', async () => {
  const page = await browser.newPage()
  await open(page, 'Resposta')
  const text = page.getByRole('textbox', { name: 'Texto' })
  await text.fill((await text.inputValue()).replace('até 5 frases', 'até 3 linhas'))
  await page.getByRole('link', { name: 'Todos os prompts' }).click()
  await page.getByRole('dialog', { name: 'Sair sem salvar?' }).waitFor()
  await page.getByRole('button', { name: 'Cancelar' }).click()
  await page.getByLabel('O que muda na versão 2 (opcional)').fill('Mais curta')
  await settled(page)
  await assertAccessible(page, 'editor')
  await page.getByRole('button', { name: 'Salvar versão 2' }).click()
  await page.getByText('Tudo salvo.').waitFor()
  await page.getByRole('tab', { name: 'Versões' }).click()
  await page.getByText('1 linha incluída, 1 removida.').waitFor()
  assert.deepEqual(await page.locator('del').allTextContents(), ['5', 'frases'])
  assert.deepEqual(await page.locator('ins').allTextContents(), ['3', 'linhas'])
  await page.getByText('Mais curta').waitFor()
  await lookAt(page, 'versões')
  await page.close()
})

test('an old version is restored as a new one, with a note', async () => {
  const page = await browser.newPage()
  await open(page, 'Resposta', 'Versões')
  await page.getByRole('button', { name: 'Restaurar a versão 1' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Restaurar' }).click()
  await page.getByText('volta à versão 1').waitFor()
  const [saved] = await savedPrompts()
  assert.equal(saved.version, 3)
  assert.match(saved.body, /até 5 frases/)
  assert.deepEqual(saved.variables, Object.keys(VALUES))
  await page.close()
})

test('a run needs its values, and shows its cost to the last digit of the charge', async () => {
  const page = await browser.newPage()
  await open(page, 'Resposta', 'Executar')
  const run = page.getByRole('button', { name: 'Executar', exact: true })
  await page.getByLabel('Pagar com a chave').locator('option').nth(1).waitFor({ state: 'attached' })
  await run.click()
  await page.getByText('Falta o valor.').first().waitFor()
  assert.equal(await page.getByText('Falta o valor.').count(), 4)
  for (const [name, value] of Object.entries(VALUES))
    await page.getByRole('textbox', { name, exact: true }).fill(value)
  await page.getByLabel('Máximo de tokens').fill('999.999.999')
  await run.click()
  await page.getByRole('alert').filter({ hasText: 'max_tokens' }).waitFor()
  await page.getByLabel('Máximo de tokens').fill('500')
  await run.click()
  const result = page.getByRole('region', { name: 'Resposta' })
  await result.getByText('Tokens da resposta').waitFor()
  const shown = (await result.textContent()) ?? ''
  assert.match(shown, /Café Aurora/)
  await settled(page)
  await assertAccessible(page, 'executar')

  const [saved] = await savedPrompts()
  const path = `/me/prompts/${saved.id}/runs`
  const [{ total_billed_brl: cost, session_id: session }] = (
    await ask(gateway.node.baseUrl, path, { secret })
  ).json.runs
  assert.ok(cost > 0)
  // Three significant digits, as in R$ 0,00175.
  const [, digits = ''] = /Custo\s*R\$\s*(0,0*[1-9]\d*)/.exec(shown) ?? []
  assert.equal(digits.replace(',', '.'), String(Number(cost.toPrecision(3))), shown)
  await page.getByRole('tab', { name: 'Execuções' }).click()
  await page.getByRole('table').getByRole('link').click()
  await page.getByRole('heading', { name: `Sessão ${session}`, level: 1 }).waitFor()
  await page.close()
})

test('a copy is found by its name, opens in the playground, and is deleted permanently', async () => {
  const page = await browser.newPage()
  await page.goto('/prompts')
  await page.getByRole('button', { name: 'Duplicar Resposta', exact: true }).click()
  const entries = page.getByRole('main').getByRole('heading', { level: 2 })
  await entries.nth(1).waitFor()
  await settled(page)
  await assertAccessible(page, 'lista')
  await page.getByLabel('Procurar prompt').fill('COPIA')
  await entries.nth(1).waitFor({ state: 'detached' })
  assert.deepEqual(await entries.allTextContents(), ['Resposta (cópia)'])
  await page.getByRole('link', { name: 'Resposta (cópia)' }).click()
  const link = page.getByRole('link', { name: 'Abrir no playground' })
  const copy = (await savedPrompts()).find(({ name }) => name === 'Resposta (cópia)')
  assert.equal(await link.getAttribute('href'), `/playground?prompt=${copy.id}`)
  await page.getByRole('button', { name: 'Excluir' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Excluir prompt' }).click()
  await page.getByRole('heading', { name: 'Prompts', level: 1 }).waitFor()
  await entries.first().waitFor()
  await entries.nth(1).waitFor({ state: 'detached' })
  const left = (await savedPrompts()).map(({ name }) => name)
  assert.deepEqual(left, ['Resposta'])
  assert.deepEqual(await entries.allTextContents(), left)
  await page.close()
})

test('the console shows no errors except the expected refusals', () => {
  const others = browser.faults.filter((fault) => !/status of 400 .*\/run$/.test(fault))
  assert.deepEqual(others, [])
})
