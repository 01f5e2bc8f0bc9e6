/** A customer's payments and keys: profile, Pix, card, key, refund, each to the end in the browser. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { startBrowser, type BrowserUnderTest } from './browser.ts'
import { lookAt } from './look-at.ts'
import { payPix } from './pay-pix.ts'
import { enterAs, type Person } from './sign-up.ts'

const BIA: Person = {
  name: 'Bia Lima',
  email: 'bia@exemplo.com.br',
  password: 'uma frase bem comprida',
}
const CARD_NUMBER = '4444 4444 4444 4444'
const DECLINED_NUMBER = '5184019740373151'
const run = promisify(execFile)

let gateway: GatewayProcess
let browser: BrowserUnderTest

before(async () => {
  gateway = await startGatewayProcess()
  browser = await startBrowser(new URL(gateway.node.baseUrl).origin)
  await enterAs(browser, BIA)
})
after(async () => {
  await browser?.close()
  await gateway?.stop()
})

test('Pix needs a CPF; an invalid one is reported at its field, and a valid one is stored', async () => {
  const page = await browser.newPage()
  await page.goto('/recargas')
  await page.getByRole('button', { name: /^Gerar Pix/ }).click()
  await page.getByRole('alert').getByRole('link', { name: 'Abrir o perfil' }).click()
  await page.getByRole('heading', { name: 'Perfil', level: 1 }).waitFor()
  const taxId = page.getByLabel('CPF ou CNPJ')
  await taxId.pressSequentially('52998224726')
  assert.equal(await taxId.inputValue(), '529.982.247-26')
  await page.getByRole('button', { name: 'Salvar dados' }).click()
  await page.getByText('Este número não é válido: os dois últimos dígitos não conferem').waitFor()
  assert.equal(await page.evaluate('document.activeElement.name'), 'cpf_cnpj')
  await taxId.fill('')
  await taxId.pressSequentially('52998224725')
  await page.getByLabel('Telefone').pressSequentially('11987654321')
  await page.getByLabel('CEP').pressSequentially('01310100')
  await page.getByLabel('Número').fill('1000')
  await page.getByRole('button', { name: 'Salvar dados' }).click()
  await page.getByText('Dados salvos.').waitFor()
  await page.reload()
  assert.equal(await taxId.inputValue(), '529.982.247-25')
  assert.equal(await page.getByLabel('Telefone').inputValue(), '(11) 98765-4321')
  await page.close()
})

test('preferences are stored, and times are shown in the chosen time zone', async () => {
  const page = await browser.newPage()
  await page.goto('/perfil')
  await page.getByLabel('Fuso horário').selectOption('America/Noronha')
  await page.getByLabel('Receber o resumo semanal').uncheck()
  await page.getByLabel('Guardar respostas').selectOption({ label: 'Por 7 dias' })
  await page.getByRole('button', { name: 'Salvar preferências' }).click()
  await page.getByText('Preferências salvas.').waitFor()
  await page.reload()
  assert.equal(await page.getByLabel('Fuso horário').inputValue(), 'America/Noronha')
  assert.equal(await page.getByLabel('Receber o resumo semanal').isChecked(), false)
  assert.equal(await page.getByLabel('Guardar respostas').inputValue(), '7')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Baixar meus dados' }).click(),
  ])
  assert.equal(download.suggestedFilename(), 'catraca-dados-da-conta.json')
  await page.close()
})

test('the page shows a paid Pix on its own, with a receipt', async () => {
  const page = await browser.newPage()
  await page.goto('/recargas')
  await page.getByLabel('Valor').fill('1')
  await page.getByRole('button', { name: /^Gerar Pix/ }).click()
  await page.getByText('Escolha um valor de R$ 20,00 a R$ 5.000,00').waitFor()
  await page.getByRole('button', { name: 'R$ 50', exact: true }).click()
  await page.getByRole('button', { name: 'Gerar Pix de R$ 50,00' }).click()
  await page.getByRole('img', { name: /QR Code do Pix de R\$.50,00/ }).waitFor()
  await page.getByRole('button', { name: 'Copiar código Pix' }).click()
  assert.match(await page.evaluate('navigator.clipboard.readText()'), /^000201.*br\.gov\.bcb\.pix/)
  await lookAt(page, 'recargas-pix')
  // A reload keeps the open payment.
  await page.reload()
  await payPix(page)
  await page.getByText('Pago. O saldo já está na sua conta.').last().waitFor()
  await page.getByRole('link', { name: 'Recibo' }).first().waitFor()
  const receipt = await page.request.get(
    (await page.getByRole('link', { name: 'Recibo' }).first().getAttribute('href')) ?? '',
  )
  assert.equal(receipt.status(), 200)
  assert.match(await receipt.text(), /Recibo de recarga/)
  await page.close()
})

test('a new card waits for the profile, which has its holder', async () => {
  const page = await browser.newPage()
  let answer = (): void => {}
  const asked = new Promise<void>((resolve) => {
    answer = resolve
  })
  await page.route('**/v1/me/dashboard-stats', async (route) => {
    await asked
    await route.continue()
  })
  await page.goto('/recargas')
  await page.getByRole('button', { name: 'Novo cartão' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Número do cartão').fill(DECLINED_NUMBER)
  await dialog.getByLabel('Nome como está').fill('BIA LIMA')
  await dialog.getByLabel('Validade').fill('12/35')
  await dialog.getByLabel('Código de segurança').fill('123')
  assert.equal(await dialog.getByLabel('CPF ou CNPJ').count(), 0)
  await dialog.getByLabel('Código de segurança').press('Enter')
  answer()
  assert.equal(await dialog.getByLabel('CPF ou CNPJ').inputValue(), '529.982.247-25')
  await dialog.getByRole('button', { name: 'Salvar cartão' }).click()
  await dialog.getByText('Transação não autorizada').waitFor()
  await page.close()
})

