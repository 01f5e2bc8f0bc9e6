/**
 * The only reader of the environment. Everything is checked before anything starts, and all faults are
 * reported at once.
 */
import { resolve } from 'node:path'
import { REMOTE_DATA_JSON_URL } from '@pydantic/genai-prices'
import type { CatalogConfig } from '../../money/catalog/catalog-config-schema.ts'
import type { Discovery } from '../../money/catalog/discover-models.ts'
import type { ConfiguredModel } from '../../money/catalog/model.ts'
import type { PriceRule } from '../../money/catalog/price-updates.ts'
import type { LogLevel } from '../../platform/lib/log.ts'
import { withPasswordFile } from '../../platform/db/database-address.ts'
import { type Environment, EnvironmentReader } from './environment-reader.ts'
import { MODES, type Mode } from '../../platform/db/claim-mode.ts'
import { resolveArchive, type ArchiveSettings } from './resolve-archive.ts'
import { resolveCatalog, resolveTranscriptionModel } from './resolve-catalog.ts'
import { resolveMail, type MailConfig } from './resolve-mail.ts'
import { resolveTelemetry, type Telemetry } from './resolve-telemetry.ts'
import { isSandboxUpstream, type ConfiguredUpstream } from './resolve-upstreams.ts'
import { PROVIDERS, type Provider, type ProviderClients } from '../../identity/sign-in/providers.ts'
import { withSettingFiles } from './with-setting-files.ts'
import {
  ASAAS_URL_PRODUCTION,
  findAsaasFaults,
} from '../../money/payments/asaas/find-asaas-faults.ts'

