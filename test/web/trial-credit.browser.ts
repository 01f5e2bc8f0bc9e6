/** The first minutes of a visitor who pays nothing: account, trial credit, first answer and its bill. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Locator } from 'playwright-core'
import { assertAudit } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startBrowser, type BrowserUnderTest } from './browser.ts'
import { lookAt } from './look-at.ts'
import { enterAs, followMail, type Person } from './sign-up.ts'

const NINA: Person = {
  name: 'Nina Prado',
  email: 'nina@exemplo.com.br',
  password: 'uma frase bem comprida',
}
const OTTO: Person = { ...NINA, name: 'Otto Reis', email: 'otto@exemplo.com.br' }
const CPF = '52998224725'
/** From the landing page to the bill; the link in the mail counts as a click, Enter does too. */
const CLICKS_MAX = 12
const FIELDS_MAX = 6

let gateway: TestGateway
let browser: BrowserUnderTest
let other: BrowserUnderTest

before(async () => {
  gateway = await startGateway({ TRIAL_CREDIT_BRL: '7' })
  const { origin } = new URL(gateway.node.baseUrl)
  browser = await startBrowser(origin)
  other = await startBrowser(origin)
})
after(async () => {
  await browser?.close()
  await other?.close()
  await gateway?.stop()
})

test('a visitor gets an account, the trial credit, an answer and its bill, in few clicks and fields', async () => {
  const page = await browser.newPage()
  const done = { clicks: 0, fields: 0 }
  const click = async (what: Locator): Promise<void> => {
    done.clicks++
    await what.click()
  }
  const type = async (what: Locator, text: string): Promise<void> => {
    done.fields++
    await what.pressSequentially(text)
  }
  await page.goto('/')
  const start = performance.now()
  await click(page.getByRole('link', { name: 'Criar conta' }).first())
  await type(page.getByLabel('Nome', { exact: true }), NINA.name)
  await type(page.getByLabel('E-mail'), NINA.email)
  await type(page.getByLabel('Senha'), NINA.password)
  await click(page.getByRole('checkbox'))
  await click(page.getByRole('button', { name: 'Criar conta' }))
  await page.getByRole('heading', { name: 'Confira seu e-mail' }).waitFor()
  done.clicks++
  await followMail(page, NINA.email, '/auth/confirm')
  await type(page.getByLabel('Senha'), NINA.password)
  await click(page.getByRole('button', { name: 'Confirmar e entrar' }))
  await click(page.getByRole('link', { name: 'Começar' }))

  await page.getByText('0 de 3 passos feitos').waitFor()
  await page.getByText('Experimente com R$ 7,00 por nossa conta').waitFor()
  await lookAt(page, 'credito-para-experimentar')
  await type(page.getByLabel('CPF ou CNPJ'), CPF)
  await click(page.getByRole('button', { name: 'Ganhar R$ 7,00' }))
  await page.getByText('1 de 3 passos feitos').waitFor()
  const balance = page.getByRole('region', { name: 'Saldo' })
  await balance.getByText('R$ 7,00').waitFor()

  await click(page.getByRole('link', { name: 'Antes, experimentar no playground' }))
  await click(page.getByRole('button', { name: 'Começar com uma chave nova' }))
  await type(page.getByLabel('Mensagem', { exact: true }), 'Quanto custa esta resposta?')
  done.clicks++
  await page.getByLabel('Mensagem', { exact: true }).press('Enter')
  await page.getByText(/1º token em .* ao todo/).waitFor()

  await click(page.getByRole('navigation').getByRole('link', { name: 'Uso', exact: true }))
  await click(page.getByRole('button', { name: /Ver a conta de sandbox-chat/ }))
  const bill = page.getByRole('region', { name: 'Como chegamos a este valor' })
  await bill.getByText('o resultado é exatamente o valor cobrado').waitFor()
  const seconds = Math.round((performance.now() - start) / 1_000)
  process.stdout.write(`${done.clicks} clicks, ${done.fields} fields, ${seconds} s\n`)
  assert.ok(done.clicks <= CLICKS_MAX, `${done.clicks} clicks`)
  assert.ok(done.fields <= FIELDS_MAX, `${done.fields} fields`)

  await page.goto('/recargas')
  await page.getByRole('button', { name: /^Gerar Pix/ }).waitFor()
  assert.equal(await page.getByText('por nossa conta').count(), 0, 'it is offered once')
  assert.deepEqual(browser.faults, [])
  await page.close()
  await assertAudit(gateway.database)
})

test('a mistyped CPF is shown at its field, and a refusal says why and what to do', async () => {
  await enterAs(other, OTTO)
  const page = await other.newPage()
  await page.goto('/recargas')
  const offer = page.getByRole('region', { name: /^Experimente com R\$\s7,00/ })
  const taxId = offer.getByLabel('CPF ou CNPJ')
  await offer.getByRole('button', { name: 'Ganhar R$ 7,00' }).click()
  await offer.getByText('Informe seu CPF').waitFor()
  await taxId.pressSequentially('52998224726')
  await offer.getByRole('button', { name: 'Ganhar R$ 7,00' }).click()
  await offer.getByText('os dois últimos dígitos não conferem').waitFor()
  assert.equal(await page.evaluate('document.activeElement.name'), 'cpf_cnpj')
  await taxId.fill('')
  await taxId.pressSequentially(CPF)
  await offer.getByRole('button', { name: 'Ganhar R$ 7,00' }).click()
  await offer
    .getByRole('alert')
    .getByText(/já foi usado com este CPF.*faça uma recarga/)
    .waitFor()
  await lookAt(page, 'credito-recusado')
  // The profile has the number now: it is not asked for again, here and in the playground.
  await page.goto('/playground')
  await page.getByRole('button', { name: 'Ganhar R$ 7,00' }).waitFor()
  assert.equal(await page.getByLabel('CPF ou CNPJ').count(), 0)
  await page.getByRole('link', { name: 'Prefiro recarregar com Pix' }).click()
  await page.getByRole('button', { name: /^Gerar Pix/ }).waitFor()
  await page.close()
})
