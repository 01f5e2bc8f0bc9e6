/** The buttons of other services lead to them, and a way back that failed says why. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { startBrowser, type BrowserUnderTest } from './browser.ts'

let gateway: GatewayProcess
let visitor: BrowserUnderTest

before(async () => {
  gateway = await startGatewayProcess({
    GOOGLE_CLIENT_ID: 'cliente',
    GOOGLE_CLIENT_SECRET: 'segredo',
    GITHUB_CLIENT_ID: 'cliente',
    GITHUB_CLIENT_SECRET: 'segredo',
  })
  visitor = await startBrowser(new URL(gateway.node.baseUrl).origin)
})
after(async () => {
  await visitor?.close()
  await gateway?.stop()
})

/** Opens the page, presses the button, and returns the address of the service. */
async function press(page: Page, name: string, service: string): Promise<URLSearchParams> {
  await page.route(`${service}/**`, (route) =>
    route.fulfill({ contentType: 'text/html; charset=utf-8', body: '<h1>Outro serviço</h1>' }),
  )
  await page.getByRole('button', { name }).click()
  await page.getByRole('heading', { name: 'Outro serviço' }).waitFor()
  return new URL(page.url()).searchParams
}

test('a visitor sees the services that are on, and goes to one from either page', async () => {
  const { origin } = new URL(gateway.node.baseUrl)
  for (const [path, name, service, id] of [
    ['/entrar?voltar=%2Fuso', 'Entrar com Google', 'https://accounts.google.com', 'google'],
    ['/cadastrar?indicacao=ABC', 'Entrar com GitHub', 'https://github.com', 'github'],
  ] as const) {
    const page = await visitor.newPage()
    await page.goto(path)
    await page.getByRole('button', { name }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Entrar com Microsoft' }).count(), 0)
    const asked = await press(page, name, service)
    assert.equal(asked.get('redirect_uri'), `${origin}/auth/callback/${id}`)
    assert.ok(asked.get('state') && asked.get('code_challenge'))
    await page.close()
  }
})

test('who comes back without a way in reads why', async () => {
  const page = await visitor.newPage()
  await page.goto('/auth/callback/google?error=access_denied')
  await page.getByRole('alert').filter({ hasText: 'não deu certo' }).waitFor()
  await page.goto('/entrar?erro=email')
  await page.getByRole('alert').filter({ hasText: 'não confirmou o seu e-mail' }).waitFor()
  await page.close()
})
