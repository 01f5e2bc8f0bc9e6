/** A session that ends while its user is at work: they sign in over the page, and go on. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { startBrowser, type BrowserUnderTest } from './browser.ts'
import { lookAt } from './look-at.ts'
import { enterAs, type Person } from './sign-up.ts'

const EVA: Person = { name: 'Eva Braga', email: 'eva@exemplo.com.br', password: 'uma frase longa' }

let gateway: GatewayProcess
let browser: BrowserUnderTest

before(async () => {
  gateway = await startGatewayProcess()
  browser = await startBrowser(new URL(gateway.node.baseUrl).origin)
  await enterAs(browser, EVA)
})
after(async () => {
  await browser?.close()
  await gateway?.stop()
})

function endSessions(): Promise<unknown> {
  return gateway.database.db.deleteFrom('sign_in_sessions').execute()
}

async function signInAgain(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Sua sessão terminou' })
  await dialog.getByText(EVA.email).waitFor()
  await dialog.getByLabel('Senha').fill(EVA.password)
  await dialog.getByRole('button', { name: 'Entrar e continuar' }).click()
  await dialog.waitFor({ state: 'detached' })
}

test('a prompt that was being written outlives its session', async () => {
  const page = await browser.newPage()
  await page.goto('/prompts/novo')
  await page.getByLabel('Nome').first().fill('resumo-do-dia')
  await endSessions()
  await page.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`)
  const dialog = page.getByRole('dialog', { name: 'Sua sessão terminou' })
  await dialog.waitFor()
  await lookAt(page, 'sessao-terminou')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await dialog.getByRole('button', { name: 'Entrar e continuar' }).click()
  await dialog.getByText('Digite sua senha.').waitFor()
  await signInAgain(page)
  assert.equal(await page.getByLabel('Nome').first().inputValue(), 'resumo-do-dia')
  await page.close()
})

test('a key that was sent after the end of the session is made after signing in again', async () => {
  const page = await browser.newPage()
  await page.goto('/chaves')
  await page.getByRole('button', { name: 'Criar a primeira chave' }).click()
  const form = page.getByRole('dialog', { name: 'Criar chave' })
  await form.getByLabel('Nome').fill('Servidor de produção')
  // The click's own request ends the session: an earlier one that is still under way would open the dialog before it.
  let hasEnded = false
  await page.route('**/*', async (route) => {
    if (route.request().method() === 'POST' && !hasEnded) {
      hasEnded = true
      await endSessions()
    }
    await route.continue()
  })
  await form.getByRole('button', { name: 'Criar chave' }).click()
  await signInAgain(page)
  assert.equal(await form.getByLabel('Nome').inputValue(), 'Servidor de produção')
  await form.getByRole('button', { name: 'Criar chave' }).click()
  await page.getByRole('heading', { name: 'A chave “Servidor de produção” está pronta' }).waitFor()
  await page.close()
})

test('a navigation after the end of the session leads to the sign-in page, and from there back', async () => {
  const page = await browser.newPage()
  await page.goto('/uso')
  await page.getByRole('heading', { level: 1, name: 'Uso' }).waitFor()
  await endSessions()
  await page.reload()
  await page.getByRole('heading', { name: 'Entrar', level: 1 }).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('voltar'), '/uso')
  await page.getByLabel('E-mail').fill(EVA.email)
  await page.getByLabel('Senha').fill(EVA.password)
  await page.getByRole('button', { name: 'Entrar', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Uso' }).waitFor()
  await page.close()
})
