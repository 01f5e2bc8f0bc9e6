/** The schema of the operator's `catraca.config.json`: upstreams and models that extend or override the built-in ones. */
import Type, { type Static } from 'typebox'
import { Settings } from 'typebox/system'
import { Value } from 'typebox/value'
import { isObject } from '../../platform/lib/is-object.ts'
import { MODEL_CATEGORIES, ROUTING_STRATEGIES } from './model.ts'
import { upstreamPresets } from './upstream-presets.ts'

// The default of 8 would make an operator with more faults restart several times to find them all.
Settings.Set({ maxErrors: 1_000 })

/** The id of an upstream or a model, as the file writes it. */
export const configuredId = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}$' })
const variable = Type.String({
  pattern: '^[A-Z][A-Z0-9_]*$',
  description: 'Name of an environment variable.',
})
const milliseconds = Type.Integer({ minimum: 1, maximum: 3_600_000 })
/** A string keeps every digit; a number is read by its shortest decimal form. */
const usd = (description: string) =>
  Type.Union(
    [
      Type.String({ pattern: '^\\d{1,6}(\\.\\d{1,6})?$' }),
      Type.Number({ minimum: 0, maximum: 100_000 }),
    ],
    { description },
  )
const usdPerMillion = usd('USD per million tokens.')

const tokenPrices = {
  input: Type.Optional(usdPerMillion),
  cached_input: Type.Optional(usdPerMillion),
  cache_write: Type.Optional(usdPerMillion),
  cache_write_1h: Type.Optional(
    usd(
      'USD per million tokens written to a one-hour cache. If absent, the one-hour cache is not offered.',
    ),
  ),
  output: Type.Optional(usdPerMillion),
  reasoning: Type.Optional(usdPerMillion),
}
const unitPrices = {
  audio_hour: Type.Optional(usd('USD per hour of audio, billed by the second.')),
  characters: Type.Optional(usd('USD per million characters of a text that is spoken.')),
  input_audio: Type.Optional(usdPerMillion),
  output_audio: Type.Optional(usdPerMillion),
  input_image: Type.Optional(usdPerMillion),
  output_image: Type.Optional(usdPerMillion),
  search_unit: Type.Optional(
    usd(
      'USD per search of a reranker: a query with up to 100 documents of up to 500 tokens. In place of tokens.',
    ),
  ),
  web_search: Type.Optional(
    usd(
      'USD per search of the web that the provider runs. If absent, web search is not offered. Needs prices without tiers.',
    ),
  ),
  images: Type.Optional(
    Type.Record(
      Type.String({ pattern: '^(default|[a-z]+|(([a-z]+):)?\\d+x\\d+)$' }),
      usd('USD per image.'),
      {
        additionalProperties: false,
        description:
          'Keys: "<quality>:<width>x<height>", "<width>x<height>", "<quality>" or "default". The most specific key applies.',
      },
    ),
  ),
  video_seconds: Type.Optional(
    Type.Record(
      Type.String({ pattern: '^(default|\\d+x\\d+)$' }),
      usd('USD per second of video.'),
      {
        additionalProperties: false,
        description: 'Keys: "<width>x<height>", or "default" for every other size.',
      },
    ),
  ),
}
const strict = { additionalProperties: false }

const prices = Type.Object(
  {
    ...tokenPrices,
    ...unitPrices,
    tiers: Type.Optional(
      Type.Array(
        Type.Object(
          {
            above_prompt_tokens: Type.Integer({ minimum: 1, maximum: 100_000_000 }),
            ...tokenPrices,
          },
          strict,
        ),
      ),
    ),
  },
  strict,
)

const timeOfDay = Type.String({
  pattern: '^([01]\\d|2[0-3]):[0-5]\\d$',
  description: 'UTC, HH:MM.',
})
const priceSchedule = Type.Array(
  Type.Object(
    {
      starts_at: Type.Optional(
        Type.String({
          pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d)?Z$',
          description: 'The prices apply from then on, such as 2027-01-01T00:00Z.',
        }),
      ),
      from: Type.Optional(timeOfDay),
      until: Type.Optional(timeOfDay),
      weekdays: Type.Optional(
        Type.Array(Type.Integer({ minimum: 1, maximum: 7 }), {
          minItems: 1,
          description: 'The days of "from" and "until"; 1 is Monday.',
        }),
      ),
      weekdays_utc_offset: Type.Optional(
        Type.Integer({
          minimum: -12,
          maximum: 14,
          description: 'Hours from UTC to the calendar of "weekdays", such as 8 for Beijing.',
        }),
      ),
      prices,
    },
    strict,
  ),
  {
    description:
      'Prices that apply from a date on, or at times of day. Of those that apply, the last one is charged, by the end of the answer; a call is held for at the highest.',
  },
)

