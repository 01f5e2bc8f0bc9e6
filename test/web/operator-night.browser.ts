/**
 * An operator's night without a command line: an alarm, the model paused, the incident opened, the customer found by the
 * id of a payment, the second factor reset by two operators; then the exchange rate by hand and an invoice.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { askChat, sound } from '../harness/ask.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { enableFactor, openSession } from '../harness/open-session.ts'
import { seedPayer } from '../harness/payer.ts'
import { seedPaidTopUp } from '../harness/seed-paid-top-up.ts'
import {
  assertAccessible,
  assertFits,
  settled,
  startBrowser,
  type BrowserUnderTest,
} from './browser.ts'
import { lookAt } from './look-at.ts'
import { enterAsOperator, type Person } from './sign-up.ts'

const PASSWORD = 'uma frase bem comprida'
const ANA: Person = { name: 'Ana Souza', email: 'ana@admin.example', password: PASSWORD }
const BIA: Person = { name: 'Bia Lima', email: 'bia@admin.example', password: PASSWORD }
/** As the customer reads it in a bank statement, or in the receipt. */
const PAYMENT = 'pay_7x2k9m4q'
const BROKEN = 'sandbox-error-500'

let gateway: GatewayProcess
let ana: BrowserUnderTest
let bia: BrowserUnderTest
let customerId: string

before(async () => {
  gateway = await startGatewayProcess({ ADMIN_EMAILS: `${ANA.email},${BIA.email}` })
  const { origin } = new URL(gateway.node.baseUrl)
  ;[ana, bia] = await Promise.all([startBrowser(origin), startBrowser(origin)])
  const { db } = gateway.database
  await Promise.all([enterAsOperator(ana, ANA, db), enterAsOperator(bia, BIA, db), seed()])
})
after(async () => {
  await Promise.all([ana?.close(), bia?.close()])
  await gateway?.stop()
})

/** A customer with a paid top-up, failed and refused calls, and a second factor on a lost phone. */
async function seed(): Promise<void> {
  const { db } = gateway.database
  const payer = await seedPayer(db)
  customerId = payer.customerId
  await db.updateTable('customers').set({ name: 'Marília' }).where('id', '=', customerId).execute()
  const topUpId = await seedPaidTopUp(db, { customerId, cents: 5_000 })
  await sql`update top_ups set processor_payment_id = ${PAYMENT} where id = ${topUpId}`.execute(db)
  await openSession({ db, dataDir: gateway.node.dataDir }, customerId)
  await enableFactor(db, customerId)
  for (const model of [BROKEN, BROKEN, 'sandbox-chat', 'um-modelo-que-nao-ha'])
    await askChat(gateway.node.baseUrl, payer.secret, sound(model))
}

async function openHome(browser: BrowserUnderTest): Promise<Page> {
  const page = await browser.newPage()
  await page.goto('/admin')
  await page.getByRole('heading', { name: 'Visão geral', level: 1 }).waitFor()
  return page
}

/** As on the cheapest phone, where nothing may be wider than the screen. */
async function assertNarrow(page: Page, name: string): Promise<void> {
  await page.setViewportSize({ width: 320, height: 640 })
  await settled(page)
  await assertFits(page, name)
  await page.setViewportSize({ width: 1280, height: 800 })
}

const tile = (page: Page, name: RegExp) => page.getByRole('main').getByRole('link', { name })

test('an operator goes from an alarm to the model paused, the incident, the customer and their second factor', async () => {
  const page = await openHome(ana)
  // Attempts at providers are counted some seconds late; the page follows by itself.
  await page
    .getByRole('region', { name: /^Provedores/ })
    .getByText(/^2 \(/)
    .waitFor()
  await tile(page, /^Incidentes abertos\s*0$/).waitFor()
  await tile(page, /^1 recarga paga/)
    .getByText(/50,00/)
    .waitFor()
  await lookAt(page, 'admin-visao-geral')
  await assertNarrow(page, 'visão geral')

  await page.goto(`/admin/modelos?q=${BROKEN}`)
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: /^Tirar do ar/ }).click()
  await dialog.getByLabel('Motivo').fill('Só falha desde as 2h')
  await dialog.getByRole('button', { name: 'Tirar do ar' }).click()
  await page.getByText(/Fora do ar desde/).waitFor()

  await page.getByRole('link', { name: 'Visão geral' }).click()
  await tile(page, /^Incidentes abertos/).click()
  await page.getByRole('button', { name: 'Abrir incidente' }).first().click()
  await dialog.getByLabel('Título').fill('Um modelo falha')
  await dialog.getByLabel('O que acontece').fill('Tiramos o modelo do ar e olhamos.')
  await dialog.getByRole('button', { name: 'Conferir' }).click()
  await dialog.getByRole('button', { name: 'Publicar incidente' }).click()
  await page.getByText('Incidente aberto: já está na página Status.').waitFor()

  await page.getByRole('link', { name: 'Clientes', exact: true }).first().click()
  await page.getByLabel(/^Buscar pelo que/).fill(PAYMENT)
  await page.keyboard.press('Enter')
  await page.getByText('por um pagamento').waitFor()
  await assertNarrow(page, 'clientes')
  await page.getByRole('link', { name: 'Marília' }).click()
  await page.getByRole('heading', { name: 'Marília', level: 1 }).waitFor()
  const calls = page.getByRole('region', { name: 'Últimas chamadas' })
  await calls.getByText('falhou').first().waitFor()
  assert.equal(await calls.getByRole('row').count(), 4)
  await page
    .getByRole('region', { name: 'Recusadas em sete dias' })
    .getByText('model_not_found')
    .waitFor()
  await page.getByRole('region', { name: 'Últimos e-mails' }).waitFor()
  const factor = page.getByRole('region', { name: 'Verificação em duas etapas' })
  await factor.getByRole('button', { name: 'Pedir para desligar' }).click()
  await dialog.getByRole('button', { name: 'Pedir para desligar' }).click()
  await dialog.getByText('Escreva o motivo').waitFor()
  await dialog.getByLabel('Motivo').fill('Ligou do telefone do cadastro')
  await assertAccessible(page, 'pedir para desligar')
  await dialog.getByRole('button', { name: 'Pedir para desligar' }).click()
  await factor.getByText(/Outro operador precisa confirmar/).waitFor()
  assert.equal(await factor.getByRole('button').count(), 0, 'nobody confirms their own request')
  await lookAt(page, 'admin-cliente-uso')
  await assertNarrow(page, 'cliente')
  await page.close()
})

