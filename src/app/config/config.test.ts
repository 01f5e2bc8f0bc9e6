import assert from 'node:assert/strict'
import { LIVE_ENVIRONMENT } from '../../../test/harness/live-environment.ts'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { plainRoute } from '../../money/catalog/sandbox-catalog.ts'
import type { PriceTerms } from '../../money/catalog/prices.ts'
import { ConfigError, loadConfig, type Config } from './config.ts'
import { workersThatFit, type Environment } from './environment-reader.ts'

const folders: string[] = []
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

/** A folder with this as its `catraca.config.json`; text goes as it is. */
function folderWith(catalog?: unknown, name = 'catraca.config.json'): string {
  const folder = mkdtempSync(join(tmpdir(), 'catraca-config-'))
  folders.push(folder)
  if (catalog !== undefined)
    writeFileSync(
      join(folder, name),
      typeof catalog === 'string' ? catalog : JSON.stringify(catalog),
    )
  return folder
}

const load = (environment: Environment = {}, catalog?: unknown): Config =>
  loadConfig(environment, folderWith(catalog))

/** The faults, without the path of the file in front of those of the file. */
function faultsOf(
  environment: Environment,
  catalog?: unknown,
  folder = folderWith(catalog),
): string[] {
  try {
    loadConfig(environment, folder)
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error))
    for (const fault of error.faults) assert.ok(error.message.includes(`\n  - ${fault}`))
    return error.faults.map((fault) => fault.replace(`${folder}/`, ''))
  }
  return []
}

/** One fault for each pattern, in any order. */
function assertFaults(faults: readonly string[], patterns: readonly RegExp[]): void {
  for (const pattern of patterns)
    assert.equal(
      faults.filter((fault) => pattern.test(fault)).length,
      1,
      `${pattern} of ${faults.join('\n')}`,
    )
  assert.equal(faults.length, patterns.length, faults.join('\n'))
}

const upstream = { id: 'own', kind: 'openai-compatible', base_url: 'https://ai.example.com/v1' }

test('the default is a sandbox on this machine with an embedded database', () => {
  const folder = folderWith()
  const { models, ...rest } = loadConfig({}, folder)
  assert.ok(models.length > 27)
  assert.deepEqual(rest, {
    mode: 'sandbox',
    build: undefined,
    host: '127.0.0.1',
    port: 8080,
    probePort: undefined,
    workers: 1,
    databaseUrl: undefined,
    databaseListenUrl: undefined,
    databaseReadUrl: undefined,
    readAgeMsMax: 30_000,
    dataDir: join(folder, 'data'),
    upstreams: [],
    upstreamsLeftOut: [],
    discovery: { upstreams: [], patterns: ['*'], overlays: [] },
    catalogFile: undefined,
    priceDataFile: undefined,
    priceDataUrl: undefined,
    secondPriceListUrl: undefined,
    priceUpdates: { new: 'show', cheaper: 'take', dearer: 'ask' },
    sandboxFxRateE4: undefined,
    requestsPerMinutePerIp: 100,
    restRequestsPerMinutePerKey: 1_200,
    restRequestsPerMinutePerIp: 600,
    bodyBytesMax: 20 * 1024 * 1024,
    bodiesBytesMax: 256 * 1024 * 1024,
    callsAtOnceMax: 500,
    cachedAnswerPercent: 0,
    connectionsMax: undefined,
    uploadBytesMax: 200 * 1024 * 1024,
    uploadsBytesMax: 8 * 1024 * 1024 * 1024,
    transcriptionModel: 'whisper-1',
    publicUrl: undefined,
    asaas: undefined,
    mail: undefined,
    secretsKey: undefined,
    secretsKeyPrevious: undefined,
    authWebhookSecret: undefined,
    signInProviders: {},
    webhooksAllowPrivate: false,
    topUpMinBrl: 20,
    refundReviewAboveBrl: 500,
    referralRewardBrl: 10,
    trialCreditBrl: 5,
    trialCreditDailyBrl: 100,
    referralSpendingBrl: 20,
    adminApprovalAboveBrl: 500,
    markupNoticeDays: 7,
    corsOrigins: '*',
    streamKeepAliveMs: 15_000,
    callTimeoutMs: 900_000,
    drainDelayMs: 0,
    drainMs: 30_000,
    ledgerLanes: 2,
    deliveryNotesHours: 24,
    archive: undefined,
    trustProxy: false,
    supportEmails: [],
    financeEmails: [],
    adminEmails: [],
    metricsToken: undefined,
    logLevel: 'warn',
    accessLog: 'none',
    tracing: undefined,
    metricsExport: undefined,
  } satisfies Omit<Config, 'models'>)
})

