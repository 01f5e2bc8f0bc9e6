/** A real browser for the dashboard: tabs that collect errors, axe, and screenshots. */
import assert from 'node:assert/strict'
import { accessSync, constants } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'

/** Without these network flags Chromium contacts its maker's hosts at every start. */
export const BROWSER_FLAGS: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const AXE = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** The folder for screenshots; off by default, since they take as long as all the rest. */
const { SCREENSHOTS } = process.env
const WIDTHS = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } }
/** A slow machine is no fault of the dashboard. */
const WAIT_MS = 60_000
/** Expected refusals: 401 when nobody is signed in. */
const EXPECTED = [/status of 401 .*\/(v1|auth)\//]

export type Theme = 'light' | 'dark'
export type Width = keyof typeof WIDTHS

/** The path of an installed browser; undefined when none is found. */
export function findBrowser(): string | undefined {
  return [process.env.CHROMIUM_PATH, '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
    (path) => path !== undefined && isExecutable(path),
  )
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export interface BrowserUnderTest {
  readonly context: BrowserContext
  /** Every tab of the test. Console errors are collected in `faults`. */
  newPage(): Promise<Page>
  readonly faults: readonly string[]
  close(): Promise<void>
}

/**
 * `origin` as in `http://127.0.0.1:8080`: URLs are relative to it. Only with `isLive` do pages get the stream of their
 * account: with it, a page is never without a request under way.
 */
export async function startBrowser(
  origin: string,
  { isLive = false, locale = 'pt-BR' } = {},
): Promise<BrowserUnderTest> {
  const executablePath = findBrowser()
  if (executablePath === undefined) throw new Error('run these tests with `npm run test:web`')
  const browser: Browser = await chromium.launch({ executablePath, args: [...BROWSER_FLAGS] })
  const context = await browser.newContext({
    baseURL: origin,
    locale,
    viewport: WIDTHS.desktop,
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  context.setDefaultTimeout(WAIT_MS)
  if (!isLive)
    await context.addInitScript(
      'if (navigator.locks) navigator.locks.request = () => new Promise(() => {})',
    )
  const faults: string[] = []
  return {
    context,
    faults,
    async newPage() {
      const page = await context.newPage()
      page.on('pageerror', (error) => faults.push(`${page.url()}: ${error.message}`))
      page.on('console', (message) => {
        if (message.type() === 'error' && !isExpected(message.text(), message.location().url))
          faults.push(`${page.url()}: ${message.text()} ${message.location().url}`)
      })
      return page
    },
    close: () => browser.close(),
  }
}

/** A browser reports each refusal as a console error. */
function isExpected(text: string, url: string): boolean {
  return EXPECTED.some((pattern) => pattern.test(`${text} ${url}`))
}

/** Waits until nothing is loading any more, so that the page no longer changes. */
export async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle')
  // Not a function evaluated in the page: the content security policy would refuse it.
  await page.locator('main .animate-pulse').first().waitFor({ state: 'detached' })
}

/** WCAG 2.2 AA, as far as a program can check it. */
export async function assertAccessible(page: Page, name: string): Promise<void> {
  await page.evaluate(await AXE)
  const found = (await page.evaluate(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`,
  )) as {
    violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[]
  }
  const violations = found.violations.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}\n${nodes.map(({ html, failureSummary }) => `    ${html.slice(0, 300)}\n    ${failureSummary}`).join('\n')}`,
  )
  assert.equal(violations.join('\n'), '', name)
}

export async function useLook(page: Page, theme: Theme, width: Width): Promise<void> {
  await page.emulateMedia({ colorScheme: theme })
  await page.setViewportSize(WIDTHS[width])
  // Chromium keeps some inherited colours of the old theme until an element is redrawn, so every element is
  // redrawn.
  await page.evaluate(`for (const isHidden of [true, false]) {
    document.documentElement.hidden = isHidden
    document.documentElement.offsetHeight
  }`)
}

/** A page wider than the screen scrolls sideways on a phone. */
export async function assertFits(page: Page, name: string): Promise<void> {
  const [needed, there] = (await page.evaluate(
    '[document.documentElement.scrollWidth, innerWidth]',
  )) as [number, number]
  if (needed <= there) return
  const wide = await page.evaluate<string>(`[...document.body.querySelectorAll('*')]
    .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
    .map((each) => each.outerHTML.slice(0, 160)).slice(0, 12).join('\\n')`)
  assert.fail(`${name} needs ${needed} px of ${there}:\n${wide}`)
}

export async function screenshot(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS === undefined) return
  await mkdir(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true })
}
