/** Usage and costs: each charge explained, filtered and exported; sessions; the catalog with its prices. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { credit } from '../../src/money/ledger/entries.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { ask, askChat, sound } from '../harness/ask.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import {
  assertAccessible,
  assertFits,
  settled,
  startBrowser,
  type BrowserUnderTest,
} from './browser.ts'
import { lookAt } from './look-at.ts'
import { fund } from './fund.ts'
import { enterAs } from './sign-up.ts'

const BIA = { name: 'Bia Lima', email: 'bia@exemplo.com.br', password: 'uma frase bem comprida' }
const SEEDED = 60

let gateway: GatewayProcess
let browser: BrowserUnderTest
let secret: string

before(async () => {
  gateway = await startGatewayProcess()
  browser = await startBrowser(new URL(gateway.node.baseUrl).origin)
  await enterAs(browser, BIA)
  const { db } = gateway.database
  const funded = await fund(db, BIA.email)
  secret = funded.secret
  const base = Date.now() - 3_600_000
  await seedUsage(db, {
    customerId: funded.customerId,
    apiKeyId: funded.key.id,
    events: Array.from({ length: SEEDED }, (_, place) => ({
      at: new Date(base - place * 60_000),
      modelId: 'gpt-4o',
      promptTokens: 1_000 + place,
      completionTokens: 200,
    })),
  })
  const headers = { 'x-svc-session-id': 'pedido-4812' }
  for (const model of ['sandbox-chat', 'sandbox-reasoning'])
    await askChat(gateway.node.baseUrl, secret, sound(model), headers)
})
after(async () => {
  await browser?.close()
  await gateway?.stop()
})

test('the usage fits into 320 px, also with a name of 50 characters and without a space', async () => {
  const name = 'chave_do_servidor_de_producao_com_nome_comprido_12'
  await gateway.database.db.updateTable('api_keys').set({ name }).execute()
  const page = await browser.newPage()
  await page.setViewportSize({ width: 320, height: 700 })
  for (const view of ['', '?ver=recusadas', '?ver=gasto', '?ver=gasto&por=chave', '?ver=chaves']) {
    await page.goto(`/uso${view}`)
    await settled(page)
    await assertFits(page, view)
  }
  await page.goto('/uso')
  await page
    .getByRole('button', { name: /^Ver a cobrança de/ })
    .first()
    .click()
  await page.getByRole('region', { name: 'Como chegamos a este valor' }).waitFor()
  await assertFits(page, 'a charge')
  await page.close()
  await gateway.database.db.updateTable('api_keys').set({ name: 'Site' }).execute()
})

test('a charge opens to its calculation, and to its session', async () => {
  const page = await browser.newPage()
  await page.goto('/uso')
  await page.getByRole('button', { name: /Ver a cobrança de sandbox-reasoning/ }).click()
  const details = page.getByRole('region', { name: 'Como chegamos a este valor' })
  await details.getByText('o resultado é exatamente o valor cobrado').waitFor()
  const [charge] = (await ask(gateway.node.baseUrl, '/usage/events?limit=1', { secret })).json
    .usage_events
  assert.equal(charge.model_id, 'sandbox-reasoning')
  const shown = (await details.textContent()) ?? ''
  for (const part of [charge.cost_upstream_usd, charge.cost_billed_brl])
    assert.ok(shown.includes(decimalComma(part)), `${decimalComma(part)} in ${shown}`)
  assert.match(shown, /R\$\s5,20.*1,25/)
  await page.getByRole('link', { name: 'pedido-4812' }).click()
  await page.getByRole('heading', { name: 'Sessão pedido-4812', level: 1 }).waitFor()
  const entries = page.getByRole('listitem').filter({ hasText: 'sandbox-' })
  await entries.nth(1).waitFor()
  assert.equal(await entries.count(), 2)
  await lookAt(page, 'sessao')
  await page.close()
})

test('the log loads page by page, filters by model, and keeps the filter in the URL', async () => {
  const page = await browser.newPage()
  await page.goto('/uso')
  const rows = page.getByRole('button', { name: /^Ver a cobrança de/ })
  await page.getByRole('button', { name: 'Carregar mais' }).click()
  await rows.nth(SEEDED + 1).waitFor()
  assert.equal(await rows.count(), SEEDED + 2)
  await page.getByLabel('Modelo').selectOption('sandbox-chat')
  await rows.nth(1).waitFor({ state: 'detached' })
  await page.reload()
  await rows.first().waitFor()
  assert.equal(await rows.count(), 1)
  await page.getByLabel('Sessão').fill('nenhuma')
  await page.getByLabel('Sessão').press('Enter')
  await page.getByRole('button', { name: 'Limpar os filtros' }).click()
  await rows.nth(49).waitFor()
  await page.getByRole('tab', { name: 'Por chave' }).click()
  await page.getByRole('button', { name: 'Site', exact: true }).click()
  await rows.nth(49).waitFor()
  await page.close()
})

test('a filter is text, whatever it looks like, and one that cannot be read never shows everything', async () => {
  const page = await browser.newPage()
  const rows = page.getByRole('button', { name: /^Ver a cobrança de/ })
  const texts = [
    '48213',
    '007',
    '0',
    '1e5',
    '-1',
    '1.50',
    'true',
    'false',
    'null',
    '[1]',
    '{}',
    '"a"',
    ' ',
  ]
  const ofSession = (text: string): string => `/uso?sessao=${encodeURIComponent(text)}`
  for (const text of [...texts.map(ofSession), '/uso?sessao=1&sessao=2']) {
    await page.goto(text)
    await page.getByRole('button', { name: 'Limpar os filtros' }).waitFor()
    assert.equal(await rows.count(), 0, text)
    const wanted = new URL(text, 'http://a').searchParams.getAll('sessao').at(-1)
    assert.equal(await page.getByLabel('Sessão').inputValue(), wanted)
  }
  // A change of another filter, and the steps back, leave it as it was written.
  await page.goto(ofSession('007'))
  await page.getByLabel('Situação').selectOption('cobrada')
  await page.waitForURL(/situacao=cobrada/)
  assert.equal(new URL(page.url()).searchParams.get('sessao'), '007')
  for (const path of ['/uso?situacao=1', '/uso?situacao=cobradas', '/uso?de=20260101']) {
    await page.goto(path)
    await page.getByText('Há um campo com valor inválido').first().waitFor()
    assert.equal(await rows.count(), 0, path)
  }
  await page.goto('/chaves?situacao=1')
  await page.getByText('Há um campo com valor inválido').waitFor()
  assert.equal(await page.getByText('Site').count(), 0)
  await page.close()
})

test("a page's first requests start before its code has loaded, and the session's before them", async () => {
  const page = await browser.newPage()
  const sessions: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/v1/session')) sessions.push(request.url())
  })
  const session = page.waitForRequest('**/v1/session')
  const log = page.waitForRequest('**/v1/usage/calls*')
  await page.route('**/assets/base-*.js', (route) => session.then(() => route.continue()))
  await page.route('**/assets/UsagePage-*.js', (route) => log.then(() => route.continue()))
  await page.goto('/uso')
  await page
    .getByRole('button', { name: /^Ver a cobrança de/ })
    .first()
    .waitFor()
  assert.equal(sessions.length, 1)
  await page.close()
})

