/** Teams from both sides, and the links that lead into an account: a referral, an invitation, a mail. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { ensureReferralCode } from '../../src/customers/referrals.ts'
import { askChat, sound } from '../harness/ask.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { assertAccessible, startBrowser, type BrowserUnderTest } from './browser.ts'
import { lookAt } from './look-at.ts'
import { fund } from './fund.ts'
import { seedUseOf } from './seed-use-of.ts'
import { confirmEmail, enterAs, followMail, type Person } from './sign-up.ts'

const ANA: Person = {
  name: 'Ana Sousa',
  email: 'ana@exemplo.com.br',
  password: 'uma frase comprida',
}
const BETO: Person = {
  name: 'Beto Luz',
  email: 'beto@exemplo.com.br',
  password: 'outra frase comprida',
}

let gateway: GatewayProcess
let anas: BrowserUnderTest
let betos: BrowserUnderTest
let ana: Page
let beto: Page
let anasId: string

before(async () => {
  gateway = await startGatewayProcess()
  const { origin } = new URL(gateway.node.baseUrl)
  anas = await startBrowser(origin)
  betos = await startBrowser(origin)
  await enterAs(anas, ANA)
  anasId = (await fund(gateway.database.db, ANA.email)).customerId
  ana = await anas.newPage()
  beto = await betos.newPage()
})
after(async () => {
  await anas?.close()
  await betos?.close()
  await gateway?.stop()
})

test('a team has a name and a cap, and invites by e-mail; faults are reported at their field', async () => {
  await ana.goto('/equipes')
  await ana.getByText('Nenhuma equipe ainda').waitFor()
  await ana.getByRole('button', { name: 'Criar equipe' }).click()
  const dialog = ana.getByRole('dialog')
  await dialog.getByLabel('Nome').fill('Pr')
  await dialog.getByLabel('Limite por mês').fill('cinquenta')
  await dialog.getByRole('button', { name: 'Criar equipe' }).click()
  await dialog.getByText('O nome precisa ter de 3 a 50 caracteres.').waitFor()
  await dialog.getByText('Digite um valor em reais').waitFor()
  await dialog.getByLabel('Nome').fill('Produto')
  await dialog.getByLabel('Limite por mês').fill('50')
  await dialog.getByRole('button', { name: 'Criar equipe' }).click()
  await ana.getByRole('heading', { name: 'Produto', level: 1 }).waitFor()
  await ana.getByText(/gastam o seu saldo, até R\$.50,00 por mês/).waitFor()

  await ana.getByRole('button', { name: 'Convidar' }).click()
  await dialog.getByLabel('E-mail').fill(BETO.email)
  await dialog.getByRole('button', { name: 'Enviar convite' }).click()
  await ana.getByRole('listitem').filter({ hasText: BETO.email }).waitFor()
  await ana.getByRole('button', { name: 'Convidar' }).click()
  await dialog.getByLabel('E-mail').fill(BETO.email)
  await dialog.getByRole('button', { name: 'Enviar convite' }).click()
  await dialog.getByText('já tem um convite em aberto').waitFor()
  await dialog.getByRole('button', { name: 'Cancelar' }).click()
})

test('the referral code of a link survives other pages until the sign-up', async () => {
  const { db } = gateway.database
  const code = await ensureReferralCode(db, anasId)
  await beto.goto(`/cadastrar?indicacao=${code}`)
  await beto.getByRole('link', { name: 'Status' }).click()
  await beto.getByRole('heading', { name: 'Status', level: 1 }).waitFor()
  await beto.goto('/cadastrar')
  assert.equal(await beto.getByLabel('Código de indicação').inputValue(), code)
  await beto.getByLabel('Nome', { exact: true }).fill(BETO.name)
  await beto.getByLabel('E-mail').fill(BETO.email)
  await beto.getByLabel('Senha').fill(BETO.password)
  await beto.getByRole('checkbox').check()
  await beto.getByRole('button', { name: 'Criar conta' }).click()
  await beto.getByRole('heading', { name: 'Confira seu e-mail' }).waitFor()
  await confirmEmail(beto, BETO)
  const brought = await db.selectFrom('referrals').select('referrer_id').execute()
  assert.deepEqual(brought, [{ referrer_id: anasId }])
})

test("an invitation is shown at home, accepted with a click, and lets a key spend the owner's balance", async () => {
  await beto.getByText('Convidaram você para a equipe Produto.').waitFor()
  await beto.getByRole('link', { name: 'Ver o convite' }).click()
  await beto.getByRole('heading', { name: 'Um convite para você' }).waitFor()
  await assertAccessible(beto, 'equipes-convite')
  await beto.getByRole('button', { name: 'Aceitar o convite de Produto' }).click()
  await beto.getByRole('link', { name: 'Produto' }).click()
  await beto.getByText('gastam o saldo de A***, e não o seu').waitFor()
  for (const name of ['Convidar', 'Alterar nome ou limite', 'Excluir equipe'])
    assert.equal(await beto.getByRole('button', { name }).count(), 0, name)
  await beto.getByRole('button', { name: 'Criar chave' }).click()
  const dialog = beto.getByRole('dialog')
  await dialog.getByLabel('Nome').fill('Notebook do Beto')
  await dialog.getByRole('button', { name: 'Criar chave' }).click()
  const secret = (await beto.getByLabel('A chave', { exact: true }).textContent()) ?? ''
  const answer = await askChat(gateway.node.baseUrl, secret, sound())
  assert.equal(answer.status, 200, answer.text)
  await beto.getByRole('button', { name: 'Já guardei a chave' }).click()
  await beto.getByText('Criada por você').waitFor()
})

test('the owner sees the members, grants and revokes the admin role, and changes the cap', async () => {
  await ana.reload()
  const row = ana.getByRole('listitem').filter({ hasText: BETO.email })
  await row.getByRole('button', { name: 'Tornar administrador: Beto Luz' }).click()
  const dialog = ana.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Tornar administrador' }).click()
  await row.getByText('Administrador', { exact: true }).waitFor()
  await ana.getByText('Criada por Beto Luz').waitFor()
  await ana.getByRole('button', { name: 'Alterar nome ou limite' }).click()
  await dialog.getByLabel('Limite por mês').fill('')
  await dialog.getByRole('button', { name: 'Salvar' }).click()
  await ana.getByText('sem limite por mês').waitFor()
  // `pages.ts` cannot open this page, because it has no team.
  await lookAt(ana, 'equipe')
  await beto.reload()
  await beto.getByRole('button', { name: 'Convidar' }).waitFor()
})

test('a member leaves, and the owner deletes the team', async () => {
  await beto.getByRole('button', { name: 'Sair da equipe' }).click()
  await beto.getByRole('dialog').getByRole('button', { name: 'Sair da equipe' }).click()
  await beto.getByText('Nenhuma equipe ainda').waitFor()
  await ana.goto('/equipes')
  await ana.getByRole('link', { name: 'Produto' }).click()
  await ana.getByRole('button', { name: 'Excluir equipe' }).click()
  const dialog = ana.getByRole('dialog')
  assert.equal(await dialog.getByRole('button', { name: 'Excluir para sempre' }).isDisabled(), true)
  await dialog.getByLabel('Para confirmar').fill('Produto')
  await dialog.getByRole('button', { name: 'Excluir para sempre' }).click()
  await ana.getByText('Nenhuma equipe ainda').waitFor()
})

test('a sign-in link leads back to the page that required the sign-in', async () => {
  await betos.context.clearCookies()
  await beto.goto('/uso?dias=7')
  await beto.getByRole('heading', { name: 'Entrar', level: 1 }).waitFor()
  await beto.getByLabel('E-mail').fill(BETO.email)
  await beto.getByRole('button', { name: 'Receber um link por e-mail' }).click()
  await beto.getByRole('heading', { name: 'Confira seu e-mail' }).waitFor()
  await followMail(beto, BETO.email, '/auth/link')
  await beto.getByRole('button', { name: 'Entrar' }).click()
  await beto.getByRole('heading', { name: 'Uso', level: 1 }).waitFor()
  assert.equal(new URL(beto.url()).search, '?dias=7')
})

test("the customer's usage suggests cheaper models, and the catalog links to the playground", async () => {
  await beto.goto('/modelos')
  await beto.getByText('Depois das suas primeiras chamadas').waitFor()
  await seedUseOf(gateway.database.db, ANA.email)
  await ana.goto('/modelos')
  await ana.getByRole('heading', { name: /^Você pagaria R\$.* a menos com / }).waitFor()
  const link = ana.getByRole('link', { name: /^Experimentar/ }).first()
  assert.match((await link.getAttribute('href')) ?? '', /^\/playground\?modelo=[a-z]/)
  await assertAccessible(ana, 'modelos-economia')
})

test('the console shows no errors except the expected refusals', () => {
  const refused = /Failed to load resource: the server responded with a status of 409/
  const faults = [...anas.faults, ...betos.faults]
  assert.deepEqual(
    faults.filter((fault) => !refused.test(fault)),
    [],
  )
})
