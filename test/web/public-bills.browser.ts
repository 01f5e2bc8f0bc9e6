/** A customer shows a bill, and a stranger checks it in a browser. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { sealUsage } from '../../src/money/ledger/audit/audit-seals.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { startBrowser, type BrowserUnderTest } from './browser.ts'
import { lookAt } from './look-at.ts'
import { seedUseOf } from './seed-use-of.ts'
import { enterAs } from './sign-up.ts'

const PERSON = { name: 'Rita Nunes', email: 'rita@exemplo.com.br', password: 'uma senha bem longa' }
/** As many charges as the log loads at once: those of twelve days. */
const PAGE = 50
const PROVED = 'O cálculo fecha, e a cobrança está no livro público.'

let gateway: GatewayProcess
let browser: BrowserUnderTest
let customer: Page
let others: BrowserUnderTest

before(async () => {
  gateway = await startGatewayProcess()
  browser = await startBrowser(new URL(gateway.node.baseUrl).origin)
  await enterAs(browser, PERSON)
  await seedUseOf(gateway.database.db, PERSON.email)
  // As if the charges were settled when they were made, so that past days are over.
  await sql`update usage_events set settled_at = created_at`.execute(gateway.database.db)
  await sealUsage(gateway.database.db)
  customer = await browser.newPage()
  others = await startBrowser(new URL(gateway.node.baseUrl).origin)
})
after(async () => {
  await browser?.close()
  await others?.close()
  await gateway?.stop()
})

/** The last charge of the first page: its day is over. */
async function shareOld(): Promise<string> {
  await customer.goto('/uso')
  const rows = customer.getByRole('button', { name: /^Ver a cobrança de/ })
  await rows.nth(PAGE - 1).click()
  await customer.getByRole('button', { name: 'Compartilhar esta cobrança' }).click()
  const shown = customer.getByRole('status', { name: 'Cobrança pública' })
  return (await shown.locator('code').textContent()) as string
}

test('a stranger reads the bill that a customer shows, and the browser proves it, until it is closed', async () => {
  const url = await shareOld()
  const stranger = await others.newPage()
  await stranger.goto(url)
  await stranger.getByText(PROVED).waitFor()
  await lookAt(stranger, 'conta-publica')
  const text = await stranger.locator('main').textContent()
  assert.ok(!text?.includes(PERSON.name) && !text?.includes(PERSON.email))

  await stranger.goto('/verificar')
  await stranger.getByRole('heading', { name: 'Conferir uma cobrança', level: 1 }).waitFor()
  await lookAt(stranger, 'verificar')
  await stranger.getByLabel('Cole o endereço de uma cobrança pública').fill('nada')
  await stranger.getByRole('button', { name: 'Conferir' }).click()
  await stranger.getByText('Isso não é o endereço de uma cobrança').waitFor()
  await stranger.getByLabel('Cole o endereço de uma cobrança pública').fill(url)
  await stranger.getByRole('button', { name: 'Conferir' }).click()
  await stranger.getByText(PROVED).waitFor()

  const id = new URL(url).pathname.split('/').at(-1)
  const change = (by: number) =>
    sql`update usage_events set prompt_tokens = prompt_tokens + ${by}
      where id = (select usage_event_id from public_bills where token = ${id})`.execute(
      gateway.database.db,
    )
  await change(1)
  await stranger.reload()
  await stranger.getByText('Esta cobrança não é a que o livro registrou.').waitFor()
  await change(-1)

  await customer.getByRole('button', { name: 'Fechar o endereço' }).click()
  await customer.getByText('Endereço fechado').waitFor()
  await stranger.reload()
  await stranger.getByRole('heading', { name: 'Cobrança não encontrada' }).waitFor()
  await lookAt(stranger, 'conta-fechada')
  await stranger.close()
})