test("every date is in the customer's time zone, including the first one shown", async () => {
  const { baseUrl } = gateway.node
  const timeZone = 'Asia/Tokyo'
  await ask(baseUrl, '/me/preferences', { secret, method: 'PUT', body: { timezone: timeZone } })
  const [charge] = (await ask(baseUrl, '/usage/events?limit=1', { secret })).json.usage_events
  const page = await browser.newPage()
  // Gives the rows time to appear before the zone is known.
  const log = page.waitForResponse('**/v1/usage/calls*')
  await page.route('**/v1/me/preferences', async (route) => {
    await log
    await page.waitForTimeout(500)
    await route.continue()
  })
  await page.goto('/uso')
  const row = page.getByRole('button', { name: /^Ver a cobrança de/ }).first()
  const clock = new Intl.DateTimeFormat('pt-BR', { timeStyle: 'short', timeZone })
  assert.match(
    (await row.getAttribute('aria-label')) ?? '',
    new RegExp(` ${clock.format(new Date(charge.created_at))}$`),
  )
  await page.close()
})

test('the parts of the balance add up on the page to the last digit', async () => {
  const { db } = gateway.database
  const { id: customerId } = await db
    .selectFrom('customers')
    .select('id')
    .where('email', '=', BIA.email)
    .executeTakeFirstOrThrow()
  await credit(db, {
    customerId,
    amountNanoBrl: 7_500_000_000n,
    reason: 'promotional_credit',
    reference: createId(),
  })
  const page = await browser.newPage()
  await page.goto('/uso')
  const card = page.getByRole('region', { name: 'De onde vem o seu saldo' })
  await card.getByText('R$\u00a07,50').waitFor()
  const amounts = (await card.getByRole('definition').allTextContents()).map(nanoBrlOf)
  const balance = amounts.pop()
  assert.equal(amounts.length, 5)
  assert.equal(
    amounts.reduce((sum, amount) => sum + amount),
    balance,
  )
  const { json } = await ask(gateway.node.baseUrl, '/usage', { secret })
  assert.equal(Number(balance) / 1e9, json.balance.balance_brl)
  await page.close()
})

