/**
 * `npm run web:pictures`: takes the pictures of `docs/images`, of every page on a desktop and on a phone, for a
 * customer after six weeks of use. They are for people to look at; no test compares them.
 */
import { mkdir } from 'node:fs/promises'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startGatewayProcess } from '../harness/gateway-process.ts'
import { settled, startBrowser, useLook, type BrowserUnderTest, type Width } from './browser.ts'
import { PAGES, VISITOR_PAGES } from './pages.ts'
import { IMAGES, savePicture } from './save-picture.ts'
import { seedOperation, seedOwnThings } from './seed-things.ts'
import { seedUseOf } from './seed-use-of.ts'
import { enterAs, enterAsOperator, type Person } from './sign-up.ts'

const SUFFIXES = { desktop: '', phone: '-celular' } as const
/** Not worth a picture: pages that are reached by mistake. */
const LEFT_OUT = ['/nada-aqui', '/confirmado', '/modelos/nada']

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
  const gateway = await startGatewayProcess({ ADMIN_EMAILS: OLGA.email })
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
    const { customerId } = await seedOwnThings(gateway, ANA)
    await seedOperation(gateway, OLGA, customerId)
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
    for (const { path, heading, name } of VISITOR_PAGES) {
      if (LEFT_OUT.includes(path)) continue
      const page = await anonymous.newPage()
      await page.goto(path)
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
      for (const width of ['desktop', 'phone'] as const) await takePicture(page, name, width)
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
  await savePicture(page, `${name}${SUFFIXES[width]}`)
}
