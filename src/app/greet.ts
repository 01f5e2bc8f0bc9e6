import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../platform/lib/log.ts'
import type { Config } from './config/config.ts'
import type { App } from './create-app.ts'
import { describeDatabase } from './describe-database.ts'
import { operatorTokenOf } from '../http/rest/is-operator.ts'
import { findMissingSettings } from './config/read-settings.ts'
import { PriceDataFault, readPriceData } from './read-price-data.ts'
import { resolveWebhookSettings } from './config/resolve-webhook-settings.ts'
import { audited, SYSTEM } from '../platform/audit-log/audited.ts'
import { createApiKey, findApiKey } from '../customers/api-keys.ts'
import { createCustomer, findCustomer } from '../customers/customers.ts'
import type { Database } from '../platform/db/open.ts'
import { credit } from '../money/ledger/entries.ts'
import { sha256 } from '../platform/lib/ids.ts'
import { NANO_PER_BRL } from '../platform/lib/money.ts'

/** The demo of sandbox mode: a customer with a balance and a working key. */
const DEMO_CUSTOMER_ID = '00000000-0000-7000-8000-000000000001'
const DEMO_CUSTOMER = { name: 'Cliente de demonstração', email: 'demo@example.com' }
const DEMO_BALANCE_NANO_BRL = 50n * NANO_PER_BRL
const KEY_FILE = 'demo-key'

/** Creates the demo if it does not exist. Returns the secret of its key, which is kept in a private file. */
export async function ensureDemo(db: Database, dataDir: string): Promise<string> {
  const customerId = await ensureDemoCustomer(db)
  await credit(db, {
    customerId,
    amountNanoBrl: DEMO_BALANCE_NANO_BRL,
    reason: 'sandbox',
    reference: customerId === DEMO_CUSTOMER_ID ? 'demo' : `demo ${customerId}`,
    note: 'Saldo de demonstração',
  })
  const path = join(dataDir, KEY_FILE)
  const kept = await readFile(path, 'utf8').catch(() => undefined)
  const known = kept && (await findApiKey(db, { secretHash: sha256(kept) }))
  if (kept && known && !known.revokedAt) return kept
  const { secret } = await audited(db, SYSTEM, async (trx, record) => {
    const made = await createApiKey(trx, {
      customerId,
      name: 'Chave de demonstração',
      requestsPerMinute: 120,
    })
    await record({ action: 'api_key.created', customerId, subjectId: made.key.id })
    return made
  })
  await mkdir(dataDir, { recursive: true })
  await writeFile(path, secret, { mode: 0o600 })
  return secret
}

/** The first start creates the customer, and later starts find it. If its account was deleted, a new one is created. */
async function ensureDemoCustomer(db: Database): Promise<string> {
  await createCustomer(db, { id: DEMO_CUSTOMER_ID, ...DEMO_CUSTOMER })
  const found = await findCustomer(db, DEMO_CUSTOMER.email)
  if (found) return found.id
  const made = await createCustomer(db, DEMO_CUSTOMER)
  if ('kind' in made) throw new Error('another process makes the demo customer at this moment')
  return made.id
}

/** Prints where the server is. In sandbox mode also the demo key and a first request to copy and paste. */
export async function greet(
  config: Config,
  { db }: Pick<App, 'db'>,
  address: string,
  { embeddedFolder, log }: { embeddedFolder: string | undefined; log: Log },
): Promise<void> {
  const { mode, dataDir } = config
  log.info('listening', { address, mode })
  const real = mode === 'sandbox' ? config.upstreams.map(({ id }) => id) : []
  if (real.length > 0) log.warn('sandbox_calls_real_providers', { upstreams: real })
  const secret = mode === 'sandbox' ? await ensureDemoIfPossible() : undefined
  const facts: [string, string][] = [['address', `${address}/v1`]]
  if (secret !== undefined) facts.push(['key', secret])
  facts.push(['pages', `${config.publicUrl ?? address}/`], ['data', dataDir])
  if (config.databaseUrl !== undefined)
    facts.push(['database', describeDatabase(config.databaseUrl)])
  else if (embeddedFolder !== undefined && !embeddedFolder.startsWith(dataDir))
    facts.push(['database', `${embeddedFolder} (its account cannot open the data folder)`])
  const missing = [
    ...findMissingSettings(config),
    ...(await findPriceDataFault(db, config, log)),
  ].map((text) => `  - ${text}\n`)
  process.stdout.write(
    [
      `\nCatraca is up, in ${mode} mode: ${mode === 'sandbox' ? providersLine(real, config.upstreamsLeftOut) : 'real providers, real money.'}\n`,
      facts.map(([name, value]) => `  ${name.padEnd(8)}  ${value}\n`).join(''),
      ...(secret === undefined
        ? []
        : [firstSteps(address, secret, await mailboxOf(config, address))]),
      ...(missing.length === 0 ? [] : [`Settings are missing or wrong:\n${missing.join('')}`]),
    ].join('\n'),
  )

  function ensureDemoIfPossible(): Promise<string | undefined> {
    return ensureDemo(db, dataDir).catch((error: unknown) => {
      // The server is already listening: a failure here stops no call.
      log.warn('demo_not_ready', { error })
      return undefined
    })
  }
}

/** The server serves without its price data, but then nobody learns of prices that differ. */
async function findPriceDataFault(db: Database, config: Config, log: Log): Promise<string[]> {
  try {
    await readPriceData(db, config)
    return []
  } catch (error) {
    log.warn('price_data_not_read', { reason: (error as Error).message })
    // A database that is away is no fault of the settings, and the server is listening already.
    if (!(error instanceof PriceDataFault)) return []
    return [
      `PRICE_DATA_FILE cannot be used, so that prices are compared with nothing: ${error.message}`,
    ]
  }
}

/** With the token that opens it; with one of their own, the operator knows it. */
async function mailboxOf(config: Config, address: string): Promise<string> {
  if (config.metricsToken !== undefined) return `${address}/mailbox?token=<METRICS_TOKEN>`
  const { sealingKey } = await resolveWebhookSettings(config)
  return `${address}/mailbox?token=${operatorTokenOf(undefined, sealingKey)}`
}

function firstSteps(address: string, secret: string, mailbox: string): string {
  return `Try it:

  curl ${address}/v1/chat/completions \\
    -H "Authorization: Bearer ${secret}" \\
    -H "Content-Type: application/json" \\
    -d '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Olá! Quanto custa esta resposta?"}]}'

  curl ${address}/v1/usage -H "Authorization: Bearer ${secret}"

Or in the browser: sign up at ${address}/ and find the mail at ${address}/mailbox
For the mails, open this address once: ${mailbox}
`
}

function providersLine(real: readonly string[], leftOut: readonly string[]): string {
  if (real.length > 0)
    return `nobody pays real money, but calls to these providers are real, and they bill YOU: ${real.join(', ')}.`
  const nothing = 'no real provider, no real money.'
  return leftOut.length === 0
    ? nothing
    : `${nothing}\nThe environment has keys of ${leftOut.join(', ')}; SANDBOX_REAL_PROVIDERS=true calls them.`
}