/** `+ R$ 1.000,25` in nano-BRL. */
function nanoBrlOf(text: string): bigint {
  const [, sign, whole = '', fraction = ''] =
    /^([+=−]?) ?R\$\s([\d.]+),(\d+)$/.exec(text) ?? assert.fail(text)
  const nano = BigInt(whole.replaceAll('.', '') + fraction.padEnd(9, '0'))
  return sign === '−' ? -nano : nano
}

test('a failed call is shown without cost, filters are steps of Back, and the rows can be sorted and saved', async () => {
  await askChat(gateway.node.baseUrl, secret, sound('sandbox-error-500'))
  const page = await browser.newPage()
  await page.goto('/uso')
  const rows = page.getByRole('button', { name: /^Ver a cobrança de/ })
  await rows.nth(49).waitFor()
  await page.getByLabel('Situação').selectOption('falha')
  await rows.nth(1).waitFor({ state: 'detached' })
  await page.getByText('modelo falhou').waitFor()
  assert.equal(await rows.count(), 1)
  await rows.click()
  await page.getByText('O modelo falhou antes de entregar a resposta.').waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Baixar estas chamadas' }).click(),
  ])
  const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n')
  assert.equal(lines.length, 2)
  assert.match(lines[1] ?? '', /;sandbox-error-500;Site;.*;modelo falhou;/)
  await page.goBack()
  await rows.nth(49).waitFor()
  assert.equal(new URL(page.url()).search, '')
  await page.getByRole('button', { name: 'Consumo' }).click()
  await page.getByText(/^Em ordem só entre as 50 chamadas carregadas/).waitFor()
  assert.match(page.url(), /ordem=consumo/)
  await lookAt(page, 'uso-chamadas')
  await page.close()
})

test('the spending is stacked by group, compared, kept in the URL and saved', async () => {
  const page = await browser.newPage()
  await page.goto('/uso?ver=gasto')
  await page.getByRole('row', { name: /gpt-4o/ }).waitFor()
  await page.getByLabel('Empilhar por').selectOption('sessao')
  await page.getByRole('row', { name: /pedido-4812/ }).waitFor()
  const compare = page.getByLabel('Comparar com o período anterior')
  // Within the click itself: a control that waits for the new URL shows its old value meanwhile.
  const isShownAtOnce = await compare.evaluate((element) => {
    const box = element as unknown as { click(): void; readonly checked: boolean }
    box.click()
    return box.checked
  })
  assert.ok(isShownAtOnce)
  await page.getByRole('columnheader', { name: 'Antes' }).waitFor()
  await page.getByRole('button', { name: '7 dias' }).click()
  await page.reload()
  await page.getByRole('row', { name: /pedido-4812/ }).waitFor()
  await page.getByRole('columnheader', { name: 'Antes' }).waitFor()
  const bars = page.getByRole('list', { name: 'Gasto por parte do período' }).getByRole('button')
  assert.equal(await bars.count(), 7)
  const reading = page.getByText(/Outras e sem sessão R\$/).first()
  // In the customer's zone, the charges of an hour ago may be of yesterday.
  const dayOfOthers = bars.and(page.getByRole('button', { name: /: R\$\s(?!0,00$)/ })).first()
  await bars.first().hover()
  await dayOfOthers.focus()
  await reading.waitFor()
  // The page moves under the resting pointer, which leaves the chart without the customer's doing.
  await page.evaluate('scrollTo(0, 0)')
  await page.evaluate('scrollTo(0, 10_000)')
  await page.evaluate(() => new Promise((done) => setTimeout(done, 200)))
  assert.ok(await reading.isVisible())
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Baixar esta tabela' }).click(),
  ])
  assert.match(download.suggestedFilename(), /^gasto-por-sessão-.*\.csv$/)
  await lookAt(page, 'uso-gasto')
  await page.getByRole('button', { name: 'pedido-4812' }).click()
  const rows = page.getByRole('button', { name: /^Ver a cobrança de/ })
  await rows.nth(1).waitFor()
  assert.equal(await rows.count(), 2)
  await page.close()
})