export interface Config extends Telemetry {
  readonly mode: Mode
  /** The name of the build, which an image has. Undefined: the commit of the checkout, if there is one. */
  readonly build: string | undefined
  readonly host: string
  readonly port: number
  /** Where probes are answered from the first moment on; undefined: only on `port`, once the server has started. */
  readonly probePort: number | undefined
  /** Processes that answer requests; with more than one, a parent process runs the background jobs. */
  readonly workers: number
  /** Undefined: the embedded PostgreSQL is used. */
  readonly databaseUrl: string | undefined
  /** The same database without its pooler, for notifications. Undefined: `databaseUrl` is used. */
  readonly databaseListenUrl: string | undefined
  /** Replicas for heavy reads. Undefined: everything is read from `databaseUrl`. */
  readonly databaseReadUrl: string | undefined
  /** The data of a replica may be so old; beyond it the primary is read. */
  readonly readAgeMsMax: number
  readonly dataDir: string
  readonly upstreams: readonly ConfiguredUpstream[]
  /** Upstreams whose variables are set and which sandbox mode does not call, because SANDBOX_REAL_PROVIDERS is not set. */
  readonly upstreamsLeftOut: readonly string[]
  /** The catalog: the built-in models, overridden by the operator's file. */
  readonly models: readonly ConfiguredModel[]
  /** Undefined: only these models are in the catalog. */
  readonly discovery: Discovery | undefined
  /** The operator's file, which upstreams that operators add follow, too. */
  readonly catalogFile: CatalogConfig | undefined
  /** A file of price data that is newer than the package's; prices in force are compared with it. */
  readonly priceDataFile: string | undefined
  /** Where the price data is published, which is fetched every day. Undefined: that of the package is in use. */
  readonly priceDataUrl: string | undefined
  /** Another list of prices, which is fetched with the price data and only compared with it. */
  readonly secondPriceListUrl: string | undefined
  /** What happens to new models and prices of the published data. */
  readonly priceUpdates: PriceRule
  /** The exchange rate of sandbox mode: BRL per USD, times 10^4. Undefined: the last stored rate, or a default. */
  readonly sandboxFxRateE4: bigint | undefined
  readonly requestsPerMinutePerIp: number
  readonly restRequestsPerMinutePerKey: number
  readonly restRequestsPerMinutePerIp: number
  readonly bodyBytesMax: number
  /** The most bytes of bodies and unread answers that this node keeps in memory at once. */
  readonly bodiesBytesMax: number
  /** The most calls of one customer that run on this node at once. */
  readonly callsAtOnceMax: number
  /** What a cached answer costs, in hundredths of what the model would. */
  readonly cachedAnswerPercent: number
  /** The most client connections that this server serves at once. Undefined: what its descriptors allow. */
  readonly connectionsMax: number | undefined
  /** The maximum size of one audio file, and of all that this node keeps on disk at once. */
  readonly uploadBytesMax: number
  readonly uploadsBytesMax: number
  /** The model for transcription requests that name none. */
  readonly transcriptionModel: string
  /** The address at which customers reach this server. Undefined: the host that each request names is used. */
  readonly publicUrl: string | undefined
  /**
   * Undefined in sandbox mode, which uses the sandbox processor, and when no account is configured: then nobody can top
   * up.
   */
  readonly asaas: AsaasConfig | undefined
  /** Undefined in sandbox mode, where mails go to the mailbox page. */
  readonly mail: MailConfig | undefined
  /**
   * The key that seals secrets. Undefined in sandbox mode, where the node uses a key from its data folder.
   */
  readonly secretsKey: Buffer | undefined
  /** The previous key, which opens older secrets until they are resealed. */
  readonly secretsKeyPrevious: Buffer | undefined
  /** The services with whose accounts people may sign in. */
  readonly signInProviders: ProviderClients
  /** The secret that signs the identity provider's messages. Undefined: every message is refused. */
  readonly authWebhookSecret: Buffer | undefined
  /** Allows webhooks to this machine and to private networks; in sandbox mode only. */
  readonly webhooksAllowPrivate: boolean
  /** The smallest top-up, in whole BRL. */
  readonly topUpMinBrl: number
  /** In whole BRL: a larger refund waits for an operator, unless it is a withdrawal by law. */
  readonly refundReviewAboveBrl: number
  /** Promotional credit for the referrer of a customer, in whole BRL; 0: no referral programme. */
  readonly referralRewardBrl: number
  /** The paid money that the referred customer must have spent before the reward, in whole BRL. */
  readonly referralSpendingBrl: number
  /** Promotional credit for a new customer to try the service with, in whole BRL; 0: none. */
  readonly trialCreditBrl: number
  /** The most trial credit that is granted in 24 hours, in whole BRL. */
  readonly trialCreditDailyBrl: number
  /** In whole BRL: adjustments above it, alone or in the sum of 24 hours, need a second operator. */
  readonly adminApprovalAboveBrl: number
  /** The notice that customers get before a markup rises, in days. */
  readonly markupNoticeDays: number
  /** The origins of other sites whose pages may call models with a key. */
  readonly corsOrigins: '*' | readonly string[]
  /** After so much silence a stream gets a comment; 0: never. */
  readonly streamKeepAliveMs: number
  readonly callTimeoutMs: number
  /** How long a server that is told to stop still takes requests, while its readiness sends balancers away. */
  readonly drainDelayMs: number
  /** How long it then waits for its calls. */
  readonly drainMs: number
  readonly ledgerLanes: number
  /** How long the notes of delivered answers stay on the disk after they were compared with their charges. */
  readonly deliveryNotesHours: number
  /** Undefined: months of usage events stay in the database. */
  readonly archive: ArchiveSettings | undefined
  readonly trustProxy: readonly string[] | false
  /** In lower case: who may operate the service, in ascending order of rights. */
  readonly supportEmails: readonly string[]
  readonly financeEmails: readonly string[]
  readonly adminEmails: readonly string[]
  readonly metricsToken: string | undefined
  /** In sandbox mode a person reads the terminal, so that only warnings are logged unless the operator wants more. */
  readonly logLevel: LogLevel
  /** Where a line for each request goes. */
  readonly accessLog: 'none' | 'stdout'
}

/** Thrown with all faults of the configuration, one per line. */
export class ConfigError extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(
      `the configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.map((fault) => `  - ${fault}`).join('\n')}\nSet variables in .env or in the environment; docs/settings.md explains each one.`,
    )
    this.faults = faults
  }
}

