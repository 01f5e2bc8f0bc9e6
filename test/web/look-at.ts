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

/** Each theme and each width once; with full effort, every combination. Pages are opened in the last one. */
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

/** Checks the page in dark and light, on a phone and on a desktop: axe, and nothing wider than the screen. */
export async function lookAt(page: Page, name: string): Promise<void> {
  for (const [theme, width] of LOOKS) {
    await useLook(page, theme, width)
    await settled(page)
    await screenshot(page, `${name}-${width}-${theme}`)
    await assertAccessible(page, `${name}, ${width}, ${theme}`)
    await assertFits(page, name)
  }
}
