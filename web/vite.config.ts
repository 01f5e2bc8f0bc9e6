import { join } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compressAssets } from './compress-assets.ts'
import { drawStills } from './draw-stills.ts'

/** The default address of `npm start`; set API_URL for another one. */
const API_URL = process.env.API_URL ?? 'http://127.0.0.1:8080'

/** Pages that load later must not bundle a second copy of these. */
const FIRST_LOAD =
  /node_modules\/(react|react-dom|scheduler|@tanstack|@lingui|@messageformat|moo)\//
/**
 * Small modules that several pages share go in one file, because each file is a request of its own on a slow
 * network.
 */
const SHARED =
  /node_modules\/lucide-react\/|web\/src\/(api|components|format|lib)\/|web\/src\/language\/.*\.tsx?$|-(query|queries|words)\.ts$/

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss(), drawStills(), compressAssets()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // The content security policy allows no data: URLs.
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: {
        main: join(import.meta.dirname, './index.html'),
        // The scripts of the pages for visitors (`src/site/pages`, `src/site/docs`, `src/site/public-bills`), which find them by these names.
        calculator: join(import.meta.dirname, './site/calculator.ts'),
        bill: join(import.meta.dirname, './site/bill.ts'),
        docs: join(import.meta.dirname, './site/docs.ts'),
      },
      output: {
        codeSplitting: {
          groups: [
            // What the pages for visitors need too, which load nothing else of the dashboard.
            {
              name: 'preload',
              test: /vite\/preload-helper|lib\/chosen-client|site\/say/,
              priority: 1,
            },
            { name: 'base', test: FIRST_LOAD },
            { name: 'shared', test: SHARED, minShareCount: 2 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/v1': API_URL, '/auth': API_URL, '/mailbox': API_URL } },
})