const route = Type.Object(
  {
    upstream: configuredId,
    model: Type.String({ minLength: 1, description: "The model's name at the upstream." }),
    priority: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000,
        description: 'Smaller numbers are tried first. Default: the position in the list.',
      }),
    ),
    weight: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1_000_000,
        description: 'The share of calls among routes of the same priority.',
      }),
    ),
    concurrency_max: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Concurrent calls per node.' }),
    ),
    prices: Type.Optional(prices),
    price_schedule: Type.Optional(priceSchedule),
  },
  strict,
)

const upstream = Type.Object(
  {
    id: configuredId,
    kind: Type.Enum(['openai-compatible', ...Object.keys(upstreamPresets)]),
    base_url: Type.Optional(
      Type.String({ pattern: '^https?://', description: 'Including the version segment.' }),
    ),
    api_key_env: Type.Optional(variable),
    region: Type.Optional(Type.String({ minLength: 1, description: 'For amazon-bedrock.' })),
    access_key_id_env: Type.Optional(variable),
    secret_access_key_env: Type.Optional(variable),
    session_token_env: Type.Optional(variable),
    project: Type.Optional(Type.String({ minLength: 1, description: 'For google-vertex.' })),
    location: Type.Optional(Type.String({ minLength: 1, description: 'For google-vertex.' })),
    client_email_env: Type.Optional(variable),
    private_key_env: Type.Optional(variable),
    max_tokens_field: Type.Optional(
      Type.Enum(['max_tokens', 'max_completion_tokens'], {
        description:
          'The name that an openai-compatible upstream uses for the limit of output tokens.',
      }),
    ),
    organization_env: Type.Optional(variable),
    project_env: Type.Optional(variable),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    cancel_stops_billing: Type.Optional(
      Type.Boolean({ description: 'Closing the connection stops the billing.' }),
    ),
    opens_only_images: Type.Optional(
      Type.Boolean({
        description:
          'For an openai-compatible upstream: it opens the address of an image as an image or refuses it, and never reads it as a document or video. If false or absent, a request with an image address holds money for the whole context.',
      }),
    ),
    provider_name: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9][A-Za-z0-9._/-]{0,49}$',
        description:
          "The name by which callers choose this upstream in provider.order, only and ignore. Customers may see it. Default: the maker's name of each model.",
      }),
    ),
    collects_data: Type.Optional(
      Type.Boolean({
        description:
          'Only an upstream with false here, which neither keeps requests nor learns from them, serves calls with provider.data_collection "deny".',
      }),
    ),
    speaks_responses: Type.Optional(
      Type.Boolean({
        description:
          "For an openai-compatible upstream: requests in the Responses format are sent to its /responses as they came, apart from fields without a price. Default: true at OpenAI's and Azure's own addresses.",
      }),
    ),
    video_format: Type.Optional(
      Type.Enum(['openai', 'openrouter', 'xai'], {
        description:
          "For an openai-compatible upstream: how it is asked for videos. openai: a form to /videos; openrouter: JSON to /videos; xai: JSON to /videos/generations. Default: that of xAI's and OpenRouter's own addresses, else openai.",
      }),
    ),
    opens_addresses: Type.Optional(
      Type.Boolean({
        description:
          'For an openai-compatible upstream: it gets the addresses of images and opens them itself. Default: only known providers do; for any other, the gateway downloads the images and sends them, because an upstream in the network of the operator reaches more than a customer may.',
      }),
    ),
    connect_timeout_ms: Type.Optional(milliseconds),
    first_byte_timeout_ms: Type.Optional(milliseconds),
    idle_timeout_ms: Type.Optional(milliseconds),
    connections_max: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_536 })),
    query: Type.Optional(Type.Record(Type.String(), Type.String())),
    retries: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 5,
        description: 'Retries of a call on each route, after all routes were tried.',
      }),
    ),
    breaker: Type.Optional(
      Type.Object(
        {
          failures: Type.Integer({
            minimum: 0,
            maximum: 10_000,
            description: 'Consecutive failures that open the breaker. With 0 it never opens.',
          }),
          open_ms: Type.Optional(milliseconds),
        },
        strict,
      ),
    ),
  },
  strict,
)

