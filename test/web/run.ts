/**
 * `npm run test:web`: builds the dashboard and runs every `test/web/*.browser.ts` in a real browser. Without a
 * browser it reports that and does nothing; in CI that is a failure. `npm run test:web -- recargas` runs the
 * files whose name contains that word.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { build } from 'vite'
import { findBrowser } from './browser.ts'

const root = join(import.meta.dirname, '../..')

if (findBrowser() === undefined) {
  process.stdout.write(
    'No browser: install Debian\'s "chromium", or name one by CHROMIUM_PATH. Nothing was tested.\n',
  )
  process.exit(process.env.CI ? 1 : 0)
}
await build({ configFile: join(root, 'web/vite.config.ts'), logLevel: 'warn' })
const wanted = process.argv.slice(2)
const { status } = spawnSync(
  process.execPath,
  [join(root, 'test/run.ts'), '--tier=browser', ...wanted],
  { cwd: root, stdio: 'inherit' },
)
process.exit(status ?? 1)