test('the export contains every charge of the period', async () => {
  const page = await browser.newPage()
  await page.goto('/uso')
  await page.getByRole('button', { name: 'Exportar' }).click()
  // In the customer's zone, the charges of an hour ago may be of yesterday, and those of last month.
  await page.getByRole('dialog').getByLabel('De').fill('2026-01-01')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Baixar CSV' }).click(),
  ])
  const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n')
  assert.equal(lines.length, SEEDED + 3)
  assert.match(download.suggestedFilename(), /^uso-2026-01-01-a-.*\.csv$/)
  await page.close()
})

test('a refused export shows an error instead of a file, and a long one can be cancelled', async () => {
  // The console shows this expected refusal.
  const page = await browser.context.newPage()
  await page.goto('/uso')
  await page.getByRole('button', { name: 'Exportar' }).click()
  const json = { error: 'too_many_exports' }
  await page.route('**/usage/export.csv*', (route) => route.fulfill({ status: 429, json }))
  await page.getByRole('button', { name: 'Baixar CSV' }).click()
  await page.getByRole('alert').filter({ hasText: 'Já há uma exportação em andamento' }).waitFor()
  // Never answered.
  await page.route('**/usage/export.json*', () => {})
  await page.getByRole('button', { name: 'Baixar JSON' }).click()
  await page.getByText('Preparando o arquivo…').waitFor()
  await page.getByRole('button', { name: 'Cancelar' }).click()
  await page.getByRole('button', { name: 'Baixar JSON' }).waitFor()
  await page.close()
})

test('the catalog shows prices in reais, can be searched, and compares models', async () => {
  const page = await browser.newPage()
  await page.goto('/modelos')
  await page.getByRole('searchbox').fill('sandbox-ch')
  const row = page.getByRole('row', { name: /sandbox-chat/ })
  // 1 USD of input and 2 USD of output, times 5.20, times 1.25.
  assert.match((await row.textContent()) ?? '', /R\$\s6,50R\$\s13,00/)
  await page.getByLabel('Comparar sandbox-chat').check()
  await page.getByRole('searchbox').fill('gpt 4o mini')
  await page.getByLabel('Comparar GPT-4o mini', { exact: true }).check()
  await page.getByRole('button', { name: 'Comparar', exact: true }).click()
  const comparison = page.getByRole('dialog').getByRole('row', { name: /^Saída, 1 milhão/ })
  assert.match((await comparison.textContent()) ?? '', /R\$\s13,00/)
  await assertAccessible(page, 'comparação')
  await page.close()
})

test('a new call appears in the log on its own, and home shows the latency of calls', async () => {
  const page = await browser.newPage()
  await page.goto('/uso?modelo=sandbox-slow')
  await page.getByRole('heading', { name: 'Uso', level: 1 }).waitFor()
  await page.getByText('Carregando').waitFor({ state: 'detached' })
  await askChat(gateway.node.baseUrl, secret, sound('sandbox-slow'))
  await page.getByRole('button', { name: /Ver a cobrança de sandbox-slow/ }).waitFor()
  await page.goto('/')
  await page.getByText(/^Mediana de .*, p95 de /).waitFor()
  await page.close()
})

test('no page has errors in its console', () => {
  const unreadable = /status of 400 .*(status=1|status=cobradas|from=20260101)$/
  assert.deepEqual(
    browser.faults.filter((fault) => !unreadable.test(fault)),
    [],
  )
})

function decimalComma(value: number): string {
  return value.toFixed(12).replace(/0+$/, '').replace('.', ',')
}