const modelFields = {
  display_name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  category: Type.Optional(Type.Enum([...MODEL_CATEGORIES])),
  description: Type.Optional(Type.Union([Type.String({ maxLength: 500 }), Type.Null()])),
  vendor: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  routes: Type.Optional(Type.Array(route, { minItems: 1 })),
  routing: Type.Optional(Type.Enum([...ROUTING_STRATEGIES])),
  prices: Type.Optional(prices),
  price_schedule: Type.Optional(priceSchedule),
  markup_multiplier: Type.Optional(
    Type.Union([
      Type.String({ pattern: '^\\d{1,3}(\\.\\d{1,4})?$' }),
      Type.Number({ exclusiveMinimum: 0, maximum: 100 }),
    ]),
  ),
  context_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000_000 })),
  max_output_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000_000 })),
  image_tokens_max: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000_000 })),
  hidden_prompt_tokens_max: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      description:
        'The most tokens that the upstream adds to every prompt and bills. The hold covers them.',
    }),
  ),
  supports_tools: Type.Optional(Type.Boolean()),
  can_reason: Type.Optional(Type.Boolean()),
  ends_on: Type.Optional(
    Type.Union([Type.String({ pattern: '^20\\d\\d-\\d\\d-\\d\\d$' }), Type.Null()], {
      description:
        'The day (UTC, YYYY-MM-DD) on which the maker ends the model. Customers are notified; calls go on while an upstream answers. Null: it does not end, whatever the maker or a list says.',
    }),
  ),
  embedding: Type.Optional(
    Type.Object(
      {
        dimensions: Type.Integer({ minimum: 1, maximum: 65_536 }),
        can_shorten: Type.Optional(Type.Boolean()),
      },
      strict,
    ),
  ),
  speech: Type.Optional(
    Type.Boolean({
      description: 'A model of the category audio that speaks (/v1/audio/speech).',
    }),
  ),
  rerank: Type.Optional(
    Type.Boolean({
      description: 'A model of the category embedding that ranks documents (/v1/rerank).',
    }),
  ),
  moderation: Type.Optional(
    Type.Boolean({
      description:
        'A model of the category embedding that judges content (/v1/moderations). Its "input" may be 0.',
    }),
  ),
  image: Type.Optional(
    Type.Object(
      {
        sizes: Type.Optional(Type.Array(Type.String({ pattern: '^\\d+x\\d+$' }))),
        tokens_max: Type.Optional(
          Type.Record(Type.String(), Type.Integer({ minimum: 1, maximum: 10_000_000 }), {
            description: 'The most output tokens of one image, by quality.',
          }),
        ),
      },
      strict,
    ),
  ),
  audio: Type.Optional(
    Type.Object(
      {
        seconds_min: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400 })),
        seconds_max: Type.Optional(Type.Integer({ minimum: 1, maximum: 864_000 })),
        tokens_per_second_max: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
        has_timestamps: Type.Optional(Type.Boolean()),
      },
      strict,
    ),
  ),
  video: Type.Optional(
    Type.Object(
      {
        seconds: Type.Optional(
          Type.Array(Type.Integer({ minimum: 1, maximum: 600 }), {
            minItems: 1,
            description: 'The lengths that may be asked for; the first is the default.',
          }),
        ),
        sizes: Type.Optional(
          Type.Array(Type.String({ pattern: '^\\d+x\\d+$' }), {
            minItems: 1,
            description: 'The sizes that may be asked for; the first is the default.',
          }),
        ),
      },
      strict,
    ),
  ),
}

const model = Type.Object(
  {
    id: configuredId,
    ...modelFields,
    enabled: Type.Optional(
      Type.Boolean({ description: 'False removes a built-in model from the catalog.' }),
    ),
  },
  strict,
)

const { markup_multiplier: _markup, ...fieldsOfAdded } = modelFields
/**
 * What an operator writes of a model while servers run: as in the file, with its routes. Its markup is changed as that of
 * every model, with the notice of a rise.
 */
export const addedModelSchema = Type.Object(
  { ...fieldsOfAdded, routes: Type.Array(route, { minItems: 1, maxItems: 20 }) },
  strict,
)

export const catalogConfigSchema = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    upstreams: Type.Optional(Type.Array(upstream)),
    models: Type.Optional(Type.Array(model)),
    discover: Type.Optional(
      Type.Union(
        [
          Type.Boolean(),
          Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 100 }),
        ],
        {
          description:
            'Chat models that an upstream lists and the price data knows are in the catalog by themselves. False: none; names with * (such as "gpt-*"): only these. Default: true.',
        },
      ),
    ),
    price_updates: Type.Optional(
      Type.Object(
        {
          new: Type.Optional(
            Type.Enum(['show', 'ask', 'hide'], {
              description:
                'A model that only the published price data knows: it is in the catalog at once, after an approval, or with the next release. Default: show.',
            }),
          ),
          cheaper: Type.Optional(
            Type.Enum(['take', 'ask'], { description: 'A lower price. Default: take.' }),
          ),
          dearer: Type.Optional(
            Type.Enum(['take', 'ask'], {
              description:
                'A higher price. It begins after the notice to customers (MARKUP_NOTICE_DAYS). Default: ask.',
            }),
          ),
        },
        { ...strict, description: 'What happens to news of the published price data.' },
      ),
    ),
  },
  { ...strict, title: 'catraca.config.json' },
)