test('an upstream opens only images where that is known of it, or said', () => {
  const at = (entry: object) => ({ ...upstream, ...entry })
  const entries = [
    at({ id: 'unknown' }),
    at({ id: 'said', opens_only_images: true }),
    at({ id: 'same-address', base_url: 'https://api.openai.com/v1' }),
    at({
      id: 'region',
      kind: 'openai',
      base_url: 'https://eu.api.openai.com/v1',
      api_key_env: 'K',
    }),
    at({ id: 'elsewhere', kind: 'openai', api_key_env: 'K' }),
    at({ id: 'unsaid', kind: 'vllm', opens_only_images: false }),
    at({ id: 'own', kind: 'vllm' }),
    { id: 'openrouter', kind: 'openrouter', api_key_env: 'K' },
    { id: 'mistral', kind: 'mistral', api_key_env: 'K' },
  ]
  const folder = folderWith({ upstreams: entries })
  const { upstreams } = loadConfig({ K: 'key' }, folder)
  assert.deepEqual(
    upstreams
      .filter(({ adapter: { options } }) => 'opensOnlyImages' in options && options.opensOnlyImages)
      .map(({ id }) => id),
    ['said', 'same-address', 'region', 'own', 'mistral'],
  )
})

test('only known providers open the addresses of images themselves, unless the file says so', () => {
  const entries = [
    { id: 'openai', kind: 'openai', api_key_env: 'K' },
    { id: 'region', kind: 'openai', base_url: 'https://eu.api.openai.com/v1', api_key_env: 'K' },
    { id: 'together', kind: 'together', api_key_env: 'K' },
    { ...upstream, id: 'azure', base_url: 'https://x.openai.azure.com/openai/v1' },
    { ...upstream, id: 'proxied', kind: 'openai', api_key_env: 'K' },
    { ...upstream, id: 'vllm', kind: 'vllm' },
    { ...upstream, id: 'unknown' },
    { ...upstream, id: 'said', opens_addresses: true },
  ]
  const { upstreams } = loadConfig({ K: 'key' }, folderWith({ upstreams: entries }))
  assert.deepEqual(
    upstreams
      .filter(({ adapter: { options } }) => 'opensAddresses' in options && options.opensAddresses)
      .map(({ id }) => id),
    ['openai', 'region', 'together', 'azure', 'said'],
  )
})

test('only OpenAI and Azure speak Responses, unless the file says so', () => {
  const entries = [
    { id: 'openai', kind: 'openai', api_key_env: 'K' },
    { ...upstream, id: 'azure', base_url: 'https://x.openai.azure.com/openai/v1' },
    { ...upstream, id: 'proxied', kind: 'openai', api_key_env: 'K' },
    { ...upstream, id: 'unknown' },
    { ...upstream, id: 'said', speaks_responses: true },
  ]
  const { upstreams } = loadConfig({ K: 'key' }, folderWith({ upstreams: entries }))
  assert.deepEqual(
    upstreams
      .filter(({ adapter: { options } }) => 'speaksResponses' in options && options.speaksResponses)
      .map(({ id }) => id),
    ['openai', 'azure', 'said'],
  )
})

test('a variable that is empty is as one that is not set', () => {
  const folder = folderWith()
  const names =
    'CATRACA_MODE HOST PORT DATABASE_URL DATA_DIR CATRACA_CONFIG PRICE_DATA_FILE SANDBOX_FX_RATE RATE_LIMIT_PER_IP ' +
    'DRAIN_SECONDS TRUST_PROXY LOG_LEVEL METRICS_TOKEN OPENAI_API_KEY'
  const empty = Object.fromEntries(names.split(' ').map((name) => [name, '']))
  assert.deepEqual(loadConfig(empty, folder), loadConfig({}, folder))
})

