/** The operator's `catraca.config.json`: upstreams and models, laid over the built-in ones. */
import Type, { type Static } from 'typebox'
import { Settings } from 'typebox/system'
import { Value } from 'typebox/value'
import { MODEL_CATEGORIES } from './model.ts'

// The default is 8: the rest would be found one restart after the other.
Settings.Set({ maxErrors: 1_000 })

const id = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}$' })
const variable = Type.String({
  pattern: '^[A-Z][A-Z0-9_]*$',
  description: 'Name of an environment variable.',
})
const milliseconds = Type.Integer({ minimum: 1, maximum: 3_600_000 })
/** Text keeps every digit; a number is read as it is written. */
const usdPerMillion = Type.Union(
  [
    Type.String({ pattern: '^\\d{1,6}(\\.\\d{1,6})?$' }),
    Type.Number({ minimum: 0, maximum: 100_000 }),
  ],
  {
    description: 'USD per million tokens.',
  },
)

const tokenPrices = {
  input: usdPerMillion,
  cached_input: Type.Optional(usdPerMillion),
  cache_write: Type.Optional(usdPerMillion),
  output: usdPerMillion,
  reasoning: Type.Optional(usdPerMillion),
}
const strict = { additionalProperties: false }

const upstream = Type.Object(
  {
    id,
    kind: Type.Literal('openai-compatible'),
    base_url: Type.String({ pattern: '^https?://', description: 'With the version segment.' }),
    api_key_env: Type.Optional(variable),
    organization_env: Type.Optional(variable),
    project_env: Type.Optional(variable),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    cancel_stops_billing: Type.Optional(
      Type.Boolean({ description: 'Closing the connection stops the meter.' }),
    ),
    connect_timeout_ms: Type.Optional(milliseconds),
    first_byte_timeout_ms: Type.Optional(milliseconds),
    idle_timeout_ms: Type.Optional(milliseconds),
    connections_max: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_536 })),
  },
  strict,
)

const model = Type.Object(
  {
    id,
    display_name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    category: Type.Optional(Type.Enum([...MODEL_CATEGORIES])),
    description: Type.Optional(Type.Union([Type.String({ maxLength: 500 }), Type.Null()])),
    vendor: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    routes: Type.Optional(
      Type.Array(Type.Object({ upstream: id, model: Type.String({ minLength: 1 }) }, strict), {
        minItems: 1,
      }),
    ),
    prices: Type.Optional(
      Type.Object(
        {
          ...tokenPrices,
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
      ),
    ),
    markup_multiplier: Type.Optional(
      Type.Union([
        Type.String({ pattern: '^\\d{1,3}(\\.\\d{1,4})?$' }),
        Type.Number({ exclusiveMinimum: 0, maximum: 100 }),
      ]),
    ),
    context_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000_000 })),
    max_output_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000_000 })),
    image_tokens_max: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000_000 })),
    supports_tools: Type.Optional(Type.Boolean()),
    enabled: Type.Optional(
      Type.Boolean({ description: 'False takes a built-in model out of the catalog.' }),
    ),
  },
  strict,
)

export const catalogConfigSchema = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    upstreams: Type.Optional(Type.Array(upstream)),
    models: Type.Optional(Type.Array(model)),
  },
  { ...strict, title: 'catraca.config.json' },
)

export type CatalogConfig = Static<typeof catalogConfigSchema>
export type ModelConfig = NonNullable<CatalogConfig['models']>[number]

/** The configuration, and all its faults of form with their places; undefined where there are some. */
export function parseCatalogConfig(value: unknown): {
  config: CatalogConfig | undefined
  faults: string[]
} {
  if (Value.Check(catalogConfigSchema, value)) {
    const repeated = [
      ...repeatedIds('upstreams', value.upstreams),
      ...repeatedIds('models', value.models),
    ]
    return { config: repeated.length === 0 ? value : undefined, faults: repeated }
  }
  return { config: undefined, faults: faultsOfForm(value) }
}

/** One fault for each place; where a place may have one of several forms, what each of them wants. */
function faultsOfForm(value: unknown): string[] {
  const wants = new Map<string, Set<string>>()
  for (const { keyword, instancePath, message, params } of Value.Errors(
    catalogConfigSchema,
    value,
  )) {
    // Said by others: the unknown property by its own place, the forms by theirs.
    if (keyword === 'additionalProperties' || keyword === 'anyOf') continue
    const want =
      keyword === 'boolean'
        ? 'there is no such property'
        : keyword === 'enum'
          ? `must be one of ${params.allowedValues.join(', ')}`
          : message
    wants.set(instancePath, (wants.get(instancePath) ?? new Set()).add(want))
  }
  return [...wants].map(([place, all]) => `${place || '/'}: ${[...all].join(', or ')}`)
}

function repeatedIds(list: string, entries: readonly { id: string }[] | undefined): string[] {
  const seen = new Set<string>()
  const repeated: string[] = []
  for (const { id } of entries ?? []) {
    if (seen.has(id)) repeated.push(`/${list}: the id "${id}" is there twice`)
    seen.add(id)
  }
  return repeated
}
