/**
 * Imported first by the processes of a test run: libraries, and the server's program, come from the bundles that
 * `test/run.ts` made. Without them everything comes from its own files.
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const file = process.env.TEST_BUNDLES_FILE
if (file) {
  const bundles = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>
  registerHooks({
    resolve(specifier, context, next) {
      const url = bundles[specifier]
      return url === undefined
        ? next(specifier, context)
        : { url, format: 'module', shortCircuit: true }
    },
  })
}