test('a refused card leaves no number in the page; an accepted one pays, also automatically', async () => {
  const page = await browser.newPage()
  await page.goto('/recargas')
  await page.getByRole('button', { name: 'Novo cartão' }).click()
  const dialog = page.getByRole('dialog')
  const number = dialog.getByLabel('Número do cartão')
  const code = dialog.getByLabel('Código de segurança')
  await number.fill(DECLINED_NUMBER)
  await dialog.getByLabel('Nome como está').fill('BIA LIMA')
  await dialog.getByLabel('Validade').fill('12/35')
  await code.fill('123')
  await dialog.getByRole('button', { name: 'Salvar cartão' }).click()
  await dialog.getByText('Transação não autorizada').waitFor()
  assert.deepEqual([await number.inputValue(), await code.inputValue()], ['', ''])
  await lookAt(page, 'recargas-cartao')
  await number.fill(CARD_NUMBER)
  await code.fill('123')
  await dialog.getByRole('button', { name: 'Salvar cartão' }).click()
  await page.getByText('Visa final 4444').first().waitFor()
  await page.getByRole('button', { name: 'Ligar recarga automática' }).click()
  await page.getByLabel('Quando o saldo ficar abaixo de').fill('5,50')
  await page.getByRole('button', { name: 'Ligar', exact: true }).click()
  await page.getByText(/abaixo de R\$.5,50, recarregamos R\$.100,00/).waitFor()
  await page.getByRole('radio', { name: /^Cartão/ }).check({ force: true })
  await page.getByRole('button', { name: 'Pagar R$ 100,00' }).click()
  await page.getByText('Pago. O saldo já está na sua conta.').last().waitFor()
  await page.close()
})

