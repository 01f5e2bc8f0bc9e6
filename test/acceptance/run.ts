/**
 * `npm run acceptance`: starts the server as a user does, and checks the specification literally over HTTP. It uses
 * `fetch` and its own arithmetic, and nothing of `src` or of the tests' helpers.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkAccount } from './account-checks.ts'
import { checkAmounts } from './amount-checks.ts'
import { checkCalls } from './call-checks.ts'
import { openContext, type Context } from './context.ts'
import { checkLimits } from './limit-checks.ts'
import { checkPublic } from './public-checks.ts'
import { checkRecords } from './record-checks.ts'
import { startServer } from './start-server.ts'
import { checkWebhooks } from './webhook-checks.ts'

const PARTS: readonly (readonly [string, (context: Context) => Promise<void>])[] = [
  ['public', checkPublic],
  ['calls', checkCalls],
  ['account', checkAccount],
  ['records', checkRecords],
  ['webhooks', checkWebhooks],
  ['amounts', checkAmounts],
  ['limits', checkLimits],
]

/** A part that ends early must not look like success. */
const GUARANTEES_MIN = 2_500

const begun = Date.now()
const server = await startServer()
let failed = 1
try {
  const context = await openContext(server)
  const { checks } = context
  for (const [name, check] of PARTS) {
    const before = [checks.guarantees.size, checks.count] as const
    try {
      await check(context)
    } catch (error) {
      checks.is(`${name}: to its end`, false, error instanceof Error ? error.stack : error)
    }
    const count = String(checks.guarantees.size - before[0]).padStart(5)
    console.log(`${name.padEnd(8)} ${count} guarantees, ${checks.count - before[1]} checks`)
  }
  checks.is(
    'the number of guarantees',
    checks.guarantees.size > GUARANTEES_MIN,
    checks.guarantees.size,
  )
  failed = checks.failures.length
  reportRows()
  for (const failure of checks.failures) console.log(`FAILED  ${failure}`)
  const seconds = ((Date.now() - begun) / 1_000).toFixed(1)
  console.log(
    `${checks.guarantees.size} guarantees, ${checks.count} checks, ${failed} failures, ${seconds} s`,
  )
} finally {
  await server.stop()
}

/** What each part of the specification has in tests beside these checks; `test/specification.test.ts` holds them to the tests. */
function reportRows(): void {
  const page = readFileSync(join(import.meta.dirname, 'specification.md'), 'utf8')
  for (const part of page.split('\n## ').slice(1)) {
    const rows = part.split('\n').filter((line) => /\.ts \|/.test(line))
    const files = new Set(rows.map((row) => row.split(' | ').at(1)))
    if (rows.length > 0)
      console.log(
        `${(part.split('\n')[0] ?? '').padEnd(40)} ${rows.length} rows, with tests in ${files.size} files`,
      )
  }
}
process.exit(failed === 0 ? 0 : 1)
