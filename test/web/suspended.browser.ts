/** What a suspended customer sees: why, whom to ask, and no way to pay in. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { saveProfile } from '../../src/customers/profiles.ts'
import { changeSuspension } from '../../src/customers/suspend-customer.ts'
import { inTransaction } from '../../src/platform/db/open.ts'
import { lockAccount } from '../../src/money/ledger/entries.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { startBrowser, type BrowserUnderTest } from './browser.ts'
import { lookAt } from './look-at.ts'
import { PAGES } from './pages.ts'
import { enterAs } from './sign-up.ts'

const BIA = { name: 'Bia Lima', email: 'bia@exemplo.com.br', password: 'uma frase bem comprida' }
const REASON = 'Falta o contrato social da empresa: envie uma cópia para voltarmos a atender vocês.'
const TITLE = /^Sua conta está suspensa desde/

let gateway: GatewayProcess
let browser: BrowserUnderTest
let customerId: string

before(async () => {
  gateway = await startGatewayProcess()
  browser = await startBrowser(new URL(gateway.node.baseUrl).origin)
  await enterAs(browser, BIA)
  const { db } = gateway.database
  const found = await db
    .selectFrom('customers')
    .select('id')
    .where('email', '=', BIA.email)
    .executeTakeFirstOrThrow()
  customerId = found.id
  await saveProfile(db, customerId, { full_name: BIA.name, tax_id: '52998224725' })
})
after(async () => {
  await browser?.close()
  await gateway?.stop()
})

function change(reason: string | undefined): Promise<void> {
  return inTransaction(gateway.database.db, async (trx) => {
    await lockAccount(trx, customerId)
    await changeSuspension(trx, OPERATOR, { customerId, reason })
  })
}

async function openTopUps(): Promise<Page> {
  const page = await browser.newPage()
  await page.goto('/recargas')
  await page.getByRole('button', { name: /^Gerar Pix/ }).waitFor()
  return page
}

test('a page that was open at the suspension refuses the Pix, says why, and hides the open one', async () => {
  const [page, paying] = [await openTopUps(), await openTopUps()]
  await paying.getByRole('button', { name: /^Gerar Pix/ }).click()
  await paying.getByRole('img', { name: /QR Code do Pix/ }).waitFor()
  await change(REASON)
  await page.getByRole('button', { name: /^Gerar Pix/ }).click()
  await page.getByText(TITLE).waitFor()
  await page.getByText(REASON).waitFor()
  await page.getByText('não dá para recarregar').waitFor()
  assert.equal(await page.getByRole('button', { name: /^Gerar Pix/ }).count(), 0)
  await lookAt(page, 'recargas-suspensa')
  await paying.reload()
  await paying.getByText('Não pague: a conta foi suspensa').waitFor()
  assert.equal(await paying.getByRole('img', { name: /QR Code/ }).count(), 0)
  await lookAt(paying, 'pix-suspensa')
  await Promise.all([page.close(), paying.close()])
})

test('every page of a suspended customer has the reason and a contact', async () => {
  const page = await browser.newPage()
  const pages = PAGES.filter(
    ({ isForAdmin, path }) => !isForAdmin && !/^\/(entrar|cadastrar|confirmado|nada)/.test(path),
  )
  assert.ok(pages.length > 15)
  for (const { path, heading } of pages) {
    await page.goto(path)
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    const notice = page.getByRole('complementary', { name: 'Conta suspensa' })
    await notice.getByText(REASON).waitFor()
    await notice.getByRole('link', { name: '@' }).waitFor()
    assert.match((await notice.getByRole('link').getAttribute('href')) ?? '', /^mailto:.+@/)
  }
  await page.goto('/')
  await lookAt(page, 'inicio-suspensa')
  await page.close()
})

test('the notice goes when the account is reinstated, and the Pix comes back', async () => {
  const page = await browser.newPage()
  await page.goto('/recargas')
  await page.getByText(TITLE).waitFor()
  await change(undefined)
  await page.reload()
  await page.getByRole('button', { name: /^Gerar Pix/ }).waitFor()
  assert.equal(await page.getByText(TITLE).count(), 0)
  await page.close()
})

test('no page has errors in its console, but for the refusal', () => {
  const refused = /status of 403 .*\/v1\/topups$/
  assert.deepEqual(
    browser.faults.filter((fault) => !refused.test(fault)),
    [],
  )
})
