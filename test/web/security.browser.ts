/**
 * The protection of an account, in the browser: the second factor, a passkey of a virtual device, and other
 * sessions.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { totpCode, totpStep } from '../../src/identity/sign-in/totp.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { enterByLink } from '../harness/sign-in-browser.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { assertAccessible, startBrowser, type BrowserUnderTest } from './browser.ts'
import { lookAt } from './look-at.ts'
import { enterAs, type Person } from './sign-up.ts'

const RITA: Person = {
  name: 'Rita Sá',
  email: 'rita@exemplo.com.br',
  password: 'uma frase bem comprida',
}
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

let gateway: GatewayProcess
let browser: BrowserUnderTest
let secret: Buffer
let backupCode = ''

before(async () => {
  gateway = await startGatewayProcess()
  // Passkeys are bound to a domain name, not to an IP address.
  const { port } = new URL(gateway.node.baseUrl)
  browser = await startBrowser(`http://localhost:${port}`)
  await enterAs(browser, RITA)
})
after(async () => {
  await browser?.close()
  await gateway?.stop()
})

/** Moves the last code a minute into the past, because each code counts only once. */
async function codeOfNow(): Promise<string> {
  await sql`update sign_in_second_factors set last_step = last_step - 3`.execute(
    gateway.database.db,
  )
  return totpCode(secret, totpStep(Date.now()))
}

async function signOut(page: Page): Promise<void> {
  await page.context().clearCookies()
  await page.goto('/entrar')
}

async function givePassword(page: Page): Promise<void> {
  await page.getByLabel('E-mail').fill(RITA.email)
  await page.getByLabel('Senha').fill(RITA.password)
  await page.getByRole('button', { name: 'Entrar', exact: true }).click()
  await page.getByRole('heading', { name: 'Verificação em duas etapas', level: 1 }).waitFor()
}

/** Signs in by the password and a code, and opens the page. */
async function enterSecurity(page: Page): Promise<void> {
  await signOut(page)
  await givePassword(page)
  await page.getByLabel('Código do aplicativo').fill(await codeOfNow())
  await page.getByRole('button', { name: 'Confirmar' }).click()
  await page.getByRole('heading', { name: 'Início', level: 1 }).waitFor()
  await page.goto('/seguranca')
}

test('the second factor is enabled by a code of the app, and its backup codes are shown once', async () => {
  const page = await browser.newPage()
  await page.goto('/seguranca')
  await page.getByRole('button', { name: 'Ligar verificação' }).click()
  const written = await page.getByLabel('A chave em texto').textContent()
  const bits = Array.from((written ?? '').replaceAll(' ', ''), (sign) =>
    ALPHABET.indexOf(sign).toString(2).padStart(5, '0'),
  )
  secret = Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  await page.getByRole('img', { name: /QR code/ }).waitFor()
  await lookAt(page, 'seguranca-ligar')
  const code = page.getByLabel('Código do aplicativo')
  await code.fill('12')
  await page.getByRole('button', { name: 'Confirmar e ligar' }).click()
  await page.getByText('O código tem seis dígitos.').waitFor()
  await code.fill(await codeOfNow())
  await page.getByRole('button', { name: 'Confirmar e ligar' }).click()
  await page.getByRole('heading', { name: 'Guarde seus códigos de reserva' }).waitFor()
  const codes = await page
    .getByRole('list', { name: 'Códigos de reserva' })
    .getByRole('listitem')
    .allTextContents()
  assert.equal(codes.length, 10)
  backupCode = codes[0] as string
  await lookAt(page, 'seguranca-codigos')
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Baixar' }).click()
  assert.equal((await downloading).suggestedFilename(), 'catraca-codigos-de-reserva.txt')
  await page.getByRole('button', { name: 'Já guardei os códigos' }).click()
  await page.getByText('10 códigos de reserva restam.').waitFor()
  await page.reload()
  await page.getByText('Ligada', { exact: true }).waitFor()
  assert.ok(!(await page.content()).includes(backupCode))
  await page.close()
})

test('the password alone leads to the code, a wrong code is reported, and a backup code works too', async () => {
  const page = await browser.newPage()
  await signOut(page)
  await page.goto('/entrar?voltar=%2Fseguranca')
  await givePassword(page)
  await page.getByLabel('Código do aplicativo').fill('000000')
  await page.getByRole('button', { name: 'Confirmar' }).click()
  await page.getByRole('alert').getByText('O código não confere').waitFor()
  await page.getByLabel('Código do aplicativo').fill(await codeOfNow())
  await page.getByRole('button', { name: 'Confirmar' }).click()
  await page.getByRole('heading', { name: 'Segurança', level: 1 }).waitFor()
  await signOut(page)
  await givePassword(page)
  await page.getByRole('button', { name: 'Usar código de reserva' }).click()
  await page.getByLabel('Código de reserva').fill(backupCode)
  await page.getByRole('button', { name: 'Confirmar' }).click()
  await page.getByRole('heading', { name: 'Início', level: 1 }).waitFor()
  await page.close()
})

