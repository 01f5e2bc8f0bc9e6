/**
 * Draws the pages on which visitors sign in and up once, in both languages, so that the server sends what is seen first
 * in one file, with its style: the code of the dashboard takes seconds on a slow network, and then takes the page over
 * (`src/main.tsx`). Until then its buttons are disabled. There is one for each choice of services that a server may offer
 * people to sign in with (`entrar.pt-BR.google-github.html`): the server sends the one of its settings, and the code reads
 * the choice from `data-still`.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import { createServer, type Plugin } from 'vite'

const PAGES = ['entrar', 'cadastrar'] as const
/** Of `src/draw-page.tsx`. */
interface Drawing {
  readonly drawPage: (
    page: string,
    language: string,
    providers: readonly string[],
  ) => Promise<{ title: string; markup: string }>
  readonly PROVIDERS: readonly string[]
}

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
        const { drawPage, PROVIDERS } = module as Drawing
        for (const language of LANGUAGES)
          for (const page of PAGES)
            for (const providers of choicesOf(PROVIDERS)) {
              const services = providers.join(' ')
              const { title, markup } = await drawPage(page, language, providers)
              // React leaves out what fails on a server, and shows it later.
              if (!markup.includes('<form')) throw new Error(`/${page} cannot be drawn`)
              const still = replaced(frame, [
                ['lang="pt-BR"', `lang="${language === 'en-US' ? 'en' : language}"`],
                ['<title>Catraca</title>', `<title>${title} · Catraca</title>`],
                ['<script src="/theme.js"></script>', `<script>${theme}</script>`],
                [link, `<style>${style}</style>`],
                [
                  '<div id="root"></div>',
                  `<div id="root" data-still${services && `="${services}"`}>${markup}</div>`,
                ],
              ])
              const name = [page, language, ...(services ? [providers.join('-')] : []), 'html']
              await writeFile(join(outDir, name.join('.')), still)
            }
      } finally {
        await server.close()
      }
    },
  }
}

/** Each set of them, in their order. */
function choicesOf(all: readonly string[]): string[][] {
  return all.reduce<string[][]>(
    (choices, each) => choices.flatMap((choice) => [choice, [...choice, each]]),
    [[]],
  )
}

/** Fails the build where the frame has changed. */
function replaced(text: string, changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((written, [from, to]) => {
    if (from === '' || !written.includes(from)) throw new Error(`index.html has no ${from}`)
    return written.replace(from, () => to)
  }, text)
}
