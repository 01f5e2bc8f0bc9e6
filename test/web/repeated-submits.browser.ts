/** Impatient clicks, and answers that a bad connection loses: each filled form acts once. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { saveProfile } from '../../src/customers/profiles.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { startBrowser, type BrowserUnderTest } from './browser.ts'
import { enterAs, type Person } from './sign-up.ts'

const RUI: Person = {
  name: 'Rui Melo',
  email: 'rui@exemplo.com.br',
  password: 'uma frase bem comprida',
}

let gateway: GatewayProcess
let browser: BrowserUnderTest

before(async () => {
  gateway = await startGatewayProcess()
  browser = await startBrowser(new URL(gateway.node.baseUrl).origin)
  await enterAs(browser, RUI)
  const { db } = gateway.database
  const { id } = await db
    .selectFrom('customers')
    .select('id')
    .where('email', '=', RUI.email)
    .executeTakeFirstOrThrow()
  await saveProfile(db, id, { full_name: RUI.name, tax_id: '52998224725' })
})
after(async () => {
  await browser?.close()
  await gateway?.stop()
})

async function count(table: 'top_ups' | 'api_keys'): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from ${sql.table(table)} t
    join customers c on c.id = t.customer_id where c.email = ${RUI.email}`.execute(
    gateway.database.db,
  )
  return Number(rows[0]?.count)
}

/** A slow phone handles the clicks that came meanwhile one after the other, before it draws anything. */
function clickAtOnce(page: Page, button: string, times: number): Promise<unknown> {
  return page.evaluate(`{
    const button = [...document.querySelectorAll('button')].find(({ textContent }) => textContent.startsWith('${button}'))
    for (let time = 0; time < ${times}; time++) button.click()
  }`)
}

test('two clicks that a slow phone handles together make one Pix', async () => {
  const page = await browser.newPage()
  await page.goto('/recargas')
  await page.getByRole('button', { name: /^Gerar Pix/ }).waitFor()
  await clickAtOnce(page, 'Gerar Pix', 2)
  await page.getByRole('img', { name: /QR Code do Pix/ }).waitFor()
  await page.waitForLoadState('networkidle')
  assert.equal(await count('top_ups'), 1)
  await page.close()
})

test('a Pix whose answer is lost is made once: the next click shows it', async () => {
  const page = await browser.newPage()
  await page.goto('/recargas')
  const before = await count('top_ups')
  await page.route('**/v1/topups', async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    await route.fetch()
    await route.abort()
  })
  await page.getByLabel('Valor').fill('77')
  await page.getByRole('button', { name: 'Gerar Pix de R$ 77,00' }).click()
  await page.getByText('Não conseguimos falar com a Catraca').waitFor()
  assert.equal(await count('top_ups'), before + 1)
  await page.unroute('**/v1/topups')
  await page.getByRole('button', { name: 'Gerar Pix de R$ 77,00' }).click()
  await page.getByRole('img', { name: /QR Code do Pix de R\$.77,00/ }).waitFor()
  assert.equal(await count('top_ups'), before + 1)
  await page.close()
})

test('Enter three times makes one key', async () => {
  const page = await browser.newPage()
  await page.goto('/chaves')
  await page.getByRole('button', { name: 'Criar a primeira chave' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Nome').fill('Site')
  await dialog.getByLabel('Nome').focus()
  await page.evaluate(`{
    const { form } = document.activeElement
    for (let time = 0; time < 3; time++) form.requestSubmit()
  }`)
  await page.getByRole('button', { name: 'Já guardei a chave' }).waitFor()
  await page.waitForLoadState('networkidle')
  assert.equal(await count('api_keys'), 1)
  await page.close()
})