const MIB = 1024 * 1024
const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent']

function pathIn(folder: string, path: string | undefined): string | undefined {
  return path ? resolve(folder, path) : undefined
}

/** Loads the configuration of this process. Throws a `ConfigError`. Relative paths start at `folder`. */
export function loadConfig(variables: Environment, folder: string): Config {
  const faults: string[] = []
  const environment = withSettingFiles(variables, folder, faults)
  const read = new EnvironmentReader(environment, faults)
  const mode = read.oneOf('CATRACA_MODE', MODES, 'sandbox')
  const callsReal = read.oneOf('SANDBOX_REAL_PROVIDERS', ['true', 'false'], 'false') === 'true'
  const usesPresets = mode === 'live' || callsReal
  const catalog = resolveCatalog(environment, folder, { mode, usesPresets }, faults)
  const { upstreams, models } = catalog
  if (upstreams.some(({ id }) => isSandboxUpstream(id)))
    faults.push('upstream "sandbox": this id belongs to the built-in upstream of sandbox mode')
  if (mode === 'live') findLiveFaults(environment, faults)
  const workers = read.workers('WORKERS', mode === 'sandbox' ? '1' : 'auto')
  const passwordFile = read.readableFile('DATABASE_PASSWORD_FILE', folder)
  const withPassword = (url: string | undefined): string | undefined =>
    url && passwordFile ? withPasswordFile(url, passwordFile) : url
  const config: Config = {
    mode,
    build: read.token('CATRACA_BUILD'),
    host: environment.HOST || '127.0.0.1',
    ...read.ports('PORT', 'PROBE_PORT'),
    workers,
    databaseUrl: withPassword(read.databaseUrl('DATABASE_URL')),
    databaseListenUrl: withPassword(read.databaseUrl('DATABASE_LISTEN_URL')),
    databaseReadUrl: withPassword(read.databaseUrl('DATABASE_READ_URL')),
    readAgeMsMax: read.whole('DATABASE_READ_LAG_SECONDS_MAX', 30, 1, 86_400) * 1000,
    dataDir: resolve(folder, environment.DATA_DIR || 'data'),
    ...catalog,
    ...readPriceSource(environment, mode, folder, faults),
    sandboxFxRateE4: read.rate('SANDBOX_FX_RATE'),
    requestsPerMinutePerIp: read.whole('RATE_LIMIT_PER_IP', 100, 1, 1_000_000_000),
    restRequestsPerMinutePerKey: read.whole('REST_RATE_LIMIT_PER_KEY', 1_200, 60, 1_000_000_000),
    restRequestsPerMinutePerIp: read.whole('REST_RATE_LIMIT_PER_IP', 600, 60, 1_000_000_000),
    bodyBytesMax: read.whole('BODY_BYTES_MAX', 20 * MIB, 1024, 512 * MIB),
    bodiesBytesMax: read.whole('BODIES_BYTES_MAX', 256 * MIB, MIB, 65_536 * MIB),
    connectionsMax: read.wholeIfSet('CONNECTIONS_MAX', 1, 1_000_000),
    callsAtOnceMax: read.whole('CALLS_AT_ONCE_MAX', 500, 1, 1_000_000),
    cachedAnswerPercent: read.whole('CACHED_ANSWER_PERCENT', 0, 0, 100),
    uploadBytesMax: read.whole('UPLOAD_BYTES_MAX', 200 * MIB, 1024, 4_096 * MIB),
    uploadsBytesMax: read.whole('UPLOADS_BYTES_MAX', 8_192 * MIB, 1024, 1_048_576 * MIB),
    transcriptionModel: resolveTranscriptionModel(environment, models, faults),
    publicUrl: read.address('PUBLIC_URL'),
    asaas: mode === 'live' ? resolveAsaas(environment, faults) : undefined,
    mail: mode === 'live' ? resolveMail(environment, faults) : undefined,
    secretsKey: read.secretsKey('SECRETS_KEY'),
    secretsKeyPrevious: read.previousSecretsKey('SECRETS_KEY_PREVIOUS', 'SECRETS_KEY'),
    signInProviders: readSignInProviders(environment, faults),
    authWebhookSecret: read.signingSecret('AUTH_WEBHOOK_SECRET'),
    webhooksAllowPrivate:
      read.oneOf('WEBHOOKS_ALLOW_PRIVATE', ['true', 'false'], 'false') === 'true',
    topUpMinBrl: read.whole('TOPUP_MIN_BRL', 20, 10, 5_000),
    adminApprovalAboveBrl: read.whole('ADMIN_APPROVAL_ABOVE_BRL', 500, 0, 1_000_000),
    markupNoticeDays: read.whole('MARKUP_NOTICE_DAYS', 7, 0, 365),
    refundReviewAboveBrl: read.whole('REFUND_REVIEW_ABOVE_BRL', 500, 0, 1_000_000),
    ...readRewards(read, mode),
    corsOrigins: read.origins('CORS_ORIGINS'),
    streamKeepAliveMs: read.whole('STREAM_KEEP_ALIVE_SECONDS', 15, 0, 300) * 1000,
    callTimeoutMs: read.whole('CALL_TIMEOUT_SECONDS', 900, 1, 86_400) * 1000,
    drainDelayMs: read.whole('DRAIN_DELAY_SECONDS', mode === 'live' ? 5 : 0, 0, 300) * 1000,
    drainMs: read.whole('DRAIN_SECONDS', 30, 0, 3_600) * 1000,
    // More lanes divide the batches, which costs the database and the workers more for each call (bench/HISTORY.md).
    ledgerLanes: read.whole('LEDGER_LANES', workers > 1 ? 1 : 2, 1, 32),
    deliveryNotesHours: read.whole('DELIVERY_NOTES_HOURS', 24, 0, 8_760),
    archive: resolveArchive(environment, read, folder, faults),
    trustProxy: read.addresses('TRUST_PROXY'),
    supportEmails: read.emails('SUPPORT_EMAILS'),
    financeEmails: read.emails('FINANCE_EMAILS'),
    adminEmails: read.emails('ADMIN_EMAILS'),
    metricsToken: read.token('METRICS_TOKEN'),
    accessLog: read.oneOf('ACCESS_LOG', ['none', 'stdout'], 'none'),
    ...resolveTelemetry(environment, read, faults),
    logLevel: read.oneOf('LOG_LEVEL', LOG_LEVELS, mode === 'live' ? 'info' : 'warn'),
  }
  if (config.databaseReadUrl && !config.databaseUrl)
    faults.push('DATABASE_READ_URL: is a replica of DATABASE_URL, which is not set')
  if (faults.length > 0) throw new ConfigError(faults)
  return config
}

