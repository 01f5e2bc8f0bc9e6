/** The whole first run of a customer, in one tab: each step leads on to the next. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAudit } from '../harness/assert-audit.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { startBrowser, type BrowserUnderTest } from './browser.ts'
import { payPix } from './pay-pix.ts'
import { confirmEmail, signUp, type Person } from './sign-up.ts'

const LIA: Person = {
  name: 'Lia Rocha',
  email: 'lia@exemplo.com.br',
  password: 'uma frase bem comprida',
}
const QUESTION = 'Quanto custa esta resposta?'

let gateway: GatewayProcess
let browser: BrowserUnderTest

before(async () => {
  gateway = await startGatewayProcess()
  browser = await startBrowser(new URL(gateway.node.baseUrl).origin)
})
after(async () => {
  await browser?.close()
  await gateway?.stop()
})

test('from sign-up to the export: profile, Pix, key, playground, usage; every page shows the same spending', async () => {
  const page = await browser.newPage()
  await signUp(page, LIA)
  await confirmEmail(page, LIA)

  await goTo(page, 'Perfil')
  await page.getByLabel('CPF ou CNPJ').pressSequentially('52998224725')
  await page.getByRole('button', { name: 'Salvar dados' }).click()
  await page.getByText('Dados salvos.').waitFor()

  await goTo(page, 'Recargas')
  await page.getByRole('button', { name: 'R$ 50', exact: true }).click()
  await page.getByRole('button', { name: 'Gerar Pix de R$ 50,00' }).click()
  await page.getByRole('img', { name: /QR Code do Pix/ }).waitFor()
  await payPix(page)
  await page.getByText('Pago. O saldo já está na sua conta.').last().waitFor()

  await goTo(page, 'Chaves')
  await page.getByRole('button', { name: 'Criar a primeira chave' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Nome').fill('Meu site')
  await dialog.getByRole('button', { name: 'Criar chave' }).click()
  await page.getByRole('button', { name: 'Já guardei a chave' }).click()

  await goTo(page, 'Playground')
  await page.getByLabel('Mensagem', { exact: true }).fill(QUESTION)
  await page.getByLabel('Mensagem', { exact: true }).press('Enter')
  await page.getByText(/1º token em .* ao todo/).waitFor()
  const spent = await chargedOf(gateway)
  assert.ok(spent > 0n)
  const shown = asNano(await textOf(page, /^Esta conversa/))
  assert.equal(shown, spent)

  await goTo(page, 'Uso')
  const row = page.getByRole('row').filter({ hasText: 'sandbox-chat' })
  await row.waitFor()
  assert.equal(await row.count(), 1)
  await page.getByRole('button', { name: 'Exportar' }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Baixar CSV' }).click(),
  ])
  const [head = '', line = '', ...more] = (await readFile(await download.path(), 'utf8'))
    .trim()
    .split('\r\n')
  assert.deepEqual(more, [])
  const place = head.split(';').indexOf('Valor cobrado (BRL)')
  assert.equal(asNano(`R$ ${line.split(';')[place]}`), spent)

  assert.deepEqual(browser.faults, [])
  await assertAudit(gateway.database)
})

async function goTo(page: Page, name: string): Promise<void> {
  // The previous page's dialog must be gone, or it would be in the way.
  await page.getByRole('navigation').getByRole('link', { name, exact: true }).first().click()
  await page.getByRole('heading', { name, level: 1 }).waitFor()
}

async function textOf(page: Page, pattern: RegExp): Promise<string> {
  return (await page.getByText(pattern).first().textContent()) ?? ''
}

async function chargedOf({ database }: GatewayProcess): Promise<bigint> {
  const { total } = await database.db
    .selectFrom('usage_events')
    .select(({ fn }) => fn.sum<string>('cost_billed_nano_brl').as('total'))
    .executeTakeFirstOrThrow()
  return BigInt(total)
}

/** Reads the first amount in the text. */
function asNano(text: string): bigint {
  const [, whole = '', decimals = ''] = /R\$\s(\d+)(?:,(\d+))?/.exec(text) ?? []
  return BigInt(`${whole}${decimals.padEnd(9, '0')}`)
}