export type CatalogConfig = Static<typeof catalogConfigSchema>
export type ModelConfig = NonNullable<CatalogConfig['models']>[number]
export type PriceScheduleConfig = Static<typeof priceSchedule>
export type PricesConfig = Static<typeof prices>
export type RouteConfig = Static<typeof route>
export type UpstreamConfig = NonNullable<CatalogConfig['upstreams']>[number]

/**
 * Checks the configuration against the schema. Entries with a fault are left out of `config`, so that the others can be
 * checked further and all faults be reported at once.
 */
export function parseCatalogConfig(value: unknown): {
  config: CatalogConfig | undefined
  faults: string[]
} {
  if (Value.Check(catalogConfigSchema, value)) return { config: value, faults: faultsOfIds(value) }
  const { faults, faultyEntries } = faultsOfForm(value)
  const config = withoutEntries(value, faultyEntries)
  return { config, faults: [...faults, ...(config ? faultsOfIds(config) : [])] }
}

const LISTS = { upstreams: 'upstream', models: 'model' } as const
type List = keyof typeof LISTS

/** One fault for each path. If a value may have one of several forms, the fault lists the requirement of each form. */
function faultsOfForm(value: unknown): { faults: string[]; faultyEntries: Set<string> } {
  const wants = new Map<string, Set<string>>()
  for (const { keyword, instancePath, message, params } of Value.Errors(
    catalogConfigSchema,
    value,
  )) {
    // Redundant: an unknown property also has an error at its own path, and each form of a union has its own errors.
    if (keyword === 'additionalProperties' || keyword === 'anyOf') continue
    const want =
      keyword === 'boolean'
        ? 'there is no such property'
        : keyword === 'enum'
          ? `must be one of ${params.allowedValues.join(', ')}`
          : message
    wants.set(instancePath, (wants.get(instancePath) ?? new Set()).add(want))
  }
  return {
    faults: [...wants].map(
      ([place, all]) => `${fieldName(place, value)}: ${[...all].join(', or ')}`,
    ),
    faultyEntries: new Set([...wants.keys()].map((path) => path.split('/').slice(1, 3).join('/'))),
  }
}

/** `/models/3/routes/0/model` as `model "gpt-4o": routes[0].model`: an operator does not count entries. */
function fieldName(path: string, value: unknown): string {
  const [, list = '', index = '', ...rest] = path.split('/')
  const entries = Object.hasOwn(LISTS, list) ? (value as Record<List, unknown>)[list as List] : []
  const entry: unknown = Array.isArray(entries) ? entries[Number(index)] : undefined
  const id = (entry as { id?: unknown } | null | undefined)?.id
  if (index === '' || typeof id !== 'string') return path || '/'
  const field = rest.map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`)).join('')
  return `${LISTS[list as List]} "${id}"${field === '' ? '' : `: ${field.replace(/^\./, '')}`}`
}

/** Returns the configuration without its faulty entries; undefined if the rest is no configuration, either. */
function withoutEntries(value: unknown, faulty: ReadonlySet<string>): CatalogConfig | undefined {
  if (!isObject(value)) return undefined
  const rest = Object.fromEntries(
    Object.keys(LISTS).flatMap((list) => {
      const entries = value[list]
      if (!Array.isArray(entries)) return []
      return [[list, entries.filter((_entry, index) => !faulty.has(`${list}/${index}`))]]
    }),
  )
  return Value.Check(catalogConfigSchema, rest) ? rest : undefined
}

function faultsOfIds({ upstreams, models }: CatalogConfig): string[] {
  return [...repeatedIds('upstreams', upstreams), ...repeatedIds('models', models)]
}

function repeatedIds(list: List, entries: readonly { id: string }[] | undefined): string[] {
  const seen = new Set<string>()
  const repeated: string[] = []
  for (const { id } of entries ?? []) {
    if (seen.has(id)) repeated.push(`${LISTS[list]} "${id}": the id is used twice`)
    seen.add(id)
  }
  return repeated
}
