/** Two customers in one browser: the tabs share a cookie, and no tab shows the data of two customers. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { startBrowser, type BrowserUnderTest } from './browser.ts'
import { fund } from './fund.ts'
import { enterAs, type Person } from './sign-up.ts'

const CAIO: Person = {
  name: 'Caio Melo',
  email: 'caio@exemplo.com.br',
  password: 'uma frase longa',
}
const DORA: Person = {
  name: 'Dora Reis',
  email: 'dora@exemplo.com.br',
  password: 'outra frase, longa',
}

let gateway: GatewayProcess
let browser: BrowserUnderTest

before(async () => {
  gateway = await startGatewayProcess()
  browser = await startBrowser(new URL(gateway.node.baseUrl).origin)
  for (const person of [CAIO, DORA]) {
    await browser.context.clearCookies()
    await enterAs(browser, person)
    await fund(gateway.database.db, person.email)
    await gateway.database.db
      .updateTable('api_keys')
      .set({ name: `Chave de ${person.name}` })
      .where('name', '=', 'Site')
      .execute()
  }
})
after(async () => {
  await browser?.close()
  await gateway?.stop()
})

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /Sua conta/ }).click()
  await page.getByRole('button', { name: 'Sair' }).click()
  await page.getByRole('heading', { name: 'Entrar', level: 1 }).waitFor()
}

async function signIn(page: Page, { email, password }: Person): Promise<void> {
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Senha').fill(password)
  await page.getByRole('button', { name: 'Entrar', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Início' }).waitFor()
}

async function shows(page: Page, person: Person): Promise<void> {
  await page.getByRole('button', { name: new RegExp(person.email) }).waitFor()
}

test('a sign-out in one tab ends the other; a sign-in of another customer begins it anew', async () => {
  const first = await browser.newPage()
  await first.goto('/chaves')
  await shows(first, DORA)
  await first.getByText('Chave de Dora Reis').waitFor()
  const second = await browser.newPage()
  await second.goto('/')
  await signOut(second)
  await first.getByRole('heading', { name: 'Entrar', level: 1 }).waitFor()
  assert.equal(new URL(first.url()).search, '', 'nothing to go back to')
  await signIn(second, CAIO)
  await shows(first, CAIO)
  assert.equal(await first.getByText('Dora').count(), 0)
  await second.close()
  await first.close()
})

test('a tab that missed the change never shows data of the new customer under the old name', async () => {
  const page = await browser.newPage()
  // As a tab that the browser has frozen: no messages arrive.
  await page.addInitScript('delete window.BroadcastChannel')
  await page.goto('/chaves')
  await shows(page, CAIO)
  await page.getByText('Chave de Caio Melo').waitFor()
  const other = await browser.newPage()
  await other.goto('/')
  await signOut(other)
  await signIn(other, DORA)
  await other.close()
  // This page reads the keys again: the name changes with them.
  await page.getByLabel('Situação').selectOption('Ativa')
  await page.getByText('Chave de Dora Reis').waitFor()
  await shows(page, DORA)
  assert.equal(await page.getByText('Caio').count(), 0)
  await page.close()
})

test('a read with the token of another session is refused', async () => {
  const { request } = browser.context
  const own = await request.get('/v1/session')
  const { csrf_token } = (await own.json()) as { csrf_token: string }
  const headers = { 'x-csrf-token': csrf_token }
  assert.equal((await request.get('/v1/api-keys', { headers })).status(), 200)
  const other = await request.get('/v1/api-keys', { headers: { 'x-csrf-token': `${csrf_token}x` } })
  assert.equal(other.status(), 403)
  assert.match(await other.text(), /csrf_token_missing/)
})
