import type { Page } from 'playwright-core'
import { isFullEffort } from '../harness/effort.ts'
import {
  assertAccessible,
  assertFits,
  screenshot,
  settled,
  useLook,
  type Theme,
  type Width,
} from './browser.ts'

/** Each theme and each width; with full effort each of them in each. The last is how pages are opened. */
const LOOKS: readonly (readonly [Theme, Width])[] = [
  ['dark', 'phone'],
  ...(isFullEffort
    ? ([
        ['light', 'phone'],
        ['dark', 'desktop'],
      ] as const)
    : []),
  ['light', 'desktop'],
]

/** In the dark as well as in the light, on a phone and on a desk: axe, and nothing wider than the screen. */
export async function lookAt(page: Page, name: string): Promise<void> {
  for (const [theme, width] of LOOKS) {
    await useLook(page, theme, width)
    await settled(page)
    await screenshot(page, `${name}-${width}-${theme}`)
    await assertAccessible(page, `${name}, ${width}, ${theme}`)
    await assertFits(page, name)
  }
}
