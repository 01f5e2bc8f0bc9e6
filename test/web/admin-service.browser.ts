/** The operators' pages about the service: margins, markups, incidents, exchange rate, health, deliveries. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createId } from '../../src/platform/lib/ids.ts'
import { ask } from '../harness/ask.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { assertAccessible, settled, startBrowser, type BrowserUnderTest } from './browser.ts'
import { seedUseOf } from './seed-use-of.ts'
import { enterAsOperator } from './sign-up.ts'

const ANA = { name: 'Ana Dias', email: 'ana@admin.example', password: 'uma frase bem comprida' }

let gateway: GatewayProcess
let browser: BrowserUnderTest

before(async () => {
  gateway = await startGatewayProcess({ ADMIN_EMAILS: ANA.email })
  browser = await startBrowser(new URL(gateway.node.baseUrl).origin)
  await enterAsOperator(browser, ANA, gateway.database.db)
  await seedUseOf(gateway.database.db, ANA.email)
})
after(async () => {
  await browser?.close()
  await gateway?.stop()
})

async function open(path: string, heading: string): Promise<Page> {
  const page = await browser.newPage()
  await page.goto(path)
  await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
  await settled(page)
  return page
}

async function end(page: Page, name: string): Promise<void> {
  await settled(page)
  await assertAccessible(page, name)
  assert.deepEqual(browser.faults, [])
  await page.close()
}

/** `R$ 1.234,56`, as the page shows it. */
function brlOf(nano: bigint): RegExp {
  const text = (Number(nano / 1_000_000n) / 1_000).toLocaleString('pt-BR', {
    style: 'currency',
    currency: 'BRL',
  })
  return new RegExp(text.replaceAll(/[$.]/g, String.raw`\$&`).replaceAll(/\s/g, String.raw`\s`))
}

test('margins show the charges and costs of the chosen period', async () => {
  const page = await open('/admin/margens?periodo=92-dias', 'Margens')
  const rows = await gateway.database.db
    .selectFrom('usage_events')
    .select(['cost_billed_nano_brl as billed', 'cost_upstream_pico_usd as cost', 'fx_rate_e4'])
    .where('outcome', '=', 'charged')
    .execute()
  const billed = rows.reduce((sum, row) => sum + row.billed, 0n)
  const cost = rows.reduce((sum, row) => sum + row.cost * BigInt(row.fx_rate_e4), 0n) / 10_000_000n
  const shown = (await page.getByRole('main').textContent()) ?? ''
  for (const amount of [billed, cost, billed - cost]) assert.match(shown, brlOf(amount))
  const table = page.getByRole('region', { name: 'Margem por modelo' })
  assert.equal(await table.getByRole('row').count(), 1 + 4, 'a row for each model that was used')
  await page.getByLabel('Período').selectOption({ label: 'Últimos 7 dias' })
  await page.waitForURL(/periodo=7/)
  await page
    .getByText(/Margem/)
    .first()
    .waitFor()
  await end(page, 'margens')
})

