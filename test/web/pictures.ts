/**
 * `npm run web:pictures`: takes the pictures of `docs/images`, of every page on a desktop and on a phone, for a
 * customer after six weeks of use. They are for people to look at; no test compares them.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { findCustomer } from '../../src/customers/customers.ts'
import { openOperatorSession } from '../harness/open-session.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { createCaller } from '../http/isolation-cases/household.ts'
import { settled, startBrowser, useLook, type BrowserUnderTest, type Width } from './browser.ts'
import { PAGES } from './pages.ts'
import { seedUseOf } from './seed-use-of.ts'
import { enterAs, enterAsOperator, type Person } from './sign-up.ts'

const IMAGES = join(import.meta.dirname, '../../docs/images')
const QUALITY = 70
const SUFFIXES = { desktop: '', phone: '-celular' } as const
/** Not worth a picture: pages that are reached by mistake. */
const LEFT_OUT = ['/nada-aqui', '/confirmado']

const ANA: Person = {
  name: 'Ana Souza',
  email: 'ana@padariadigital.com.br',
  password: 'uma frase bem comprida',
}
const OLGA: Person = {
  name: 'Olga Prado',
  email: 'olga@catraca.example',
  password: 'outra frase bem comprida',
}

test('a picture of every page, on a desktop and on a phone', async () => {
  const gateway = await startGateway({ ADMIN_EMAILS: OLGA.email })
  const { origin } = new URL(gateway.node.baseUrl)
  const [customer, operator, anonymous] = [
    await startBrowser(origin),
    await startBrowser(origin),
    await startBrowser(origin),
  ]
  try {
    await mkdir(IMAGES, { recursive: true })
    await enterAs(customer, ANA)
    await enterAsOperator(operator, OLGA, gateway.database.db)
    await seedUseOf(gateway.database.db, ANA.email)
    await seedOwnThings(gateway)
    await seedOperation(gateway)
    for (const { path, heading, isPublic, isForAdmin } of PAGES) {
      if (LEFT_OUT.includes(path)) continue
      const page = await browserFor({ isPublic, isForAdmin }).newPage()
      await page.goto(path)
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
      if (path === '/playground') await converse(page)
      for (const width of ['desktop', 'phone'] as const)
        await takePicture(page, path.slice(1).replaceAll('/', '-') || 'inicio', width)
      await page.close()
    }
  } finally {
    for (const browser of [customer, operator, anonymous]) await browser.close()
    await gateway.stop()
  }

  function browserFor(of: {
    isPublic: boolean | undefined
    isForAdmin: boolean | undefined
  }): BrowserUnderTest {
    if (of.isPublic) return anonymous
    return of.isForAdmin ? operator : customer
  }
})

async function converse(page: Page): Promise<void> {
  const field = page.getByLabel('Mensagem', { exact: true })
  await field.fill('Escreva **uma frase** para a vitrine da padaria.')
  await field.press('Enter')
  await page.getByText(/1º token em .* ao todo/).waitFor()
}

async function takePicture(page: Page, name: string, width: Width): Promise<void> {
  await useLook(page, 'light', width)
  await settled(page)
  // Half the size of a PNG or less; `page.screenshot` does not support it.
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'webp',
    quality: QUALITY,
  })
  await session.detach()
  await writeFile(join(IMAGES, `${name}${SUFFIXES[width]}.webp`), Buffer.from(data, 'base64'))
}

async function callerOf(
  gateway: TestGateway,
  { email }: Person,
): Promise<{ customerId: string; call: ReturnType<typeof createCaller> }> {
  const { db } = gateway.database
  const customer = await findCustomer(db, email)
  if (!customer) throw new Error(`${email} is no customer`)
  const customerId = customer.id
  const input = {
    customerId,
    name: 'Servidor',
    scope: 'manage',
    requestsPerMinute: 1_000,
  } as const
  const { secret } = await createApiKey(db, input)
  return { customerId, call: createCaller(gateway, secret) }
}

async function seedOwnThings(gateway: TestGateway): Promise<void> {
  const { call } = await callerOf(gateway, ANA)
  await call('PUT', '/me/profile', {
    full_name: 'Ana Souza',
    cpf_cnpj: '52998224725',
    phone: '11987654321',
  })
  await call('POST', '/topups', { amount: 100 })
  await call('POST', '/api-keys', {
    name: 'Atendimento',
    model_ids: ['gpt-4o', 'claude-haiku-4-5'],
    budget: { limit_usd: 50, period: 'month' },
  })
  await call('POST', '/me/alerts', {
    name: 'Saldo acabando',
    kind: 'balance_below',
    threshold: 20,
    channels: ['email'],
  })
  await call('POST', '/webhooks', {
    url: 'https://padariadigital.com.br/avisos',
    event_types: ['balance.low', 'topup.paid'],
  })
  const prompt = await call('POST', '/me/prompts', {
    name: 'Resposta ao cliente',
    body: 'Responda com gentileza a {{cliente}}, que escreveu: {{mensagem}}',
    tags: ['atendimento'],
    default_model: 'sandbox-chat',
  })
  await call('PATCH', `/me/prompts/${prompt.id}`, {
    body: 'Responda em até três frases a {{cliente}}, que escreveu: {{mensagem}}',
    change_note: 'mais curto',
  })
  await call('POST', '/me/teams', { name: 'Produto', monthly_cap_brl: 500 })
}

async function seedOperation(gateway: TestGateway): Promise<void> {
  const at = { db: gateway.database.db, dataDir: gateway.node.dataDir }
  const olga = await callerOf(gateway, OLGA)
  const session = await openOperatorSession(at, olga.customerId, OLGA.email)
  const call = createCaller(gateway, session)
  const ana = await callerOf(gateway, ANA)
  await call('POST', '/admin/adjustments', {
    customer_id: ana.customerId,
    kind: 'credit',
    amount_brl: 900,
    reason: 'Cortesia pela indisponibilidade de ontem',
    reference: 'cortesia-2026-11',
  })
  await call('POST', '/admin/incidents', {
    title: 'Respostas lentas em modelos da OpenAI',
    message: 'Acompanhamos com o provedor. Os demais modelos funcionam normalmente.',
    severity: 'minor',
    models: ['gpt-4o'],
  })
}
