/**
 * A conversation in the playground, paid by the customer's own key: streamed, stopped, with a tool, saved,
 * refused.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { insertTeam } from '../../src/customers/teams.ts'
import { debit } from '../../src/money/ledger/entries.ts'
import { NANO_PER_BRL } from '../../src/platform/lib/money.ts'
import { createPrompt } from '../../src/customers/prompts/prompts.ts'
import { ask } from '../harness/ask.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import {
  assertAccessible,
  assertFits,
  screenshot,
  startBrowser,
  type BrowserUnderTest,
} from './browser.ts'
import { lookAt } from './look-at.ts'
import { fund } from './fund.ts'
import { enterAs, type Person } from './sign-up.ts'

const EVA: Person = {
  name: 'Eva Nunes',
  email: 'eva@exemplo.com.br',
  password: 'uma frase bem comprida',
}
const DONE = /1º token em .* ao todo/

const HOSTILE = `## Preços

| Item | Valor |
| --- | ---: |
| Pão | 12,50 |

\`\`\`python
def soma(a, b):
    return a + b
\`\`\`

<img src=x onerror=alert(1)> <script>alert(1)</script>

[fora](https://outro.example/a) [script](javascript:alert(1)) [aqui](/chaves) ![gato](https://outro.example/gato.png)

- [x] feito
- [ ] a fazer
`
/** Amounts of money, formulas of every form, and one that would draw over the page. */
const FORMULAS = String.raw`De R$ 5 a R$ 10, ou $5 and $10, com \(a^2 + b^2 = c^2\) e $x_1$:

$$
x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}
$$

\[
\begin{aligned}
f(x) &= \int_0^\infty e^{-x^2}\,dx \\
&= \frac{\sqrt{\pi}}{2}
\end{aligned}
\qquad
A = \begin{pmatrix} 1 & 2 & 3 & 4 & 5 & 6 \\ 3 & 4 & 5 & 6 & 7 & 8 \end{pmatrix}
\]

1. Logo **$\pi > 3$**, ${'`$x$`'} e \(\href{javascript:alert(1)}{clique}\).

| Termo | Valor |
| --- | --- |
| $|x|$ | \(\sum_{i=1}^n i\) |

$$\kern-900em\rule{900em}{900em}$$
`
/** A PNG of one pixel. */
const DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

let gateway: GatewayProcess
let browser: BrowserUnderTest
let customerId: string
let secret: string

