/**
 * `npm run web:icons`: draws the icons of a phone's home screen and the picture that other sites show beside a link
 * (`web/public/*.png`) with an installed browser. Run it after a change of the mark, and commit the result.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium } from 'playwright-core'

const MARK = `<path d="M16 16V7M16 16l8 4.6M16 16l-8 4.6" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/><circle cx="16" cy="16" r="3" fill="#fff"/>`
/** A phone cuts the corners by itself, and shows only the middle: the ground reaches the edges. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="100%" height="100%"><rect width="32" height="32" fill="#0f5b40"/>${MARK}</svg>`
const PREVIEW = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 630" width="100%" height="100%" font-family="Inter, DejaVu Sans, Arial, sans-serif">
<rect width="1200" height="630" fill="#f7f8f6"/><rect x="80" y="88" width="72" height="72" rx="18" fill="#0f5b40"/>
<g transform="translate(80 88) scale(2.25)">${MARK}</g>
<text x="176" y="140" font-size="44" font-weight="600" fill="#15211b">Catraca</text>
<text x="80" y="300" font-size="76" font-weight="700" fill="#15211b" letter-spacing="-2">Modelos de IA</text>
<text x="80" y="392" font-size="76" font-weight="700" fill="#15211b" letter-spacing="-2">pagos em reais, por Pix</text>
<rect x="80" y="462" width="1040" height="84" rx="16" fill="#e2f0e9"/>
<text x="112" y="515" font-size="30" font-family="DejaVu Sans Mono, monospace" fill="#0a4631">US$ × PTAX × margem = R$ de cada chamada</text></svg>`

const PICTURES = [
  { name: 'icone-180', width: 180, height: 180, drawing: ICON },
  { name: 'icone-192', width: 192, height: 192, drawing: ICON },
  { name: 'icone-512', width: 512, height: 512, drawing: ICON },
  { name: 'og', width: 1200, height: 630, drawing: PREVIEW },
]

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
try {
  for (const { name, width, height, drawing } of PICTURES) {
    const page = await browser.newPage({ viewport: { width, height } })
    await page.setContent(`<style>*{margin:0;overflow:hidden}</style>${drawing}`)
    await writeFile(join(import.meta.dirname, './public', `${name}.png`), await page.screenshot())
    await page.close()
  }
} finally {
  await browser.close()
}
