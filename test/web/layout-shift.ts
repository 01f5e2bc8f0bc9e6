/** The layout shifts of a page that no input caused. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'

/** The sum of the layout shift scores of the Layout Instability API; Web Vitals calls 0.1 good. */
const SHIFT_MAX = 0.02
const WATCH = `
  globalThis.shifts = []
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, value, sources } of list.getEntries())
      if (!hadRecentInput) shifts.push({ value, moved: sources.map(({ node, previousRect, currentRect }) =>
        [(node?.outerHTML ?? node?.textContent ?? 'gone').slice(0, 160),
          JSON.stringify(previousRect), JSON.stringify(currentRect)].join(' ')) })
  }).observe({ type: 'layout-shift', buffered: true })`

interface Shift {
  readonly value: number
  readonly moved: readonly string[]
}

/** Before the page is opened. */
export async function watchShifts(page: Page): Promise<void> {
  await page.addInitScript(WATCH)
}

/** Counts all layout shifts since the page was opened. */
export async function assertStill(page: Page, name: string): Promise<void> {
  const shifts = await page.evaluate<readonly Shift[]>('shifts')
  const total = shifts.reduce((sum, { value }) => sum + value, 0)
  const words = shifts.map(({ value, moved }) => `${value.toFixed(4)}\n    ${moved.join('\n    ')}`)
  assert.ok(total <= SHIFT_MAX, `${name} moves by ${total.toFixed(4)}:\n  ${words.join('\n  ')}`)
}