before(async () => {
  // With a trial credit the page offers that first: trial-credit.browser.ts.
  gateway = await startGatewayProcess({ TRIAL_CREDIT_BRL: '0' })
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
  await page.getByRole('button', { name: 'Parar', exact: true }).click()
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
  await page.getByRole('button', { name: 'Ver código' }).click()
  const [first] = await page.getByRole('tab').all()
  assert.equal(await first?.textContent(), 'Python')
  assert.equal(await first?.getAttribute('aria-selected'), 'true')
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

test('the Markdown of a hostile answer is shown without HTML, without remote content, with safe links', async () => {
  const page = await open('/playground')
  const foreign: string[] = []
  page.on('request', (request) => {
    if (/^https?:\/\/(?!127\.0\.0\.1)/.test(request.url())) foreign.push(request.url())
  })
  await answerWith(page, HOSTILE)
  await say(page, 'Mostre')
  const table = page.getByRole('group', { name: 'Tabela' })
  await table.getByRole('cell', { name: '12,50' }).waitFor()
  await page.getByText('[imagem de outro site: gato]').first().waitFor()
  await page.locator('.hljs-keyword', { hasText: 'def' }).waitFor()
  await page.getByText('<img src=x onerror=alert(1)>').first().waitFor()
  const links = page.getByRole('region', { name: 'Conversa' }).getByRole('link')
  assert.deepEqual(
    await Promise.all(
      (await links.all()).map((link) =>
        Promise.all([link.getAttribute('href'), link.getAttribute('rel')]),
      ),
    ),
    [
      ['https://outro.example/a', 'noopener noreferrer nofollow'],
      ['https://outro.example/gato.png', 'noopener noreferrer nofollow'],
    ],
    'no script, and no page of this site',
  )
  assert.equal(await page.locator('main img, main script, main iframe').count(), 0)
  assert.deepEqual(foreign, [])
  await lookAt(page, 'playground-markdown')
  await answerWith(page, '> '.repeat(9_000))
  await page.getByRole('button', { name: 'Gerar de novo' }).click()
  await page.getByText('> > > >').first().waitFor()
  await page.close()
})

test('formulas of an answer are MathML, amounts of money stay text, and the library comes with the first', async () => {
  const page = await open('/playground')
  const scripts: string[] = []
  const foreign: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/math-ml-')) scripts.push(request.url())
    if (/^https?:\/\/(?!127\.0\.0\.1)/.test(request.url())) foreign.push(request.url())
  })
  await answerWith(page, 'Custa R$ 5 e R$ 10.')
  await say(page, 'Quanto?')
  await page.getByText('Custa R$ 5 e R$ 10.').waitFor()
  assert.deepEqual(scripts, [])
  await answerWith(page, FORMULAS)
  await say(page, 'E a fórmula?')
  const answer = page
    .getByRole('listitem')
    .filter({ hasText: 'De R$ 5 a R$ 10, ou $5 and $10, com' })
  await answer.locator('mfrac msqrt').first().waitFor()
  assert.equal(scripts.length, 1)
  assert.equal(await answer.locator('math').count(), 8)
  assert.equal(await answer.getByRole('group', { name: 'Fórmula' }).count(), 3)
  assert.equal(await answer.locator('strong math').count(), 1)
  assert.equal(await answer.locator('td math').count(), 2)
  assert.equal(await answer.locator('code', { hasText: '$x$' }).count(), 1)
  await answer.getByText('\\(\\href{javascript:alert(1)}{clique}\\)').waitFor()
  const namespace = await page.evaluate<string>("document.querySelector('mfrac').namespaceURI")
  assert.equal(namespace, 'http://www.w3.org/1998/Math/MathML')
  assert.deepEqual(foreign, [])
  const rows = await page.evaluate<number[]>(
    "[...document.querySelectorAll('mtr')].map((row) => row.getBoundingClientRect().height)",
  )
  assert.ok(Math.min(...rows) > 16, `rows of ${rows.join(', ')} px`)
  await lookAt(page, 'playground-formulas')
  await page.setViewportSize({ width: 320, height: 640 })
  await assertFits(page, 'formulas at 320 px')
  await screenshot(page, 'playground-formulas-320')
  await page.close()
})

test('three models answer one message side by side, each with its cost, time and tokens', async () => {
  const page = await open('/playground?modelo=sandbox-chat')
  await say(page, 'Primeira')
  await page.getByText(DONE).waitFor()
  for (const name of ['sandbox-reasoning', 'sandbox-cached']) {
    await page.getByRole('button', { name: 'Comparar com outro modelo' }).click()
    await page
      .getByRole('button', { name: /^Modelo:/ })
      .last()
      .click()
    await page.getByRole('combobox', { name: 'Procurar modelo' }).fill(name.replace('-', ' '))
    await page.getByRole('option').first().waitFor()
    await page.keyboard.press('Enter')
  }
  const answers = page.getByRole('listitem').filter({ hasText: 'Aqui é a sandbox' })
  assert.equal(await answers.count(), 1, 'the shared answer is shown once')
  await say(page, 'Segunda')
  const costs = page.getByRole('term').filter({ hasText: 'Custo' })
  await costs.nth(2).waitFor()
  assert.equal(await costs.count(), 3)
  await page.getByText(/em 4 respostas/).waitFor()
  await page.getByText('mais barata').first().waitFor()
  const charged = (await ask(gateway.node.baseUrl, '/usage/events?limit=3', { secret })).json
  assert.deepEqual(
    charged.usage_events.map((event: { model_id: string }) => event.model_id).toSorted(),
    ['sandbox-cached', 'sandbox-chat', 'sandbox-reasoning'],
  )
  await lookAt(page, 'playground-comparar')
  await page.reload()
  await costs.nth(2).waitFor()
  await page.getByRole('button', { name: /^Tirar .*Reasoning/i }).click()
  assert.equal(await costs.count(), 2)
  await page.close()
})

