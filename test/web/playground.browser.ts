/**
 * A conversation in the playground, paid by the customer's own key: streamed, stopped, with a tool, saved,
 * refused.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { debit } from '../../src/ledger/entries.ts'
import { NANO_PER_BRL } from '../../src/lib/money.ts'
import { createPrompt } from '../../src/prompts/prompts.ts'
import { ask } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { assertAccessible, startBrowser, type BrowserUnderTest } from './browser.ts'
import { lookAt } from './look-at.ts'
import { fund } from './fund.ts'
import { enterAs, type Person } from './sign-up.ts'

const EVA: Person = {
  name: 'Eva Nunes',
  email: 'eva@exemplo.com.br',
  password: 'uma frase bem comprida',
}
const DONE = /1º token em .* ao todo/

let gateway: TestGateway
let browser: BrowserUnderTest
let customerId: string
let secret: string

before(async () => {
  gateway = await startGateway()
  browser = await startBrowser(new URL(gateway.node.baseUrl).origin)
  await enterAs(browser, EVA)
})
after(async () => {
  await browser?.close()
  await gateway?.stop()
})

test('without a key nothing can be sent, and the page links to the keys', async () => {
  const page = await browser.newPage()
  await page.goto('/playground')
  await page.getByRole('link', { name: 'Criar uma chave' }).waitFor()
  assert.equal(await page.getByLabel('Mensagem', { exact: true }).count(), 0)
  await page.close()
  const funded = await fund(gateway.database.db, EVA.email)
  customerId = funded.customerId
  secret = funded.secret
})

test("a streamed answer shows the ledger's charge; a reload keeps it", async () => {
  const page = await open('/playground')
  await say(page, 'Oi **você**')
  await page.getByText(DONE).waitFor()
  const answer = page.getByRole('listitem').filter({ hasText: 'Aqui é a sandbox' })
  await answer.getByText('você', { exact: true }).waitFor()
  const [charge] = await charges()
  assert.equal(charge.model_id, 'sandbox-chat')
  assert.equal(charge.api_key_name, 'Site')
  assert.match(charge.session_id, /^playground-/)
  const shown = (await answer.textContent()) ?? ''
  assert.ok(shown.includes(`${charge.prompt_tokens} → ${charge.completion_tokens} tokens`), shown)
  const total = (await page.getByText(/^Esta conversa/).textContent()) ?? ''
  const cost = /R\$\s0,00\d+/.exec(total)?.[0] ?? 'none'
  assert.ok(shown.includes(cost), `${cost} in ${shown}`)
  assert.ok(Math.abs(Number(cost.slice(3).replace(',', '.')) - charge.cost_billed_brl) < 1e-6)

  await page.reload()
  await answer.waitFor()
  await page.getByRole('button', { name: 'Gerar de novo' }).click()
  await page.getByText(/em 2 respostas/).waitFor()
  assert.equal(await answer.count(), 1)
  await page.close()
})

test('a stopped answer says so, keeps the received text, and finds its charge', async () => {
  const page = await open('/playground?modelo=sandbox-long')
  await say(page, 'Conte uma história')
  await page.getByText(/Era uma vez/).waitFor()
  await page.getByRole('button', { name: 'Parar' }).click()
  const answer = page.getByRole('listitem').filter({ hasText: 'Você parou esta resposta.' })
  await answer.getByText(/R\$\s0,00.*tokens/).waitFor()
  const [charge] = await charges()
  assert.equal(charge.model_id, 'sandbox-long')
  assert.equal(charge.completion_tokens, 400, 'the model writes to its end, and that is charged')
  await page.getByRole('button', { name: 'Enviar' }).waitFor()
  await page.close()
})

test('a model calls a tool, gets the result, and continues', async () => {
  const page = await open('/playground?modelo=sandbox-chat')
  await page.getByText('Ferramentas', { exact: true }).click()
  const tools = page.getByLabel('Ferramentas em JSON')
  await tools.fill('[{"type": "function"}]')
  await page.getByText('Ferramenta 1: falta "function"').waitFor()
  await page.getByText('Corrija para enviar').waitFor()
  await tools.fill('')
  await page.getByRole('button', { name: 'Usar um exemplo' }).click()
  await say(page, 'Como está o tempo?')
  await page.getByText('Chamou consultar_clima').first().waitFor()
  await page.getByLabel('Argumentos de consultar_clima').getByText('"cidade": "').waitFor()
  await lookAt(page, 'playground-ferramenta')
  await page.getByRole('button', { name: 'Enviar resultado' }).click()
  await page.getByText('Escreva um resultado.').waitFor()
  await page.getByLabel('O que consultar_clima devolveu').fill('{"graus": 21}')
  await page.getByRole('button', { name: 'Enviar resultado' }).click()
  await page.getByText('A ferramenta consultar_clima devolveu: “{"graus": 21}”').first().waitFor()
  await page.close()
})

test('a message is saved as a prompt, and shown as code', async () => {
  const page = await open('/playground')
  await page.getByLabel('Mensagem de sistema').fill('Seja breve.')
  await say(page, 'Resuma: {{texto}}')
  await page.getByText(DONE).waitFor()
  await page.getByRole('button', { name: 'Ver código' }).click()
  await page.getByRole('tab', { name: 'Python' }).click()
  await page.getByText('"content": "Seja breve.",').waitFor()
  await assertAccessible(page, 'code')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: /^Salvar/ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Salvar prompt' }).click()
  await dialog.getByText('Dê um nome').waitFor()
  await dialog.getByLabel('Nome').fill('Resumo curto')
  await dialog.getByRole('button', { name: 'Salvar prompt' }).click()
  await page.getByText('Prompt salvo.').waitFor()
  const [saved] = (await ask(gateway.node.baseUrl, '/me/prompts', { secret })).json.prompts
  assert.equal(saved.name, 'Resumo curto')
  assert.equal(saved.body, 'Seja breve.\n\nResuma: {{texto}}')
  assert.equal(saved.default_model, 'sandbox-chat')
  await page.close()
})

test('a saved prompt opens with a field for each variable, and is sent with the values', async () => {
  const { db } = gateway.database
  const input = { name: 'Saudação', body: 'Saúde {{nome}}!', defaultModel: 'sandbox-reasoning' }
  const prompt = await createPrompt(db, customerId, input)
  assert.ok('id' in prompt)
  const page = await open(`/playground?prompt=${prompt.id}`)
  await page.getByRole('button', { name: 'Enviar' }).click()
  await page.getByText('Preencha para enviar.').waitFor()
  await page.getByLabel('nome', { exact: true }).fill('a {{lua}}')
  await page.getByRole('button', { name: 'Enviar' }).click()
  await page.getByText('Você: Saúde a {{lua}}!').waitFor()
  await page.getByText('Raciocínio', { exact: true }).waitFor()
  await page.getByText(DONE).waitFor()
  assert.equal(new URL(page.url()).search, '')
  await page.close()
})

test('a refusal is explained in the conversation, with a link to the remedy', async () => {
  const page = await open('/playground?modelo=sandbox-error-500')
  await say(page, 'Oi')
  await page.getByText('Falha temporária ao processar a requisição.').first().waitFor()
  await page.getByRole('button', { name: /^Modelo:/ }).click()
  await page.getByRole('combobox', { name: 'Procurar modelo' }).fill('cut stream')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Gerar de novo' }).click()
  await page.getByText('A resposta foi interrompida antes do fim.').first().waitFor()

  const { db } = gateway.database
  const all = { customerId, amountNanoBrl: 2_000n * NANO_PER_BRL, reference: 'all of it' }
  await debit(db, { ...all, reason: 'adjustment' }, { mayOverdraw: true })
  await page.getByRole('button', { name: 'Gerar de novo' }).click()
  await page.getByRole('link', { name: 'Fazer uma recarga' }).click()
  await page.getByRole('heading', { name: 'Recargas', level: 1 }).waitFor()
  await page.close()
})

test('the console shows no errors except the expected refusals', () => {
  const others = browser.faults.filter((fault) => !/status of (402|502) .*chat/.test(fault))
  assert.deepEqual(others, [])
})

/** Each tab has a conversation of its own. */
async function open(path: string): Promise<Page> {
  const page = await browser.newPage()
  await page.goto(path)
  await page.getByLabel('Mensagem', { exact: true }).waitFor()
  return page
}

async function say(page: Page, text: string): Promise<void> {
  const field = page.getByLabel('Mensagem', { exact: true })
  await field.fill(text)
  await field.press('Enter')
}

async function charges() {
  return (await ask(gateway.node.baseUrl, '/usage/events?limit=1', { secret })).json.usage_events
}
