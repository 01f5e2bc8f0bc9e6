/** The operators' pages about customers: each act in the browser, and that other users have no access. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { recordFindings } from '../../src/money/reconciliation/discrepancies.ts'
import { seedPaidTopUp } from '../harness/seed-paid-top-up.ts'
import { ask } from '../harness/ask.ts'
import { sql } from 'kysely'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { seedPayer } from '../harness/payer.ts'
import { startBrowser, type BrowserUnderTest } from './browser.ts'
import { lookAt } from './look-at.ts'
import { enterAs, enterAsOperator, type Person } from './sign-up.ts'

const PASSWORD = 'uma frase bem comprida'
const ANA: Person = { name: 'Ana Souza', email: 'ana@admin.example', password: PASSWORD }
const BIA: Person = { name: 'Bia Lima', email: 'bia@admin.example', password: PASSWORD }
const RUI: Person = { name: 'Rui Dias', email: 'rui@exemplo.com.br', password: PASSWORD }

let gateway: GatewayProcess
let ana: BrowserUnderTest
let bia: BrowserUnderTest
let rui: BrowserUnderTest
/** The customer that the operators act on. */
let customerId: string

before(async () => {
  gateway = await startGatewayProcess({ ADMIN_EMAILS: `${ANA.email},${BIA.email}` })
  const { origin } = new URL(gateway.node.baseUrl)
  ;[ana, bia, rui] = await Promise.all([
    startBrowser(origin),
    startBrowser(origin),
    startBrowser(origin),
  ])
  const { db } = gateway.database
  await Promise.all([
    enterAsOperator(ana, ANA, db),
    enterAsOperator(bia, BIA, db),
    enterAs(rui, RUI),
    seed(),
  ])
})
after(async () => {
  await Promise.all([ana?.close(), bia?.close(), rui?.close()])
  await gateway?.stop()
})

/** A paid boleto, a requested refund of most of it, and a discrepancy. */
async function seed(): Promise<void> {
  const { db } = gateway.database
  const payer = await seedPayer(db)
  customerId = payer.customerId
  await db.updateTable('customers').set({ name: 'Marília' }).where('id', '=', customerId).execute()
  await seedPaidTopUp(db, { customerId, cents: 300_000, daysAgo: 30, method: 'boleto' })
  const asked = await ask(gateway.node.baseUrl, '/me/refunds', {
    secret: payer.secret,
    body: { amount: 700, reason: 'Mudei de planos' },
  })
  assert.equal(asked.json.status, 'requested', asked.text)
  await recordFindings(
    db,
    { subject: 'payment:pay_1', processor: 'asaas', processorPaymentId: 'pay_1' },
    [{ kind: 'payment_without_top_up', oursNanoBrl: 0n, theirsNanoBrl: 50_000_000_000n }],
    createLog('silent', () => {}),
  )
}

async function balance(): Promise<number> {
  const account = await findAccount(gateway.database.db, customerId)
  return Number(account?.balanceNanoBrl) / 1e9
}

async function openCustomer(browser: BrowserUnderTest): Promise<Page> {
  const page = await browser.newPage()
  await page.goto(`/admin/clientes/${customerId}`)
  await page.getByRole('heading', { name: 'Marília', level: 1 }).waitFor()
  return page
}

