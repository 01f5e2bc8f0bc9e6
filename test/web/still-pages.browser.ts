/** Nothing on any page moves while it loads, however slowly its answers come. */
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { settled, startBrowser, useLook, type BrowserUnderTest, type Width } from './browser.ts'
import { assertStill, watchShifts } from './layout-shift.ts'
import { detailPages, PAGES, VISITOR_PAGES } from './pages.ts'
import { seedOperation, seedOwnThings, type OwnThings } from './seed-things.ts'
import { seedUseOf } from './seed-use-of.ts'
import { enterAs, enterAsOperator, type Person } from './sign-up.ts'

const ANA: Person = {
  name: 'Ana Souza',
  email: 'ana@exemplo.com.br',
  password: 'uma frase bem comprida',
}
const OLGA: Person = { ...ANA, name: 'Olga Prado', email: 'olga@admin.example' }
const DELAY_MS = 200
const DELAY_STEP_MS = 50
const DELAYS = 5
const LAST_MS = 2_000
const MORE_FOR_VISITORS = [
  { path: '/docs/primeira-chamada', heading: 'Primeira chamada' },
  { path: '/docs/referencia/recargas', heading: 'Recargas: referência' },
]

let gateway: GatewayProcess
let customer: BrowserUnderTest
let operator: BrowserUnderTest
let anonymous: BrowserUnderTest
let own: OwnThings

before(async () => {
  gateway = await startGatewayProcess({ ADMIN_EMAILS: OLGA.email })
  const { origin } = new URL(gateway.node.baseUrl)
  customer = await startBrowser(origin)
  operator = await startBrowser(origin)
  anonymous = await startBrowser(origin)
  await enterAs(customer, ANA)
  await enterAsOperator(operator, OLGA, gateway.database.db)
  await seedUseOf(gateway.database.db, ANA.email)
  own = await seedOwnThings(gateway, ANA)
  await seedOperation(gateway, OLGA, own.customerId)
})
after(async () => {
  for (const browser of [customer, operator, anonymous]) await browser?.close()
  await gateway?.stop()
})

for (const { path, heading, isPublic = false, isForAdmin = false } of PAGES)
  test(`nothing on ${path} moves while it loads`, async () => {
    const signedIn = isForAdmin ? operator : customer
    await load(isPublic ? anonymous : signedIn, path, heading)
  })

for (const { path, heading } of [...VISITOR_PAGES, ...MORE_FOR_VISITORS])
  test(`nothing on ${path} moves while it loads for a visitor`, () =>
    load(anonymous, path, heading))

test('nothing on a detail page moves while it loads', async () => {
  for (const { path, heading, isForAdmin = false } of detailPages(own, ANA.name))
    await load(isForAdmin ? operator : customer, path, heading)
})

test('nothing on /recargas moves when it learns last that no credit is offered', () =>
  load(customer, '/recargas', 'Recargas', '/trial-credit'))

/** `last`: the path of the answer that comes after all others. */
async function load(
  browser: BrowserUnderTest,
  path: string,
  heading: string,
  last?: string,
): Promise<void> {
  for (const width of ['desktop', 'phone'] as const) {
    const page = await browser.newPage()
    await useLook(page, 'light', width)
    await slowDown(page, width, last)
    await watchShifts(page)
    await page.goto(path)
    await page.getByRole('heading', { name: heading, level: 1 }).first().waitFor()
    await settled(page)
    await assertStill(page, `${path} on a ${width}`)
    await page.close()
  }
}

/** Answers come apart, so that each part of a page is there before another; on a phone in the reverse order. */
async function slowDown(page: Page, width: Width, last?: string): Promise<void> {
  await page.route(/\/(v1|auth)\//, async (route, request) => {
    const place = request.url().length % DELAYS
    const steps = width === 'phone' ? DELAYS - 1 - place : place
    const isLast = last !== undefined && request.url().includes(last)
    await sleep(isLast ? LAST_MS : DELAY_MS + DELAY_STEP_MS * steps)
    // The page may be closed by now.
    await route.continue().catch(() => {})
  })
}