test('the models picked in the catalog answer side by side in Markdown, each at the cost of its own charge to the last digit', async () => {
  const page = await browser.newPage()
  const picked = ['gpt-4o', 'gpt-4o-mini', 'sandbox-chat', 'sandbox-cached']
  await page.goto(`/modelos?comparar=${picked.join('+')}`)
  await page.getByRole('button', { name: 'Comparar', exact: true }).click()
  await page.getByRole('link', { name: 'Perguntar a todos no playground' }).click()
  await page
    .getByRole('button', { name: /^Modelo:/ })
    .nth(3)
    .waitFor()
  assert.equal(new URL(page.url()).search, '')
  await say(page, 'Faça uma tabela e uma função em Python')
  await page.getByText(/em 4 respostas/).waitFor()
  await page.getByRole('columnheader', { name: 'Quem conta' }).nth(3).waitFor()
  await page.locator('pre').filter({ hasText: 'def cpf_valido' }).nth(3).waitFor()
  const { usage_events: events } = (
    await ask(gateway.node.baseUrl, '/usage/events?limit=4', { secret })
  ).json as { usage_events: { model_id: string; cost_billed_brl: number }[] }
  assert.deepEqual(events.map((event) => event.model_id).toSorted(), picked.toSorted())
  const costs = await page
    .getByRole('term')
    .filter({ hasText: 'Custo' })
    .locator('xpath=following-sibling::dd')
    .allTextContents()
  assert.deepEqual(
    costs
      .map((text) => Number(text.replace(/[^\d,]/g, '').replace(',', '.')))
      .toSorted((one, other) => one - other),
    events.map((event) => event.cost_billed_brl).toSorted((one, other) => one - other),
  )
  await lookAt(page, 'playground-quatro')
  for (const size of [
    { width: 320, height: 700 },
    { width: 1440, height: 900 },
  ]) {
    await page.setViewportSize(size)
    await assertFits(page, `${size.width}`)
  }
  // The desk takes the height of the screen: its field is in view, near the end.
  const field = await page.getByLabel('Mensagem', { exact: true }).boundingBox()
  assert.ok(field && field.y > 700 && field.y + field.height < 900, JSON.stringify(field))
  await page.close()
})

test('an image and a text go in, and an image comes out', async () => {
  const page = await open('/playground?modelo=gpt-4o-mini')
  const files = page.getByLabel('Arquivos para anexar')
  await files.setInputFiles([
    { name: 'dados.bin', mimeType: 'application/octet-stream', buffer: Buffer.from([0, 255, 1]) },
  ])
  await page.getByText('dados.bin não dá para anexar').waitFor()
  await files.setInputFiles([
    { name: 'ponto.png', mimeType: 'image/png', buffer: DOT },
    { name: 'notas.md', mimeType: 'text/markdown', buffer: Buffer.from('# Notas da reunião') },
  ])
  await page.getByRole('button', { name: 'Tirar notas.md' }).waitFor()
  const sent = page.waitForRequest('**/v1/chat/completions')
  await say(page, 'O que é isto?')
  const [message] = JSON.parse((await sent).postData() ?? '').messages
  assert.deepEqual(
    message.content.map(({ type }: { type: string }) => type),
    ['image_url', 'text', 'text'],
  )
  assert.match(message.content[0].image_url.url, /^data:image\/png;base64,/)
  await page.getByText(DONE).waitFor()
  await page.getByRole('img', { name: 'ponto.png' }).waitFor()

  await page.getByRole('button', { name: 'Nova conversa' }).click()
  await choose(page, 'sandbox image')
  await say(page, 'Um pôr do sol')
  await page.getByRole('img', { name: /^Imagem 1 de/ }).waitFor()
  await page.getByText(/^Esta conversa: .* em 1 resposta/).waitFor()
  const [charge] = await charges()
  assert.equal(charge.model_id, 'sandbox-image')
  await lookAt(page, 'playground-imagem')
  await page.getByRole('button', { name: 'Ver código' }).click()
  await page.getByRole('tab', { name: 'curl' }).click()
  await page.getByText('/v1/images/generations').first().waitFor()
  await page.close()
})