/** Fills the form and reads the confirmation. */
async function writeAdjustment(page: Page, amount: string, reason: string): Promise<Locator> {
  await page.getByRole('button', { name: 'Novo ajuste' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Valor').fill(amount)
  await dialog.getByLabel('Motivo').fill(reason)
  await dialog.getByRole('button', { name: 'Conferir' }).click()
  return dialog
}

test('a user who is no admin finds nothing under /admin or in any menu, and the server refuses them', async () => {
  const page = await rui.newPage()
  await page.goto('/')
  await page.getByRole('button', { name: /Sua conta/ }).click()
  assert.equal(await page.getByRole('link', { name: 'Operação' }).count(), 0)
  for (const path of ['/admin', '/admin/clientes', `/admin/clientes/${customerId}`]) {
    await page.goto(path)
    await page.getByRole('heading', { name: 'Página não encontrada', level: 1 }).waitFor()
  }
  const answers = (await page.evaluate(
    `Promise.all(['/v1/admin/customers', '/v1/admin/audit-log'].map(async (path) => (await fetch(path)).status))`,
  )) as number[]
  assert.deepEqual(answers, [403, 403])
  await page.close()
})

test('an admin opens /admin from the account menu, finds a customer, and a credit below the limit is posted at once', async () => {
  const before = await balance()
  const page = await ana.newPage()
  await page.goto('/')
  await page.getByRole('button', { name: /Sua conta/ }).click()
  await page.getByRole('link', { name: 'Operação' }).click()
  await page.getByRole('heading', { name: 'Visão geral', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'Clientes', exact: true }).first().click()
  await page.getByLabel(/^Buscar pelo que/).fill('529.982')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Marília' }).click()
  await page.getByRole('heading', { name: 'Marília', level: 1 }).waitFor()
  await lookAt(page, 'admin-cliente')
  const dialog = await writeAdjustment(page, '49,90', 'Cortesia pelo incidente')
  await dialog.getByText(/49,90 entram no saldo de Marília/).waitFor()
  await lookAt(page, 'admin-cliente-ajuste')
  await dialog.getByRole('button', { name: /^Creditar R\$/ }).click()
  await page.getByText(/Crédito de R\$\s49,90 lançado/).waitFor()
  const adjustments = page.getByRole('region', { name: 'Ajustes' })
  await adjustments.getByText('Cortesia pelo incidente').waitFor()
  assert.equal(await balance(), before + 49.9)
  await page.close()
})

test('a CPF without dots finds its customer and nobody else, also from a link', async () => {
  const page = await ana.newPage()
  await page.goto('/admin/clientes')
  await page.getByRole('link', { name: RUI.name }).waitFor()
  const search = page.getByLabel(/^Buscar pelo que/)
  await search.fill('52998224725')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: RUI.name }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Marília' }).waitFor()
  await page.goto('/admin/clientes?q=52998224725')
  await page.getByRole('link', { name: 'Marília' }).waitFor()
  assert.equal(await search.inputValue(), '52998224725')
  assert.equal(await page.getByRole('link', { name: RUI.name }).count(), 0)
  for (const text of ['52998224726', '11111111111111111111', 'true', '1e10']) {
    await page.goto(`/admin/clientes?q=${text}`)
    await page.getByText('Ninguém encontrado').waitFor()
  }
  await page.goto('/admin/modelos?estado=1')
  await page.getByText('Nenhum modelo assim').waitFor()
  await page.close()
})

test('a credit above the limit waits for a second admin; its requester cannot approve it', async () => {
  const before = await balance()
  const page = await openCustomer(ana)
  const dialog = await writeAdjustment(page, '1.500', 'Acordo comercial')
  await dialog.getByText(/outro operador precisa aprovar/).waitFor()
  await dialog.getByRole('button', { name: /^Pedir aprovação/ }).click()
  await page.getByText('Você pediu: outro operador precisa aprovar.').waitFor()
  assert.equal(await page.getByRole('button', { name: /^Aprovar/ }).count(), 0)
  assert.equal(await balance(), before)
  await page.close()

  const other = await bia.newPage()
  await other.goto('/admin/ajustes')
  await other.getByRole('button', { name: /^Aprovar \+ R\$/ }).click()
  const asked = other.getByRole('dialog')
  await asked.getByText(/1\.500,00 entram no saldo de Marília/).waitFor()
  await asked.getByRole('button', { name: /^Aprovar R\$/ }).click()
  await other.getByText('Nada espera aprovação').waitFor()
  assert.equal(await balance(), before + 1_500)
  await other.close()
})

test('a debit beyond the balance is refused with an explanation, and an invalid amount at its field', async () => {
  const page = await bia.newPage()
  await page.goto(`/admin/clientes?q=${encodeURIComponent(RUI.email)}`)
  await page.getByRole('link', { name: RUI.name }).click()
  await page.getByRole('heading', { name: RUI.name, level: 1 }).waitFor()
  await page.getByRole('button', { name: 'Novo ajuste' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Débito').click()
  await dialog.getByLabel('Valor').fill('dez')
  await dialog.getByRole('button', { name: 'Conferir' }).click()
  await dialog.getByText('Digite um valor em reais').waitFor()
  await dialog.getByText('Escreva o motivo').waitFor()
  await dialog.getByLabel('Valor').fill('10')
  await dialog.getByLabel('Motivo').fill('Estorno de cortesia')
  await dialog.getByRole('button', { name: 'Conferir' }).click()
  await dialog.getByText(/10,00 saem do saldo de Rui Dias/).waitFor()
  await dialog.getByRole('button', { name: /^Debitar/ }).click()
  await dialog.getByRole('alert').getByText('não cobre este débito').waitFor()
  await page.close()
})

test('a suspension explains its effect, takes a reason for the customer, and can be lifted', async () => {
  const page = await openCustomer(ana)
  const isSuspended = () =>
    gateway.database.db
      .selectFrom('customers')
      .select(['suspended_reason', 'suspended_text'])
      .where('id', '=', customerId)
      .executeTakeFirstOrThrow()
  await page.getByRole('button', { name: 'Suspender conta' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/chamadas de modelos e todas as recargas são recusadas/).waitFor()
  await dialog.getByRole('button', { name: 'Suspender conta' }).click()
  await dialog.getByText('Escreva o motivo').waitFor()
  assert.equal((await isSuspended()).suspended_reason, null)
  await dialog.getByLabel('Motivo').fill('Falta o contrato social.\nEnvie uma cópia.')
  await lookAt(page, 'admin-cliente-suspender')
  await dialog.getByRole('button', { name: 'Suspender conta' }).click()
  await page.getByText(/Conta suspensa desde .* lê: “Falta o contrato social/).waitFor()
  assert.deepEqual(await isSuspended(), {
    suspended_reason: 'operator',
    suspended_text: 'Falta o contrato social. Envie uma cópia.',
  })
  await page.getByRole('button', { name: 'Reativar conta' }).click()
  await dialog.getByRole('button', { name: 'Reativar conta' }).click()
  await page.getByRole('button', { name: 'Suspender conta' }).waitFor()
  assert.equal((await isSuspended()).suspended_reason, null)
  await page.close()
})

test('a note on a customer has its author, the newest first, is not sent empty, and is deleted once confirmed', async () => {
  const first = await openCustomer(bia)
  const write = async (page: Page, note: string): Promise<void> => {
    await page.getByLabel('Nova anotação').fill(note)
    await page.getByRole('button', { name: 'Anotar', exact: true }).click()
  }
  await write(first, ' ')
  await first.getByText('Escreva a anotação.').waitFor()
  await write(first, 'Ligou sobre a recarga.\nVolta amanhã.')
  await first.getByText('Anotação guardada.').waitFor()
  assert.equal(await first.getByLabel('Nova anotação').inputValue(), '')
  await first.close()
  const page = await openCustomer(ana)
  await write(page, 'Voltou a ligar.')
  const notes = page.getByRole('region', { name: 'Anotações' }).getByRole('listitem')
  await notes.filter({ hasText: 'Voltou a ligar.' }).waitFor()
  const texts = await notes.allInnerTexts()
  assert.equal(texts.length, 2)
  assert.match(texts[0] ?? '', /^Voltou a ligar\.\s+Ana Souza/)
  assert.match(texts[1] ?? '', /^Ligou sobre a recarga\.\nVolta amanhã\.\s+Bia Lima/)
  await lookAt(page, 'admin-cliente-anotacoes')
  await notes.first().getByRole('button', { name: 'Excluir anotação' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Voltou a ligar.').waitFor()
  await lookAt(page, 'admin-cliente-excluir-anotacao')
  await dialog.getByRole('button', { name: 'Excluir anotação' }).click()
  await page.getByText('Anotação excluída.').waitFor()
  await notes.filter({ hasText: 'Voltou a ligar.' }).waitFor({ state: 'detached' })
  assert.equal(await notes.count(), 1)
  await page.close()
})

test('a refund is approved and transferred by hand', async () => {
  const page = await ana.newPage()
  await page.goto('/admin/reembolsos')
  await page.getByRole('button', { name: /^Aprovar o reembolso de R\$/ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: /^Aprovar R\$/ }).click()
  await page.getByText('Nada para decidir').waitFor()
  await page.getByRole('button', { name: 'Para transferir à mão' }).click()
  await page.getByRole('button', { name: /^Já transferi/ }).waitFor()
  await lookAt(page, 'admin-reembolso-a-mao')
  await page.getByRole('button', { name: /^Já transferi/ }).click()
  await dialog.getByText(/R\$\s700,00 foram transferidos a Marília/).waitFor()
  await dialog.getByRole('button', { name: /^Confirmar transferência/ }).click()
  await page.getByText('Nada para transferir').waitFor()
  await page.close()
})

test('a discrepancy is explained, and the audit log has every act with its actor', async () => {
  const page = await ana.newPage()
  await page.goto('/admin/conciliacao')
  await page.getByRole('button', { name: 'Explicar' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Explicação').fill('Teste do processador')
  await dialog.getByRole('button', { name: 'Explicar diferença' }).click()
  await page.getByText('Nenhuma diferença conhecida').waitFor()
  // Only a comparison that is not old says that all agrees.
  await sql`insert into reconciliation_runs (id, processor, from_day, to_day, started_at, finished_at)
    values (gen_random_uuid(), 'asaas', current_date, current_date, now(), now())`.execute(
    gateway.database.db,
  )
  await page.reload()
  await page.getByText('Tudo bate').waitFor()
  await page.getByRole('button', { name: 'Explicadas (1)' }).click()
  await page.getByText('Teste do processador').waitFor()

  await page.goto(`/admin/auditoria?cliente=${customerId}`)
  await page.getByText('Aprovou um ajuste').waitFor()
  await page.getByLabel('Ato', { exact: true }).selectOption('adjustment.')
  await page.getByText('Suspendeu a conta').waitFor({ state: 'detached' })
  await page.getByText('Aprovou um ajuste').waitFor()
  assert.deepEqual(await page.locator('main li p').allTextContents(), [
    'Bia Lima · Aprovou um ajuste · de Marília',
    'Ana Souza · Pediu um ajuste · de Marília',
    'Ana Souza · Lançou um ajuste · de Marília',
  ])
  await page.locator('summary').first().click()
  await page
    .getByRole('region', { name: 'Detalhes de adjustment.approved' })
    .getByText('"amount_brl": "1500"')
    .waitFor()
  await lookAt(page, 'admin-auditoria-ato')
  await page.close()
})

test('the console shows no errors except the expected refusals', () => {
  const faults = [...ana.faults, ...bia.faults, ...rui.faults]
  const meant =
    /status of (403 .*\/v1\/admin\/(customers|audit-log)|409 .*\/v1\/admin\/adjustments)$/
  assert.deepEqual(
    faults.filter((fault) => !meant.test(fault)),
    [],
  )
})
