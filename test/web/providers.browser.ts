/** The buttons of other services lead to them, and a way back that failed says why. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { screenshot, startBrowser, type BrowserUnderTest } from './browser.ts'
import { assertStill, watchShifts } from './layout-shift.ts'

const ALL = ['Google', 'GitHub', 'Microsoft']
const BYTES_MAX = 15_000

let gateway: GatewayProcess
/** Has all services. */
let full: GatewayProcess
let visitor: BrowserUnderTest

before(async () => {
  gateway = await startGatewayProcess({
    GOOGLE_CLIENT_ID: 'cliente',
    GOOGLE_CLIENT_SECRET: 'segredo',
    GITHUB_CLIENT_ID: 'cliente',
    GITHUB_CLIENT_SECRET: 'segredo',
  })
  full = await startGatewayProcess(
    Object.fromEntries(
      ALL.flatMap((name) => [
        [`${name.toUpperCase()}_CLIENT_ID`, 'cliente'],
        [`${name.toUpperCase()}_CLIENT_SECRET`, 'segredo'],
      ]),
    ),
  )
  visitor = await startBrowser(new URL(gateway.node.baseUrl).origin)
})
after(async () => {
  await visitor?.close()
  await gateway?.stop()
  await full?.stop()
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

for (const [locale, words] of [
  ['pt-BR', 'Entrar com'],
  ['en-GB', 'Continue with'],
] as const)
  test(`in ${locale} the first paint has the buttons where they stay, and nothing moves`, async () => {
    // By a name, so that the browser may have passkeys, whose button only the code can draw.
    const { port } = new URL(full.node.baseUrl)
    const browser = await startBrowser(`http://localhost:${port}`, { locale })
    try {
      for (const path of ['/entrar', '/cadastrar'])
        for (const [width, colorScheme] of [
          [1440, 'light'],
          [320, 'dark'],
        ] as const)
          await assertDrawn(await browser.newPage(), path, words, { width, colorScheme })
      assert.deepEqual(browser.faults, [])
    } finally {
      await browser.close()
    }
  })

async function assertDrawn(
  page: Page,
  path: string,
  words: string,
  { width, colorScheme }: { readonly width: number; readonly colorScheme: 'light' | 'dark' },
): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await page.setViewportSize({ width, height: 900 })
  await watchShifts(page)
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  let release = (): void => {}
  const isReleased = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route(/\/assets\/.*\.js$/, async (route) => {
    await isReleased
    await route.continue()
  })
  await page.goto(path, { waitUntil: 'commit' })
  const buttons = ALL.map((name) => page.getByRole('button', { name: `${words} ${name}` }))
  const places = []
  for (const button of buttons) {
    assert.ok(await button.isDisabled())
    places.push(await button.boundingBox())
  }
  await screenshot(
    page,
    `drawn${path.replace('/', '-')}-${words.slice(0, 4)}-${width}-${colorScheme}`,
  )
  release()
  await page.locator('#root:not([data-still])').waitFor()
  for (const [index, button] of buttons.entries()) {
    assert.ok(await button.isEnabled())
    assert.deepEqual(await button.boundingBox(), places[index])
  }
  await page.waitForLoadState('networkidle')
  await screenshot(
    page,
    `live${path.replace('/', '-')}-${words.slice(0, 4)}-${width}-${colorScheme}`,
  )
  await assertStill(page, `${path} at ${width} px`)
  assert.ok(!asked.includes('/auth/providers'), 'the page said so already')
  const size = await page.evaluate<number>(
    "performance.getEntriesByType('navigation')[0].encodedBodySize",
  )
  assert.ok(size > 0 && size <= BYTES_MAX, `${size} bytes`)
  await page.close()
}