test('another operator finds the request on the home page, confirms it, and the customer hears of it', async () => {
  const page = await openHome(bia)
  await tile(page, /^Incidentes abertos\s*1$/).waitFor()
  await page
    .getByRole('region', { name: /^Pedidos de desligar/ })
    .getByRole('link')
    .click()
  const factor = page.getByRole('region', { name: 'Verificação em duas etapas' })
  await factor.getByText(/Ana Souza pediu .*Ligou do telefone do cadastro/).waitFor()
  await factor.getByRole('button', { name: 'Confirmar o pedido' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Motivo').fill('Confirmei pelo e-mail do contrato')
  await dialog.getByRole('button', { name: 'Desligar', exact: true }).click()
  await factor.getByText('Desligada.').waitFor()
  await page
    .getByRole('region', { name: 'Últimos e-mails' })
    .getByText('Segurança da conta')
    .first()
    .waitFor()
  await page.goto(`/admin/auditoria?cliente=${customerId}`)
  await page.getByText('Desligou a verificação em duas etapas de um cliente').waitFor()
  await page.close()
})

test('the exchange rate is set by hand and taken back', async () => {
  const page = await ana.newPage()
  await page.goto('/admin/cambio')
  await page.getByRole('button', { name: 'Definir à mão' }).click()
  const dialog = page.getByRole('dialog')
  const set = dialog.getByRole('button', { name: 'Definir câmbio' })
  await dialog.getByLabel('R$ por US$').fill('52,1')
  await dialog.getByLabel('Motivo').fill('O Banco Central não responde')
  await dialog.getByText(/só a linha de comando a define/).waitFor()
  assert.ok(await set.isDisabled(), 'a slip is refused')
  await dialog.getByLabel('R$ por US$').fill('5,4321')
  await assertAccessible(page, 'definir câmbio')
  await set.click()
  await page.getByText('Câmbio em vigor: R$ 5,4321 por US$.').waitFor()
  const shown = page.getByRole('region', { name: 'Em vigor agora' }).getByText('R$ 5,4321 por US$')
  await shown.waitFor()
  await assertNarrow(page, 'câmbio')
  await page.getByRole('button', { name: 'Retirar esta taxa' }).click()
  await dialog.getByLabel('Motivo').fill('Ele voltou a responder')
  await dialog.getByRole('button', { name: 'Retirar taxa' }).click()
  await shown.waitFor({ state: 'detached' })
  await page.close()
})

test('the invoice of a provider is imported from its file, and a wrong one is explained', async () => {
  const page = await ana.newPage()
  await page.goto('/admin/conciliacao')
  const card = page.getByRole('region', { name: 'Importar a fatura de um provedor' })
  const choose = (text: string) =>
    card.getByLabel('Arquivo').setInputFiles({
      name: 'fatura.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(text),
    })
  await card.getByRole('button', { name: 'Importar' }).click()
  await card.getByText('Escolha o arquivo.').waitFor()
  await choose('day,cost_usd\n2026-01-02,dez\n')
  await card.getByRole('button', { name: 'Importar' }).click()
  await card
    .getByRole('alert')
    .getByText(/linha 2/)
    .waitFor()
  const day = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10)
  await choose(`day,cost_usd\n${day},12.5\n`)
  await card.getByRole('button', { name: 'Importar' }).click()
  await page.getByText(/importada: 1 dia não bate\./).waitFor()
  await page
    .getByRole('region', { name: 'Custos dos provedores, por dia' })
    .getByText('sandbox')
    .waitFor()
  await assertNarrow(page, 'conciliação')
  await lookAt(page, 'admin-conciliacao-fatura')
  await page.close()
})

test('the console shows no errors except the expected refusal', () => {
  const faults = [...ana.faults, ...bia.faults]
  assert.deepEqual(
    faults.filter((fault) => !/status of 400 .*upstream-costs$/.test(fault)),
    [],
  )
})
