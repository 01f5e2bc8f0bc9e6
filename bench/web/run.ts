/**
 * READ THIS FIRST. `npm run bench:web`: the dashboard, measured as Lighthouse does, for a customer with a million
 * usage events. The run creates or continues a database with such a history and starts a server on it with a fresh
 * build of the dashboard. A real browser, throttled to a phone on a slow network, loads each page several times with
 * an empty cache. Then, without throttling, it goes through the steps of a person on the usage page.
 *
 * The exit code is 1 if a request failed. A missed aim is reported and does not fail the run, because it depends on
 * the machine.
 */
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { build } from 'vite'
import { startEmbedded } from '../../src/platform/db/embedded.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { openDatabase } from '../../src/platform/db/open.ts'
import { ensureMonths } from '../../src/app/workers/ensure-months.ts'
import { BROWSER_FLAGS, findBrowser } from '../../test/web/browser.ts'
import { describeMachine } from '../describe-machine.ts'
import { createProcesses } from '../processes.ts'
import { readOptions } from '../read-options.ts'
import { report } from '../report.ts'
import { writeResults } from '../write-results.ts'
import { findCaller } from '../reads/add-customers.ts'
import { ensureHistory, openHistoryClient } from '../reads/ensure-history.ts'
import { startServer } from '../reads/start-server.ts'
import { enterDashboard } from './enter-dashboard.ts'
import { measureLoads } from './measure-loads.ts'
import { measureSteps } from './measure-steps.ts'
import { parseWebOptions, webUsage } from './parse-web-options.ts'
import { renderWeb } from './render-web.ts'
import type { WebResults } from './web-results.ts'

/** The fewest that the generator supports: all calls are those of the first. */
const CUSTOMERS = 60
const root = join(import.meta.dirname, '../..')

const options = readOptions(parseWebOptions, webUsage)
const executablePath = findBrowser()
if (executablePath === undefined) {
  process.stderr.write('No browser: install Debian\'s "chromium", or name one by CHROMIUM_PATH.\n')
  process.exit(2)
}
if (!options.isBuilt)
  await build({ configFile: join(root, 'web/vite.config.ts'), logLevel: 'warn' })
// Readable by other users, because PostgreSQL refuses to run as root.
mkdirSync(options.dataDir, { recursive: true })
chmodSync(options.dataDir, 0o755)
const processes = createProcesses(options.dataDir)
process.once('exit', () => processes.killAll())
const embedded = await startEmbedded({ dataDir: options.dataDir, log: (text) => report(text) })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void stopEarly(signal))
}

try {
  const customer = await makeHistory(embedded.databaseUrl)
  const results = await measure(executablePath, customer)
  await processes.stopAll()
  await embedded.stop()
  const path = writeResults(results, 'web-')
  process.stdout.write(`\n${renderWeb(results)}\n`)
  process.stderr.write(`${path}\n`)
  process.exit(results.faults.length > 0 ? 1 : 0)
} catch (error) {
  console.error(error)
  await stopEarly('the benchmark failed')
}

async function makeHistory(databaseUrl: string): Promise<{ email: string; events: number }> {
  await migrate(databaseUrl)
  const { db, close } = openDatabase(databaseUrl, { onError: () => {} })
  const client = await openHistoryClient(databaseUrl)
  try {
    await ensureMonths(db)
    const size = { events: options.events, customers: CUSTOMERS, heavyShare: 1 }
    await ensureHistory(databaseUrl, db, size, report)
    const { customerId, email } = await findCaller(client, 1)
    // A sign-in link mailed in an earlier run points to a stopped server, and only a few are mailed in an hour.
    await client.query('delete from sandbox_mails; delete from sign_in_attempts')
    const { rows } = await client.query(
      'select sum(charged_requests + released_requests)::int4 as events from usage_hours where customer_id = $1',
      [customerId],
    )
    return { email, events: rows[0].events }
  } finally {
    await client.end()
    await close()
  }
}

async function measure(
  executablePath: string,
  customer: { email: string; events: number },
): Promise<WebResults> {
  const at = new Date().toISOString()
  const machine = describeMachine(options.dataDir)
  const server = await startServer(processes, { dataDir: options.dataDir, adminEmails: [] })
  const browser = await chromium.launch({ executablePath, args: [...BROWSER_FLAGS] })
  try {
    const visitor = await enterDashboard(browser, new URL(server.baseUrl).origin, customer.email)
    const loads = options.hasLoads
      ? await measureLoads(browser, visitor, options, report)
      : { rows: [], faults: [], busyBefore: 0 }
    const steps = options.hasSteps
      ? await measureSteps(browser, visitor, options, report)
      : { rows: [], calls: [], busyBefore: 0 }
    return {
      kind: 'web',
      at,
      options,
      machine,
      browser: browser.version(),
      events: customer.events,
      busyBefore: Math.max(loads.busyBefore, steps.busyBefore),
      loads: loads.rows,
      steps: steps.rows,
      calls: steps.calls,
      faults: loads.faults,
    }
  } finally {
    await browser.close()
  }
}

async function stopEarly(reason: string): Promise<never> {
  process.stderr.write(`${reason}; stopping the processes\n`)
  await processes.stopAll()
  await embedded.stop()
  process.exit(1)
}