test('a provider is added, tested, paused, resumed, gets another key, and is deleted', async () => {
  const page = await open('/admin/provedores', 'Provedores')
  await page.getByText('da sandbox').first().waitFor()
  await page.getByRole('button', { name: 'Acrescentar provedor' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Provedor', { exact: true }).selectOption('vllm')
  await dialog.getByLabel('Endereço').fill('https://llm.example/v1')
  await dialog.getByLabel('Chave do provedor').fill('sk-of-our-own-server-wxyz')
  await assertAccessible(page, 'acrescentar provedor')
  await dialog.getByRole('button', { name: 'Acrescentar e testar' }).click()
  await dialog.getByText(/Nenhum modelo de chat dele tem um preço conhecido/).waitFor()
  assert.equal(await dialog.getByRole('button', { name: 'Cancelar' }).count(), 0, 'it is done')
  await dialog.getByRole('button', { name: 'Pronto' }).click()
  const entry = page.getByRole('listitem').filter({ hasText: 'llm.example' })
  await entry.getByText(/^vLLM · .*chave …wxyz/).waitFor()
  await entry.getByRole('button', { name: 'Pausar vllm' }).click()
  await entry.getByText('pausado', { exact: true }).waitFor()
  await entry.getByRole('button', { name: 'Retomar vllm' }).click()
  await entry.getByRole('button', { name: 'Drenar vllm' }).waitFor()
  await entry.getByRole('button', { name: 'Trocar a chave vllm' }).click()
  await dialog.getByLabel('Chave do provedor').fill('sk-of-our-own-server-abcd')
  await dialog.getByRole('button', { name: 'Trocar a chave' }).click()
  await entry.getByText(/chave …abcd/).waitFor()
  await entry.getByRole('button', { name: 'Excluir vllm' }).click()
  await dialog.getByRole('button', { name: 'Excluir' }).click()
  await entry.waitFor({ state: 'detached' })
  await page.setViewportSize({ width: 390, height: 844 })
  const bar = page.getByRole('navigation', { name: 'Operação' }).filter({ visible: true })
  await bar.getByRole('link', { name: 'Visão geral' }).waitFor()
  await page.setViewportSize({ width: 1280, height: 900 })
  await end(page, 'provedores')
})

test('a model with its prices and routes is written, gets a second route, and is deleted', async () => {
  const page = await open('/admin/modelos', 'Modelos')
  await page.getByRole('button', { name: 'Acrescentar modelo' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Id', { exact: true }).fill('meu-llama')
  await dialog.getByLabel('Entrada', { exact: true }).fill('0,2')
  await dialog.getByLabel('Saída', { exact: true }).fill('0,6')
  await dialog.getByLabel('Provedor da rota 1').selectOption('sandbox')
  await dialog.getByLabel('Nome do modelo no provedor, rota 1').fill('sandbox-chat')
  await assertAccessible(page, 'acrescentar modelo')
  await dialog.getByRole('button', { name: 'Salvar' }).click()
  await dialog.waitFor({ state: 'detached' })
  const entry = page.getByRole('listitem').filter({ hasText: 'meu-llama' })
  await entry.getByText(/não informado · Chat · salvo aqui · por sandbox/).waitFor()
  // USD 0.20 and 0.60, times 5.20, times 1.25.
  await entry.getByText(/^Clientes pagam: entrada R\$\s1,30, saída R\$\s3,90$/).waitFor()
  await entry.getByRole('button', { name: 'Rotas e preços de meu-llama' }).click()
  await dialog.getByRole('button', { name: 'Acrescentar rota' }).click()
  await dialog.getByLabel('Provedor da rota 2').selectOption('sandbox-responses')
  await dialog.getByLabel('Nome do modelo no provedor, rota 2').fill('sandbox-chat')
  await dialog.getByRole('button', { name: 'Salvar' }).click()
  await dialog.waitFor({ state: 'detached' })
  await entry.getByText(/por sandbox, sandbox-responses/).waitFor()
  await entry.getByRole('button', { name: 'Rotas e preços de meu-llama' }).click()
  await dialog.getByRole('button', { name: 'Excluir o que foi salvo aqui' }).click()
  await entry.waitFor({ state: 'detached' })
  await end(page, 'modelo escrito')
})

test('one act marks up all models of a maker', async () => {
  const page = await open('/admin/modelos?q=mistral', 'Modelos')
  await page.getByRole('button', { name: 'Mudar vários multiplicadores' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('De quais modelos').selectOption('mistral')
  await dialog.getByLabel('Multiplicador novo').fill('1,1')
  await dialog.getByText('Agora', { exact: true }).click()
  await dialog.getByLabel('Motivo').fill('contrato novo')
  await assertAccessible(page, 'vários multiplicadores')
  await dialog.getByRole('button', { name: 'Conferir' }).click()
  await dialog.getByRole('button', { name: 'Mudar agora' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('×1,10').first().waitFor()
  await end(page, 'vários multiplicadores')
})

test('a rise is planned with notice and withdrawn, and a model is taken out of service and put back', async () => {
  const page = await open('/admin/modelos?q=sandbox-chat', 'Modelos')
  const entry = page.getByRole('listitem').filter({ hasText: 'sandbox-chat' }).first()
  await entry.getByRole('button', { name: /^Mudar o multiplicador/ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Multiplicador novo').fill('1,5')
  await dialog.getByLabel('Motivo').fill('custos novos')
  await dialog.getByText('Agora', { exact: true }).click()
  await dialog.getByRole('button', { name: 'Conferir' }).click()
  await dialog.getByText(/É um aumento, e precisa de 7 dias de aviso/).waitFor()
  await dialog.getByText('Em uma data').click()
  await dialog.getByRole('button', { name: 'Conferir' }).click()
  await dialog.getByText(/passa de ×1,25 para ×1,50 \(\+20%/).waitFor()
  await dialog.getByText(/recebe um e-mail com o preço novo/).waitFor()
  await assertAccessible(page, 'confirmar multiplicador')
  await dialog.getByRole('button', { name: 'Marcar mudança' }).click()
  await entry.getByText(/×1,50 \(\+20%\)/).waitFor()
  await entry.getByRole('button', { name: /^Cancelar mudança/ }).click()
  await dialog.getByRole('button', { name: 'Cancelar mudança' }).click()
  await page.getByText('Mudança cancelada.').waitFor()
  await entry.getByText(/×1,50/).waitFor({ state: 'detached' })
  await entry.getByRole('button', { name: /^Tirar do ar/ }).click()
  await dialog.getByLabel('Motivo').fill('manutenção')
  await dialog.getByRole('button', { name: 'Tirar do ar' }).click()
  await entry.getByText(/Fora do ar desde/).waitFor()
  const visitor = await open('/status', 'Status')
  // Of the banner, and of the page.
  await visitor
    .getByText(/^Fora do ar: /)
    .nth(1)
    .waitFor()
  assert.equal(await visitor.getByText('Tudo funcionando').count(), 0)
  await visitor.close()
  await entry.getByRole('button', { name: /^Colocar no ar/ }).click()
  await dialog.getByRole('button', { name: 'Colocar no ar' }).click()
  await entry.getByText(/Fora do ar desde/).waitFor({ state: 'detached' })
  await end(page, 'modelos')
})

test('an incident is opened, shown to everybody at /status, and resolved', async () => {
  const page = await open('/admin/incidentes', 'Incidentes')
  await page.getByRole('button', { name: 'Abrir incidente' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Título').fill('Lentidão no texto')
  await dialog.getByLabel('O que acontece').fill('Respostas demoram. Estamos olhando.')
  await dialog.getByText('Quais modelos (opcional)').click()
  await dialog.getByLabel('sandbox-chat', { exact: true }).check()
  await dialog.getByRole('button', { name: 'Conferir' }).click()
  await dialog.getByText(/Todos veem isto na página Status/).waitFor()
  await dialog.getByRole('button', { name: 'Publicar incidente' }).click()
  const entry = page.getByRole('listitem').filter({ hasText: 'Lentidão no texto' }).first()
  await entry.getByRole('button', { name: 'Atualizar Lentidão no texto' }).click()
  await dialog.getByLabel('Como está agora').fill('Metade voltou.')
  await dialog.getByRole('button', { name: 'Publicar atualização' }).click()
  await entry.getByText('Histórico: 2 atualizações').waitFor()

  const status = await open('/status', 'Status')
  await status.getByText('Um incidente em andamento').waitFor()
  await status.getByText('Metade voltou.').waitFor()
  const home = await open('/', 'Início')
  await home
    .getByRole('complementary', { name: 'Incidentes em andamento' })
    .getByText('Lentidão no texto')
    .waitFor()
  await assertAccessible(home, 'incidente no painel')
  await home.close()
  await entry.getByRole('button', { name: 'Resolver Lentidão no texto' }).click()
  await dialog.getByRole('button', { name: 'Resolver incidente' }).click()
  await page.getByText('Nenhum incidente em andamento').waitFor()
  await status.close()
  // Browsers may cache this answer for a while.
  assert.deepEqual((await ask(gateway.node.baseUrl, '/incidents/active')).json.incidents, [])
  const past = await open(`/status?${Date.now()}`, 'Status')
  await past.getByRole('heading', { name: 'Incidentes resolvidos' }).waitFor()
  await past.close()
  await page.getByRole('button', { name: 'Todos' }).click()
  await entry.getByText('Resolvido', { exact: true }).first().waitFor()
  await end(page, 'incidentes')
})

test('the health page shows this node alive, and the exchange rate with its source', async () => {
  const { id } = await gateway.database.db
    .selectFrom('nodes')
    .select('id')
    .executeTakeFirstOrThrow()
  const page = await open('/admin/saude', 'Saúde')
  const row = page.getByRole('row').filter({ hasText: id.slice(-12) })
  await row.getByText('vivo', { exact: true }).waitFor()
  await row.getByText('este', { exact: true }).waitFor()
  await page.getByText('Tudo em ordem').waitFor()
  await end(page, 'saúde')
  const rates = await open('/admin/cambio', 'Câmbio')
  await rates.getByText('R$ 5,2000').waitFor()
  await rates.getByText('fictícia, do modo de teste').first().waitFor()
  await end(rates, 'câmbio')
})

test('a webhook that failures disabled is enabled again; failed mails are listed', async () => {
  const { db } = gateway.database
  const { customerId } = gateway
  await db
    .insertInto('webhook_endpoints')
    .values({
      id: createId(),
      customer_id: customerId,
      url: 'https://hooks.example.com/segredo',
      description: null,
      event_types: null,
      secret_sealed: Buffer.from('sealed'),
      disabled_at: new Date(),
      disabled_reason: 'failing',
      failing_since: null,
    })
    .execute()
  await db
    .insertInto('notifications')
    .values({
      id: createId(),
      customer_id: customerId,
      template: 'saldo_baixo',
      status: 'failed',
      error: '550 mailbox unavailable',
    })
    .execute()
  const page = await open('/admin/entregas', 'Entregas')
  await page.getByText('550 mailbox unavailable').waitFor()
  await page.getByText('Saldo baixo').waitFor()
  const button = page.getByRole('button', { name: /Ligar de novo o webhook de https:/ })
  await button.click()
  await page.getByRole('dialog').getByRole('button', { name: 'Ligar webhook' }).click()
  await page.getByText('Todos os webhooks respondem').waitFor()
  assert.equal(await page.getByText('segredo').count(), 0)
  await end(page, 'entregas')
})
