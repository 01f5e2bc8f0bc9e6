/**
 * Draws the pages on which visitors sign in and up once, in both languages, so that the server sends what is seen first
 * in one file, with its style: the code of the dashboard takes seconds on a slow network, and then takes the page over
 * (`src/main.tsx`). Until then its buttons are disabled.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import { createServer, type Plugin } from 'vite'

const PAGES = ['entrar', 'cadastrar'] as const
/** Of `src/draw-page.tsx`. */
type DrawPage = (page: string, language: string) => Promise<{ title: string; markup: string }>

const LANGUAGES = ['pt-BR', 'en-US'] as const

export function drawStills(): Plugin {
  let [root, outDir] = ['', '']
  return {
    name: 'catraca-draw-stills',
    apply: 'build',
    configResolved(config) {
      root = config.root
      outDir = join(config.root, config.build.outDir)
    },
    async closeBundle(error?: Error) {
      if (error) return
      const frame = await readFile(join(outDir, 'index.html'), 'utf8')
      const theme = await readFile(join(outDir, 'theme.js'), 'utf8')
      const [link = '', sheet = ''] = /<link rel="stylesheet"[^>]*href="([^"]+)">/.exec(frame) ?? []
      const style = await readFile(join(outDir, sheet), 'utf8')
      const server = await createServer({
        configFile: false,
        root,
        logLevel: 'warn',
        plugins: [react()],
        server: { middlewareMode: true, hmr: false, watch: null },
        appType: 'custom',
      })
      // An open channel to other tabs would keep the build from ending.
      Reflect.deleteProperty(globalThis, 'BroadcastChannel')
      try {
        const module = await server.ssrLoadModule('/src/draw-page.tsx')
        for (const language of LANGUAGES)
          for (const page of PAGES) {
            const { title, markup } = await (module.drawPage as DrawPage)(page, language)
            // React leaves out what fails on a server, and shows it later.
            if (!markup.includes('<form')) throw new Error(`/${page} cannot be drawn`)
            const still = replaced(frame, [
              ['lang="pt-BR"', `lang="${language === 'en-US' ? 'en' : language}"`],
              ['<title>Catraca</title>', `<title>${title} · Catraca</title>`],
              ['<script src="/theme.js"></script>', `<script>${theme}</script>`],
              [link, `<style>${style}</style>`],
              ['<div id="root"></div>', `<div id="root" data-still>${markup}</div>`],
            ])
            await writeFile(join(outDir, `${page}.${language}.html`), still)
          }
      } finally {
        await server.close()
      }
    },
  }
}

/** Fails the build where the frame has changed. */
function replaced(text: string, changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((written, [from, to]) => {
    if (from === '' || !written.includes(from)) throw new Error(`index.html has no ${from}`)
    return written.replace(from, () => to)
  }, text)
}