const SECOND_LIST_URL = 'https://openrouter.ai/api/v1/models'

/** A file of the operator's goes before the published data. An empty address: nothing is fetched. */
function readPriceSource(
  environment: Environment,
  mode: Mode,
  folder: string,
  faults: string[],
): Pick<Config, 'priceDataFile' | 'priceDataUrl' | 'secondPriceListUrl'> {
  const read = (name: string, published: string): string | undefined => {
    const url = environment[name] ?? (mode === 'live' ? published : '')
    const scheme = URL.parse(url)?.protocol
    if (url !== '' && scheme !== 'https:' && !(mode === 'sandbox' && scheme === 'http:'))
      faults.push(`${name}: must be an https address`)
    return environment['PRICE_DATA_FILE'] || url === '' ? undefined : url
  }
  const priceDataUrl = read('PRICE_DATA_URL', REMOTE_DATA_JSON_URL)
  const second = read('SECOND_PRICE_LIST_URL', SECOND_LIST_URL)
  return {
    priceDataFile: pathIn(folder, environment['PRICE_DATA_FILE']),
    priceDataUrl,
    secondPriceListUrl: priceDataUrl && second,
  }
}

/** Each is on once its client is set, as it was registered with `<PUBLIC_URL>/auth/callback/<provider>`. */
function readSignInProviders(environment: Environment, faults: string[]): ProviderClients {
  const clients: [Provider, ProviderClients[Provider]][] = []
  for (const provider of PROVIDERS) {
    const name = `${provider.toUpperCase()}_CLIENT`
    const [clientId, clientSecret] = [environment[`${name}_ID`], environment[`${name}_SECRET`]]
    if (clientId && clientSecret) clients.push([provider, { clientId, clientSecret }])
    else if (clientId || clientSecret)
      faults.push(`${name}_ID and ${name}_SECRET: are needed together, or neither`)
  }
  return Object.fromEntries(clients)
}

