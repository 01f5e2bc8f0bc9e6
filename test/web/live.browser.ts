/** Open pages follow the account: calls of programs, payments, and the end of the session. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { credit } from '../../src/money/ledger/entries.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { NANO_PER_BRL } from '../../src/platform/lib/money.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { startBrowser, type BrowserUnderTest } from './browser.ts'
import { fund } from './fund.ts'
import { enterAs, type Person } from './sign-up.ts'

const NINA: Person = {
  name: 'Nina Lopes',
  email: 'nina@exemplo.com.br',
  password: 'uma frase longa',
}

let gateway: GatewayProcess
let browser: BrowserUnderTest
let customerId: string
let secret: string

before(async () => {
  gateway = await startGatewayProcess()
  browser = await startBrowser(new URL(gateway.node.baseUrl).origin, { isLive: true })
  await enterAs(browser, NINA)
  ;({ customerId, secret } = await fund(gateway.database.db, NINA.email))
})
after(async () => {
  await browser?.close()
  await gateway?.stop()
})

async function call(): Promise<void> {
  const answer = await fetch(`${gateway.node.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Olá!' }],
      max_tokens: 16,
    }),
  })
  assert.equal(answer.status, 200, await answer.text())
}

function topUp(brl: bigint): Promise<unknown> {
  return credit(gateway.database.db, {
    customerId,
    amountNanoBrl: brl * NANO_PER_BRL,
    reason: 'top_up',
    reference: createId(),
  })
}

test('two tabs show a payment and a call as they come, over one connection', async () => {
  await call()
  const [home, other] = [await browser.newPage(), await browser.newPage()]
  const streams: string[] = []
  for (const page of [home, other])
    page.on('request', (request) => {
      if (request.url().endsWith('/v1/me/live')) streams.push(request.url())
    })
  await home.goto('/')
  await home
    .getByText(/R\$.1\.000,00/)
    .first()
    .waitFor()
  await other.goto('/')
  await other
    .getByText(/R\$.1\.000,00/)
    .first()
    .waitFor()
  await topUp(500n)
  for (const page of [home, other])
    await page
      .getByText(/R\$.1\.500,00/)
      .first()
      .waitFor()
  const calls = home.getByRole('region', { name: 'Os últimos 30 dias' })
  await call()
  await calls.getByText('2 chamadas').first().waitFor()
  assert.equal(streams.length, 1)
  // The other tab takes over.
  await home.close()
  await topUp(1_000n)
  await other
    .getByText(/R\$.2\.500,00/)
    .first()
    .waitFor()
  await other.close()
})

test('the balance stands in the side bar of every page, follows a payment, and leads to the top-ups', async () => {
  const page = await browser.newPage()
  // The narrowest side bar, and a balance of a million: still one line.
  await page.setViewportSize({ width: 768, height: 1_000 })
  await page.goto('/modelos')
  const balance = (amount: string) =>
    page.getByRole('banner').getByRole('link', { name: `Saldo R$\u00a0${amount} Recarregar` })
  await balance('2.500,00').waitFor()
  await topUp(1_000_000n)
  await balance('1.002.500,00').waitFor()
  const [link, amount] = [
    await balance('1.002.500,00').boundingBox(),
    await balance('1.002.500,00').getByText('R$').boundingBox(),
  ]
  assert.ok(link && amount && amount.x + amount.width < link.x + link.width && amount.height < 24)
  await balance('1.002.500,00').click()
  await page.getByRole('heading', { name: 'Recargas', level: 1 }).waitFor()

  await page.setViewportSize({ width: 320, height: 700 })
  await page.getByRole('button', { name: 'Mais' }).click()
  const sheet = page.getByRole('dialog')
  await sheet.getByRole('link', { name: 'Saldo R$\u00a01.002.500,00 Recarregar' }).click()
  await sheet.waitFor({ state: 'detached' })
  await page.close()
})

test('the end of a session shows at once, also on a page that asks for nothing', async () => {
  const page = await browser.newPage()
  await page.goto('/seguranca')
  await page.getByRole('heading', { level: 1, name: 'Segurança' }).waitFor()
  await gateway.database.db.deleteFrom('sign_in_sessions').execute()
  await page.getByRole('dialog', { name: 'Sua sessão terminou' }).waitFor()
  await page.close()
})
