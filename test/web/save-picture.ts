import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

export const IMAGES = join(import.meta.dirname, '../../docs/images')
const QUALITY = 70

/** What is on the screen, as `docs/images/<name>.webp`. */
export async function savePicture(page: Page, name: string): Promise<void> {
  // Half the size of a PNG or less; `page.screenshot` does not support it.
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'webp',
    quality: QUALITY,
  })
  await session.detach()
  await writeFile(join(IMAGES, `${name}.webp`), Buffer.from(data, 'base64'))
}