test('every variable is taken, seconds as milliseconds and rates exactly', () => {
  const config = load({
    HOST: '0.0.0.0',
    PORT: '0',
    DATABASE_URL: 'postgresql://user@db/catraca',
    DATA_DIR: '/srv/catraca',
    SANDBOX_FX_RATE: '5.2238',
    RATE_LIMIT_PER_IP: '7',
    BODY_BYTES_MAX: '1024',
    CALL_TIMEOUT_SECONDS: '60',
    DRAIN_SECONDS: '0',
    LEDGER_LANES: '32',
    TRUST_PROXY: '10.0.0.0/8, 2001:db8::1',
    METRICS_TOKEN: 'm',
    LOG_LEVEL: 'warn',
  })
  assert.deepEqual(
    [config.host, config.port, config.databaseUrl, config.dataDir, config.sandboxFxRateE4],
    ['0.0.0.0', 0, 'postgresql://user@db/catraca', '/srv/catraca', 52_238n],
  )
  assert.deepEqual(
    [config.requestsPerMinutePerIp, config.bodyBytesMax, config.callTimeoutMs, config.drainMs],
    [7, 1024, 60_000, 0],
  )
  assert.deepEqual(
    [config.ledgerLanes, config.trustProxy, config.metricsToken, config.logLevel],
    [32, ['10.0.0.0/8', '2001:db8::1'], 'm', 'warn'],
  )
})

test('all faults of all variables and of the file are in one error, each with its name', () => {
  const faults = faultsOf(
    {
      CATRACA_MODE: 'production',
      PORT: '65536',
      DATABASE_URL: 'mysql://db/catraca',
      SANDBOX_FX_RATE: '5.22381',
      RATE_LIMIT_PER_IP: '0',
      BODY_BYTES_MAX: '20MB',
      CALL_TIMEOUT_SECONDS: '-1',
      DRAIN_SECONDS: '1.5',
      LEDGER_LANES: '33',
      TRUST_PROXY: '10.0.0.0/8,proxy',
      LOG_LEVEL: 'loud',
    },
    {
      models: [
        { id: 'm', context_tokens: 0 },
        { id: 'gpt-4o', routes: [{ upstream: 'nowhere', model: 'gpt-4o' }] },
      ],
    },
  )
  assertFaults(faults, [
    /^CATRACA_MODE: must be one of sandbox, live, not "production"$/,
    /^PORT: must be a whole number from 0 to 65535, not "65536"$/,
    /^DATABASE_URL: must begin with postgres:\/\//,
    /^SANDBOX_FX_RATE: /,
    /^RATE_LIMIT_PER_IP: .*"0"$/,
    /^BODY_BYTES_MAX: .*"20MB"$/,
    /^CALL_TIMEOUT_SECONDS: .*"-1"$/,
    /^DRAIN_SECONDS: .*"1\.5"$/,
    /^LEDGER_LANES: .*"33"$/,
    /^TRUST_PROXY: .*"proxy"/,
    /^LOG_LEVEL: .*"loud"$/,
    /^catraca\.config\.json: model "m": context_tokens: must be >= 1$/,
    /^model "gpt-4o": there is no upstream "nowhere"/,
  ])
})

test('a number is whole decimal digits and nothing else', () => {
  for (const PORT of ['abc', '80a', '0x50', '1e3', ' 80', '+80', '８０'])
    assertFaults(faultsOf({ PORT }), [/^PORT: /])
})

test('a file that is named must be there; the one in the folder may be missing', () => {
  assertFaults(faultsOf({ CATRACA_CONFIG: 'missing.json', PORT: 'abc' }), [
    /^CATRACA_CONFIG: there is no file missing\.json$/,
    /^PORT: /,
  ])
  const folder = folderWith({ upstreams: [upstream] }, 'other.json')
  assert.equal(loadConfig({}, folder).upstreams.length, 0)
  assert.equal(loadConfig({ CATRACA_CONFIG: 'other.json' }, folder).upstreams[0]?.id, 'own')
})