test('earlier conversations are opened from the history, also in a new tab, and deleted', async () => {
  const page = await open('/playground')
  await say(page, 'Uma conversa para guardar')
  await page.getByText(DONE).waitFor()
  await page.getByRole('button', { name: 'Nova conversa' }).click()
  await page.close()
  const later = await open('/playground')
  await later.getByRole('button', { name: 'Histórico' }).click()
  await lookAt(later, 'playground-historico')
  await later.getByRole('button', { name: /^Uma conversa para guardar/ }).click()
  await later.getByText(DONE).waitFor()
  await later.getByRole('button', { name: 'Histórico' }).click()
  await later.getByRole('button', { name: 'Apagar tudo' }).click()
  await later
    .getByRole('dialog', { name: 'Apagar todas as conversas?' })
    .getByRole('button', { name: 'Cancelar' })
    .click()
  // The history stays open.
  await later.getByRole('button', { name: 'Apagar a conversa Uma conversa para guardar' }).click()
  await later
    .getByRole('button', { name: /^Uma conversa para guardar/ })
    .waitFor({ state: 'detached' })
  assert.equal(await later.getByText(DONE).count(), 0, 'it is no longer open')
  await later.close()
})

test("a team's key never pays by itself", async () => {
  const { db } = gateway.database
  const team = await insertTeam(db, { ownerId: customerId, name: 'Produto', limitNanoBrl: null })
  assert.equal(team.kind, 'created')
  await sql`update api_keys set team_id = ${team.id}, scope = 'calls' where customer_id = ${customerId}`.execute(
    db,
  )
  const page = await browser.newPage()
  await page.goto('/')
  await page.evaluate(`localStorage.removeItem('catraca-playground-key')`)
  await page.goto('/playground')
  await page.getByText('Suas chaves ativas são todas de equipes.').waitFor()
  await page.getByLabel('Mensagem', { exact: true }).fill('Oi')
  assert.ok(await page.getByRole('button', { name: 'Enviar' }).isDisabled())
  await page.getByLabel('Pagar com a chave').selectOption({ index: 1 })
  await page.getByText('Suas chaves ativas são todas de equipes.').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Enviar' }).click()
  await page.getByText(DONE).waitFor()
  // A key of a team may not read charges.
  await sql`update api_keys set team_id = null, scope = 'account' where customer_id = ${customerId}`.execute(
    db,
  )
  assert.equal((await charges())[0].team_id, team.id, 'by choice it pays')
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

// React reports the fault of a parser that its boundary has caught.
test('the console shows no errors except the expected refusals', () => {
  const others = browser.faults.filter(
    (fault) => !/status of (402|502) .*chat|Maximum call stack/.test(fault),
  )
  assert.deepEqual(others, [])
})

test('a sign-out deletes the history from the disk, also of a page that never opened it', async () => {
  const page = await browser.newPage()
  await page.goto('/')
  await page.getByRole('heading', { name: 'Início', level: 1 }).waitFor()
  const stored = `indexedDB.databases().then((all) => all.map(({ name }) => name))`
  assert.deepEqual(await page.evaluate(stored), ['catraca-playground'])
  await page.getByRole('button', { name: /Sua conta/ }).click()
  await page.getByRole('button', { name: 'Sair' }).click()
  await page.getByRole('heading', { name: 'Entrar', level: 1 }).waitFor()
  assert.deepEqual(await page.evaluate(stored), [])
  await page.close()
})

/** Answers the page's next calls in place of the server, with text that no sandbox model writes. */
async function answerWith(page: Page, text: string): Promise<void> {
  const chunk = { choices: [{ index: 0, delta: { content: text }, finish_reason: 'stop' }] }
  const usage = {
    choices: [],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
    cost_billed_brl: 0.001,
  }
  const body = [chunk, usage].map((data) => `data: ${JSON.stringify(data)}\n\n`).join('')
  await page.unroute('**/v1/chat/completions')
  await page.route('**/v1/chat/completions', (route) =>
    route.fulfill({ contentType: 'text/event-stream', body: `${body}data: [DONE]\n\n` }),
  )
}

async function choose(page: Page, model: string): Promise<void> {
  await page.getByRole('button', { name: /^Modelo:/ }).click()
  await page.getByRole('combobox', { name: 'Procurar modelo' }).fill(model)
  await page.keyboard.press('Enter')
}

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