test("a key's secret is shown once, and the copied curl works until the key is revoked", async () => {
  const page = await browser.newPage()
  await page.goto('/chaves')
  await page.getByRole('button', { name: 'Criar a primeira chave' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Criar chave' }).click()
  await dialog.getByText('O nome precisa ter de 3 a 50 caracteres.').waitFor()
  await dialog.getByLabel('Nome').fill('Site em produção')
  await dialog.getByRole('radio', { name: /^Só alguns/ }).check({ force: true })
  await dialog.getByLabel('Procurar modelo').fill('gpt-4o mini')
  await dialog.getByRole('checkbox', { name: /^GPT-4o mini gpt-4o-mini/ }).check()
  await dialog.getByLabel('Orçamento').fill('10,50')
  await lookAt(page, 'chaves-nova')
  await dialog.getByRole('button', { name: 'Criar chave' }).click()
  await page.getByRole('heading', { name: /está pronta/ }).waitFor()
  await lookAt(page, 'chaves-segredo')
  await page.getByRole('button', { name: 'Copiar curl' }).click()
  const curl = String(await page.evaluate('navigator.clipboard.readText()'))
  const { stdout } = await run('sh', ['-c', `${curl} --silent`])
  assert.equal(typeof JSON.parse(stdout).choices[0].message.content, 'string', stdout)
  const secret = /sk-svc-\w+/.exec(curl)?.[0] ?? ''
  for (const [agent, copy, expected] of [
    ['Usar no Claude Code', 'Copiar o comando do Claude Code', /^ANTHROPIC_BASE_URL=http:[^ ]+ /],
    ['Usar no Codex', 'Copiar o comando do Codex', /model_providers\.catraca=/],
    ['Usar no Cursor', 'Copiar os dados do Cursor', /Override OpenAI Base URL: http:\S+\/v1$/m],
  ] as const) {
    await page.getByRole('tab', { name: agent }).click()
    await page.getByRole('button', { name: copy }).click()
    const command = String(await page.evaluate('navigator.clipboard.readText()'))
    assert.match(command, expected)
    assert.ok(command.includes(secret) && command.includes('gpt-4o-mini'), command)
  }
  await lookAt(page, 'chaves-agentes')
  await page.getByRole('button', { name: 'Já guardei a chave' }).click()
  assert.equal((await page.content()).includes(secret), false)
  await page.getByText(/de R\$.10,50/).waitFor()

  await page.getByRole('button', { name: 'Alterar Site em produção' }).click()
  await dialog.getByLabel('Nome').fill('Site antigo')
  await dialog.getByRole('button', { name: 'Salvar' }).click()
  await page.getByRole('button', { name: 'Revogar Site antigo' }).click()
  await dialog.getByRole('button', { name: 'Revogar chave' }).click()
  await page.getByText('Revogada em').waitFor()
  assert.match((await run('sh', ['-c', `${curl} --silent`])).stdout, /"error"/)
  await page.close()
})

test('the page of a model for chats has the commands of agents', async () => {
  const page = await browser.newPage()
  await page.goto('/modelos/gpt-4o-mini')
  const code = page.getByRole('region', { name: 'Código' })
  await code.getByRole('tab', { name: 'Claude Code' }).click()
  await code.getByText('ANTHROPIC_MODEL=gpt-4o-mini').waitFor()
  await code.getByRole('tab', { name: 'Codex' }).click()
  await code.getByRole('button', { name: 'Copiar Codex' }).click()
  const command = String(await page.evaluate('navigator.clipboard.readText()'))
  assert.match(command, /^CATRACA_API_KEY=SUA_CHAVE codex -c model=gpt-4o-mini /)
  await page.goto('/modelos/whisper-1')
  await code.getByRole('tab', { name: 'Python' }).waitFor()
  assert.equal(await code.getByRole('tab', { name: 'Codex' }).count(), 0)
  await page.close()
})

test('the unspent balance is refunded', async () => {
  const page = await browser.newPage()
  await page.goto('/reembolsos')
  await page.getByLabel('Quanto você quer de volta?').fill('900')
  await page.getByRole('button', { name: 'Pedir reembolso' }).click()
  await page.getByText(/^Só R\$.* podem ser reembolsados agora/).waitFor()
  await page.getByLabel('Quanto você quer de volta?').fill('120')
  await page.getByRole('button', { name: 'Pedir reembolso' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Pedir reembolso' }).click()
  await page.getByText('De 2 recargas').click()
  await page.getByText(/da recarga de .* por Pix/).waitFor()
  await lookAt(page, 'reembolsos-pedido')
  await page.getByText('Devolvido', { exact: true }).waitFor({ timeout: 30_000 })
  await page.close()
})

test('an account is deleted only after typing its e-mail and waiving the balance', async () => {
  const page = await browser.newPage()
  await page.goto('/perfil')
  await page.getByRole('button', { name: 'Excluir minha conta' }).click()
  const dialog = page.getByRole('dialog')
  const act = dialog.getByRole('button', { name: 'Excluir para sempre' })
  assert.equal(await act.isDisabled(), true)
  await dialog.getByLabel('Para confirmar').fill(BIA.email)
  await act.click()
  await dialog.getByText(/Ainda há R\$/).waitFor()
  await lookAt(page, 'perfil-excluir')
  await dialog.getByLabel(/^Abro mão/).check()
  await act.click()
  await page.getByRole('heading', { name: 'Entrar', level: 1 }).waitFor()
  await page.close()
})

test('the console shows no errors except the expected refusals', () => {
  const refused = /Failed to load resource: the server responded with a status of 4\d\d/
  assert.deepEqual(
    browser.faults.filter((fault) => !refused.test(fault)),
    [],
  )
})