/** Credits that the operator gives: for a referral, and to a new account. */
function readRewards(
  read: EnvironmentReader,
  mode: Config['mode'],
): Pick<
  Config,
  'referralRewardBrl' | 'referralSpendingBrl' | 'trialCreditBrl' | 'trialCreditDailyBrl'
> {
  const reward = read.whole('REFERRAL_REWARD_BRL', 10, 0, 1_000)
  const trial = read.whole('TRIAL_CREDIT_BRL', mode === 'sandbox' ? 5 : 0, 0, 100)
  return {
    referralRewardBrl: reward,
    // A higher reward would make inventing customers profitable.
    referralSpendingBrl: read.whole('REFERRAL_SPENDING_BRL', 2 * reward, reward, 100_000),
    trialCreditBrl: trial,
    trialCreditDailyBrl: read.whole('TRIAL_CREDIT_DAILY_BRL', Math.max(100, trial), trial, 100_000),
  }
}

/** Live mode takes real money, so it accepts no setting of the sandbox. */
function findLiveFaults(environment: Environment, faults: string[]): void {
  if (!environment.SECRETS_KEY)
    faults.push('SECRETS_KEY: is needed, the same on all nodes: openssl rand -base64 32')
  if (environment.WEBHOOKS_ALLOW_PRIVATE === 'true')
    faults.push('WEBHOOKS_ALLOW_PRIVATE: is for sandbox mode only')
  if (isPlainHttp(environment.PUBLIC_URL))
    faults.push('PUBLIC_URL: must begin with https:// in live mode; cookies would not be Secure')
  if (environment.SANDBOX_REAL_PROVIDERS === 'true')
    faults.push('SANDBOX_REAL_PROVIDERS: is for sandbox mode; live mode calls all providers')
  if (environment.SANDBOX_FX_RATE)
    faults.push('SANDBOX_FX_RATE: a fixed rate is for sandbox mode; live mode takes the PTAX')
}

/** Except on this machine, where nobody else listens. */
function isPlainHttp(address: string | undefined): boolean {
  const url = URL.parse(address ?? '')
  return url?.protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
}

interface AsaasConfig {
  readonly baseUrl: string
  readonly apiKey: string
  /** The token that Asaas sends with its webhooks. */
  readonly webhookToken: string
}

/** The account at the payment processor. Undefined if none is configured: nobody can top up. */
function resolveAsaas(environment: Environment, faults: string[]): AsaasConfig | undefined {
  const { ASAAS_API_KEY: apiKey, ASAAS_WEBHOOK_TOKEN: webhookToken = '' } = environment
  if (!apiKey) {
    if (webhookToken)
      faults.push('ASAAS_WEBHOOK_TOKEN: is of an account, so ASAAS_API_KEY is needed')
    return undefined
  }
  const asaas = {
    baseUrl: environment.ASAAS_BASE_URL || ASAAS_URL_PRODUCTION,
    apiKey,
    webhookToken,
  }
  faults.push(...findAsaasFaults(asaas).map((fault) => `ASAAS_…: ${fault}`))
  if (!asaas.baseUrl.startsWith('https:')) faults.push('ASAAS_BASE_URL: must be an https address')
  return asaas
}