test('a passkey is added after a proof, signs in on its own, and is removed', async () => {
  const page = await browser.newPage()
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  })
  await page.goto('/seguranca')
  // Long after the sign-in.
  await sql`update sign_in_sessions set proved_at = now() - interval '1 hour'`.execute(
    gateway.database.db,
  )
  await page.getByRole('button', { name: 'Adicionar chave de acesso' }).click()
  await page.getByLabel('Nome').fill('Notebook da Rita')
  await page.getByRole('button', { name: 'Criar chave de acesso' }).click()
  const proof = page.getByRole('dialog', { name: 'Confirme que é você' })
  await proof.getByLabel('Código do aplicativo ou de reserva').fill(await codeOfNow())
  await assertAccessible(page, 'seguranca-prova')
  await proof.getByRole('button', { name: 'Continuar' }).click()
  await page.getByText('Chave de acesso adicionada.').waitFor()
  await page.getByText('Notebook da Rita', { exact: true }).waitFor()
  await lookAt(page, 'seguranca-com-tudo')
  await signOut(page)
  await page.getByRole('button', { name: 'Entrar com chave de acesso' }).click()
  await page.getByRole('heading', { name: 'Início', level: 1 }).waitFor()
  await page.goto('/seguranca')
  await page.getByRole('button', { name: 'Remover Notebook da Rita' }).click()
  await page.getByRole('button', { name: 'Remover chave de acesso' }).click()
  await page.getByText('Chave de acesso removida.').waitFor()
  await page.getByText('Notebook da Rita').waitFor({ state: 'detached' })
  await signOut(page)
  await page.getByRole('button', { name: 'Entrar com chave de acesso' }).click()
  await page.getByRole('alert').getByText('não pertence mais a nenhuma conta').waitFor()
  await page.close()
})

test('accounts at other services are listed with their address and day, and unlinked after a word on the ways left', async () => {
  const page = await browser.newPage()
  await enterSecurity(page)
  const linked = page.getByRole('region', { name: 'Contas vinculadas' })
  await page.getByRole('region', { name: 'Senha' }).waitFor()
  assert.equal(await linked.count(), 0, 'nobody has one here yet')
  for (const provider of ['google', 'github'])
    await sql`
      insert into sign_in_accounts (id, user_id, provider_id, provider_account)
      select ${createId()}, id, ${provider}, ${createId()} from sign_in_users
      where email = ${RITA.email}`.execute(gateway.database.db)
  await page.reload()
  await linked.getByText(RITA.email).first().waitFor()
  assert.equal(await linked.getByRole('listitem').count(), 2)
  await lookAt(page, 'seguranca-contas')
  await linked.getByRole('button', { name: 'Desvincular Google' }).click()
  const dialog = page.getByRole('dialog', { name: 'Desvincular a conta Google?' })
  await dialog.getByText(`com sua senha ou por um link enviado a ${RITA.email}`).waitFor()
  await lookAt(page, 'seguranca-desvincular')
  await dialog.getByRole('button', { name: 'Desvincular conta' }).click()
  await page.getByText('Conta desvinculada.').waitFor()
  await linked.getByText('Google').waitFor({ state: 'detached' })
  await linked.getByRole('button', { name: 'Desvincular GitHub' }).click()
  await page.getByRole('button', { name: 'Desvincular conta' }).click()
  await linked.waitFor({ state: 'detached' })
  await page.close()
})

test('other sessions are listed and can be ended; a new password ends all of them', async () => {
  const { db } = gateway.database
  const page = await browser.newPage()
  await enterSecurity(page)
  const sessions = page.getByRole('region', { name: 'Onde sua conta está aberta' })
  await sessions.getByText('Esta sessão').waitFor()
  assert.ok((await sessions.getByRole('listitem').count()) > 1)
  await sessions
    .getByRole('button', { name: /^Encerrar a sessão/ })
    .first()
    .click()
  await page.getByRole('button', { name: 'Encerrar sessão', exact: true }).click()
  await page.getByText('1 sessão encerrada.').waitFor()
  await page.getByLabel('Senha atual').fill('não é esta senha')
  await page.getByLabel('Nova senha').fill('outra frase bem comprida')
  await page.getByRole('button', { name: 'Trocar senha' }).click()
  await page.getByText('A senha atual não confere.').waitFor()
  await page.getByLabel('Senha atual').fill(RITA.password)
  await page.getByRole('button', { name: 'Trocar senha' }).click()
  await page.getByText('Senha trocada.').waitFor()
  await page
    .getByRole('button', { name: 'Encerrar todas as outras' })
    .waitFor({ state: 'detached' })
  const { rows } = await sql<{ count: bigint }>`
    select count(*) from sign_in_sessions where not awaits_factor`.execute(db)
  assert.equal(rows[0]?.count, 1n)
  await page.getByRole('button', { name: 'Desligar' }).click()
  await page.getByRole('button', { name: 'Desligar verificação' }).click()
  await page.getByText('Verificação em duas etapas desligada.').waitFor()
  const { browser: again } = await enterByLink(db, gateway.node.baseUrl, RITA.email)
  assert.equal((await again.get('/v1/session')).status, 200, 'a link is enough from here on')
  // The console shows only the refusals of this test.
  const faults = browser.faults.filter((fault) => !/status of 40[013] .*\/auth\//.test(fault))
  assert.deepEqual(faults, [])
})