test('the address of an archive has no secret, and is not repeated', () => {
  const keys = { ARCHIVE_S3_ACCESS_KEY_ID: 'key', ARCHIVE_S3_SECRET_ACCESS_KEY: 'secret' }
  for (const address of [
    'https://hush@s3.example.com/bucket',
    'https://key:hush@s3.example.com/bucket',
    'https://s3.example.com/bucket?token=hush',
    'https://s3.example.com/bucket#hush',
    'https://s3.example.com/?hush',
    'ftp://s3.example.com/hush',
    'hush',
  ]) {
    const faults = faultsOf({ ...keys, ARCHIVE_S3_URL: address })
    assertFaults(faults, [/^ARCHIVE_S3_URL: must be the address of a bucket/])
    assert.doesNotMatch(faults.join(), /hush/)
  }
})

test('metrics for a collector: a secret stands in the headers, and faults repeat none', () => {
  const otlp = { OTEL_METRICS_EXPORTER: 'otlp' }
  for (const [variables, fault] of [
    [{ OTEL_METRICS_EXPORTER: 'console' }, /^OTEL_METRICS_EXPORTER: /],
    [{ ...otlp, OTEL_METRIC_EXPORT_INTERVAL: '0000' }, /^OTEL_METRIC_EXPORT_INTERVAL: /],
    [{ ...otlp, OTEL_EXPORTER_OTLP_HEADERS: 'a b=hush' }, /^OTEL_EXPORTER_OTLP_HEADERS: /],
    [{ ...otlp, OTEL_EXPORTER_OTLP_HEADERS: 'a=hush%' }, /^OTEL_EXPORTER_OTLP_HEADERS: /],
    [
      { ...otlp, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:hush@collector:4318' },
      /^OTEL_EXPORTER_OTLP_ENDPOINT: must have no password/,
    ],
  ] as const) {
    const faults = faultsOf(variables)
    assertFaults(faults, [fault])
    assert.doesNotMatch(faults.join(), /hush/)
  }
})

test('a file that is not JSON is named as such, beside the other faults', () => {
  assertFaults(faultsOf({ PORT: 'abc' }, '{"upstreams": ['), [
    /^catraca\.config\.json: .*JSON/,
    /^PORT: /,
  ])
})

test('every fault of an upstream or a model is reported with its place in the file', () => {
  const faults = faultsOf(
    {},
    {
      upstreams: [
        upstream,
        { ...upstream, id: 'ftp', base_url: 'ftp://ai.example.com' },
        { ...upstream, id: 'name', api_key_env: 'sk-secret' },
        { ...upstream, id: 'pool', connections_max: 0 },
        { ...upstream, id: 'kind', kind: 'grpc' },
      ],
      models: [
        { id: 'o3' },
        { id: 'price', prices: { input: -1, output: '1' } },
        { id: 'typo', max_tokens: 5 },
        { id: 'routes', routes: [] },
        { id: 'spaced id' },
        { name: 'no id' },
      ],
      more: true,
    },
  )
  for (const start of [
    'upstream "ftp": base_url: ',
    'upstream "name": api_key_env: ',
    'upstream "pool": connections_max: ',
    'upstream "kind": kind: ',
    'model "price": prices.input: ',
    'model "routes": routes: ',
    'model "spaced id": id: ',
    'model "typo": max_tokens: there is no such property',
    '/models/5: ',
  ]) {
    assert.ok(
      faults.some((fault) => fault.includes(`catraca.config.json: ${start}`)),
      `${start} of ${faults.join('\n')}`,
    )
  }
  assert.ok(!faults.some((fault) => fault.includes('"o3"')), faults.join('\n'))
})

test('an id that is there twice is a fault', () => {
  const twice = { upstreams: [upstream, upstream], models: [{ id: 'gpt-4o' }, { id: 'gpt-4o' }] }
  assertFaults(faultsOf({}, twice), [
    /upstream "own": the id is used twice/,
    /model "gpt-4o": the id is used twice/,
  ])
})

test('an address of an upstream that is no address is a fault like any other', () => {
  const faults = faultsOf({ PORT: 'abc' }, { upstreams: [{ ...upstream, base_url: 'https://' }] })
  assert.ok(
    faults.some((fault) => /base_url|https:\/\//.test(fault)),
    faults.join('\n'),
  )
  assert.ok(faults.some((fault) => fault.startsWith('PORT')))
})

test('a missing key of an upstream is a fault that names upstream and variable, never a secret', () => {
  const catalog = {
    upstreams: [
      { ...upstream, api_key_env: 'OWN_API_KEY' },
      { ...upstream, id: 'second', api_key_env: 'SECOND_API_KEY' },
      { ...upstream, id: 'open' },
    ],
  }
  assertFaults(faultsOf({ SECOND_API_KEY: '' }, catalog), [
    /"own" takes its key from OWN_API_KEY, which is not set/,
    /"second" takes its key from SECOND_API_KEY, which is not set/,
  ])
  const faults = faultsOf({ OWN_API_KEY: 'sk-hush' }, catalog)
  assert.equal(faults.length, 1)
  assert.doesNotMatch(faults.join(), /sk-hush/)
  const { upstreams } = load({ OWN_API_KEY: 'one', SECOND_API_KEY: 'two' }, catalog)
  assert.deepEqual(
    upstreams.map(({ id, adapter }) => [id, adapter.options.apiKey]),
    [
      ['own', 'one'],
      ['second', 'two'],
      ['open', undefined],
    ],
  )
})

test('a built-in upstream is there once its key is, and one of the file takes its place', () => {
  const keys = {
    SANDBOX_REAL_PROVIDERS: 'true',
    OPENAI_API_KEY: 'sk-openai',
    ANTHROPIC_API_KEY: 'sk-anthropic',
  }
  const byId = (config: Config) =>
    Object.fromEntries(config.upstreams.map(({ id, adapter }) => [id, adapter]))
  const built = byId(load(keys))
  assert.deepEqual(Object.keys(built).sort(), ['anthropic', 'openai'])
  assert.ok(built.openai?.speaks === 'chat-completions')
  assert.equal(built.openai.options.baseUrl, 'https://api.openai.com/v1')
  assert.equal(built.openai.options.apiKey, 'sk-openai')
  assert.equal(built.openai.options.maxTokensField, 'max_completion_tokens')
  assert.ok(built.anthropic?.speaks === 'its own format')
  assert.equal(built.anthropic.options.kind, 'anthropic')
  assert.equal(built.anthropic.options.apiKey, 'sk-anthropic')

  const proxied = byId(load(keys, { upstreams: [{ ...upstream, id: 'openai' }] }))
  assert.deepEqual(Object.keys(proxied).sort(), ['anthropic', 'openai'])
  const own = proxied.openai?.options
  assert.equal(own?.baseUrl, 'https://ai.example.com/v1')
  assert.equal(own?.apiKey, undefined, 'the key of the built-in one is not sent to it')
})

test('no entry of the file takes the id of the built-in sandbox upstream', () => {
  assertFaults(faultsOf({}, { upstreams: [{ ...upstream, id: 'sandbox' }] }), [
    /^upstream "sandbox"/,
  ])
})

test('sandbox mode calls a provider whose key is in the environment only by choice', () => {
  const { upstreams, upstreamsLeftOut } = load({ OPENAI_API_KEY: 'sk-openai' })
  assert.deepEqual([upstreams, upstreamsLeftOut], [[], ['openai']])
  const chosen = load({ OPENAI_API_KEY: 'sk-openai', SANDBOX_REAL_PROVIDERS: 'true' })
  assert.deepEqual(
    [chosen.upstreams.map(({ id }) => id), chosen.upstreamsLeftOut],
    [['openai'], []],
  )
  const named = load({}, { upstreams: [upstream] })
  assert.deepEqual(
    named.upstreams.map(({ id }) => id),
    ['own'],
    'an entry of the file is a choice',
  )
})

test('the models of the file are laid over the built-in ones', () => {
  const withFile = load(
    {},
    {
      upstreams: [upstream],
      models: [
        { id: 'gpt-4o', markup_multiplier: '2' },
        { id: 'gpt-4o-mini', enabled: false },
        {
          id: 'house-llm',
          category: 'llm',
          routes: [{ upstream: 'own', model: 'llm-7b' }],
          prices: { input: '0.1', output: 0.25 },
        },
      ],
    },
  ).models
  const without = load().models
  const find = (models: typeof withFile, id: string) => models.find((model) => model.id === id)

  assert.deepEqual(find(withFile, 'gpt-4o'), { ...find(without, 'gpt-4o'), markupE4: 20_000n })
  assert.equal(find(withFile, 'gpt-4o-mini'), undefined)
  const house = find(withFile, 'house-llm')
  assert.deepEqual(house?.routes, [plainRoute('own', 'llm-7b', house?.price as PriceTerms)])
  assert.deepEqual(
    [house.price.tiers[0]?.input, house.price.tiers[0]?.output],
    [100_000n, 250_000n],
  )
  const others = (models: typeof withFile) =>
    models.filter(({ id }) => !['gpt-4o', 'gpt-4o-mini', 'house-llm'].includes(id))
  assert.deepEqual(others(withFile), others(without))
})

test('live mode starts without an upstream, which operators may add, and takes nothing of the sandbox', () => {
  assertFaults(faultsOf(LIVE_ENVIRONMENT), [])
  assertFaults(
    faultsOf(
      { ...LIVE_ENVIRONMENT, SANDBOX_FX_RATE: '5.2', SANDBOX_REAL_PROVIDERS: 'true' },
      { upstreams: [{ ...upstream, id: 'sandbox' }] },
    ),
    [/^SANDBOX_FX_RATE: /, /^SANDBOX_REAL_PROVIDERS: /, /^upstream "sandbox"/],
  )
  assert.equal(load({ ...LIVE_ENVIRONMENT, OPENAI_API_KEY: 'k' }).mode, 'live')
})

test('live mode needs https at its public address, except on this machine', () => {
  const at = (address: string): string[] =>
    faultsOf({ ...LIVE_ENVIRONMENT, OPENAI_API_KEY: 'k', PUBLIC_URL: address })
  for (const address of [
    'http://api.example.com',
    'http://10.0.0.1:8080',
    'http://127.0.0.1.example',
  ])
    assertFaults(at(address), [/^PUBLIC_URL: must begin with https/])
  for (const address of [
    'https://api.example.com',
    'http://localhost:8080',
    'http://[::1]:8080',
    'http://127.0.0.1',
  ])
    assert.deepEqual(at(address), [])
  assert.deepEqual(faultsOf({ PUBLIC_URL: 'http://api.example.com' }), [])
})

const WEBHOOK_TOKEN = 'qwertzuiopasdfghjklyxcvbnmqwertz'

test('live mode needs to say who its mails are from, and takes a processor with all that it needs', () => {
  assertFaults(faultsOf({ CATRACA_MODE: 'live', OPENAI_API_KEY: 'k' }), [
    /^SMTP_URL: /,
    /^MAIL_FROM: /,
    /^COMPANY_NAME: /,
    /^COMPANY_ADDRESS: /,
    /^CONTACT_EMAIL: /,
    /^COMPANY_CNPJ: /,
    /^SECRETS_KEY: /,
  ])
  const live = { ...LIVE_ENVIRONMENT, OPENAI_API_KEY: 'k' }
  assertFaults(faultsOf({ ...live, ASAAS_API_KEY: 'a', ASAAS_BASE_URL: 'http://x.example/v3' }), [
    /^ASAAS_…: there is no webhook token/,
    /^ASAAS_BASE_URL: /,
  ])
  assertFaults(faultsOf({ ...live, ASAAS_WEBHOOK_TOKEN: 'w'.repeat(32) }), [
    /ASAAS_API_KEY is needed/,
  ])
  const { asaas, mail } = load({
    ...live,
    ASAAS_API_KEY: 'a',
    ASAAS_WEBHOOK_TOKEN: WEBHOOK_TOKEN,
  })
  assert.equal(asaas?.baseUrl, 'https://api.asaas.com/v3')
  assert.equal(mail?.sender.company.cnpj, '11222333000181')
})

test('a file that is wrong is not also blamed for what could not be read from it', () => {
  const faults = faultsOf(LIVE_ENVIRONMENT, {
    upstreams: [{ ...upstream, connections_max: 0 }],
    models: [{ id: 'gpt-4o', routes: [{ upstream: 'own', model: 'm' }] }],
  })
  assertFaults(faults, [/upstream "own": connections_max/])
})

test('a model that could not be priced or served is a fault before anything starts', () => {
  const catalog = {
    models: [
      { id: 'house-llm', category: 'llm' },
      { id: 'gpt-4o', routes: [{ upstream: 'nowhere', model: 'gpt-4o' }] },
      { id: 'gpt-4o-mini', markup_multiplier: '0' },
      { id: 'o3', prices: { input: 1e-7, output: 1 } },
    ],
  }
  const faults = faultsOf({ PORT: 'abc' }, catalog)
  for (const part of ['PORT', 'house-llm', 'nowhere', 'markup', 'micro-USD'])
    assert.ok(
      faults.some((fault) => fault.includes(part)),
      `${part} of ${faults.join('\n')}`,
    )
})

test('WORKERS auto starts no more workers than the memory holds beside their parent', () => {
  const gib = 1024 ** 3
  assert.equal(workersThatFit(16, 2 * gib), 4)
  assert.equal(workersThatFit(2, 2 * gib), 2)
  assert.equal(workersThatFit(16, 64 * gib), 16)
  assert.equal(workersThatFit(256, 1024 * gib), 64)
  assert.equal(workersThatFit(8, gib / 2), 1)
})

test('WORKERS is one process in sandbox mode, every core in live mode, a number or auto', () => {
  const cores = Math.min(availableParallelism(), 64)
  assert.equal(loadConfig({}, '.').workers, 1)
  assert.equal(loadConfig({ WORKERS: 'auto' }, '.').workers, cores)
  const live = { ...LIVE_ENVIRONMENT, OPENAI_API_KEY: 'sk-test' }
  assert.equal(loadConfig(live, '.').workers, cores)
  assert.equal(loadConfig({ ...live, WORKERS: '3' }, '.').workers, 3)
  assert.equal(loadConfig({ WORKERS: '1' }, '.').ledgerLanes, 2)
  assert.equal(loadConfig({ WORKERS: '2' }, '.').ledgerLanes, 1)
  assert.equal(loadConfig({ WORKERS: '2', LEDGER_LANES: '3' }, '.').ledgerLanes, 3)
  for (const WORKERS of ['0', '65', '2.5', 'all'])
    assert.throws(() => loadConfig({ WORKERS }, '.'), /WORKERS: must be a whole number/)
})

test('published prices are fetched in live mode unless the operator says otherwise, and never from an open address', () => {
  const urlOf = (settings: object): string | undefined =>
    load({ OPENAI_API_KEY: 'sk', ...settings }).priceDataUrl
  const { PRICE_DATA_URL: _, ...live } = LIVE_ENVIRONMENT
  assert.match(urlOf(live) ?? '', /^https:\/\//)
  assert.equal(urlOf({ ...live, PRICE_DATA_URL: '' }), undefined)
  assert.equal(urlOf({ ...live, PRICE_DATA_FILE: 'prices.json' }), undefined)
  assert.equal(urlOf({}), undefined)
  const own = 'http://127.0.0.1:9/data.json'
  assert.equal(urlOf({ PRICE_DATA_URL: own }), own)
  assert.throws(() => urlOf({ ...live, PRICE_DATA_URL: own }), /PRICE_DATA_URL: must be an https/)
})

test('a second list of prices is fetched only beside the first, never from an open address', () => {
  const secondOf = (settings: object): string | undefined =>
    load({ OPENAI_API_KEY: 'sk', ...settings }).secondPriceListUrl
  const { PRICE_DATA_URL: _, ...live } = LIVE_ENVIRONMENT
  assert.match(secondOf(live) ?? '', /^https:\/\//)
  for (const settings of [
    { ...live, SECOND_PRICE_LIST_URL: '' },
    { ...live, PRICE_DATA_URL: '' },
    { ...live, PRICE_DATA_FILE: 'prices.json' },
    {},
  ])
    assert.equal(secondOf(settings), undefined, JSON.stringify(settings))
  const own = { ...live, SECOND_PRICE_LIST_URL: 'http://127.0.0.1:9/models' }
  assert.throws(() => secondOf(own), /SECOND_PRICE_LIST_URL: must be an https/)
})
