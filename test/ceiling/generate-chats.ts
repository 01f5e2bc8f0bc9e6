/**
 * Chat requests: every field that clients send, fields that cost money at some provider, and unknown fields.
 */
import fc from '../harness/fast-check.ts'
import { numeral } from './json-text.ts'
import { MODELS, type ModelTruth, type RequestKind } from './model-truth.ts'
import { anyJson, name, schema, shortText, text } from './generate-texts.ts'
import { cached, given, messages, rarely, type Json } from './generate-messages.ts'

export interface GeneratedRequest {
  readonly kind: RequestKind
  readonly model: ModelTruth
  /** The format of a chat, if it is not that of chat completions. */
  readonly format?: 'messages' | 'responses'
  readonly headers?: Readonly<Record<string, string>>
  readonly body: Record<string, unknown>
}

const tool = cached(
  fc
    .record({
      name,
      description: rarely(text, 2),
      parameters: fc.option(schema, { nil: undefined, freq: 4 }),
      strict: rarely(fc.boolean()),
    })
    .map((fn) => ({ type: 'function', function: given(fn) })),
)

const responseFormat = fc.oneof(
  fc.constant({ type: 'text' }),
  fc.constant({ type: 'json_object' }),
  fc
    .record({ name, description: rarely(text, 2), schema, strict: rarely(fc.boolean()) })
    .map((json_schema) => ({ type: 'json_schema', json_schema: given(json_schema) })),
)

/** Fields that have a price, or change one, at some provider. */
const PRICED: Json = {
  plugins: [{ id: 'web', max_results: 10 }],
  search_parameters: { mode: 'on', max_search_results: 50 },
  data_sources: [{ type: 'azure_search', parameters: {} }],
  provider: { order: ['expensive'], allow_fallbacks: false },
  modalities: ['text', 'image'],
  chat_template: '{{ messages[0].content * 100 }}',
  chat_template_kwargs: { enable_thinking: true },
  documents: [{ title: 't', text: 'x'.repeat(300) }],
  prediction: { type: 'content', content: 'y'.repeat(500) },
  deferred: true,
  service_tier: 'flex',
  enable_search: true,
  best_of: 10,
  route: 'fallback',
  transforms: ['middle-out'],
  safe_prompt: true,
  cache_control: { type: 'ephemeral', ttl: '1h' },
  max_output_tokens: 1_000_000,
  max_new_tokens: 1_000_000,
  min_tokens: 100_000,
  ignore_eos: true,
  extra_body: { plugins: [{ id: 'web' }] },
  include_reasoning: true,
  mcp_servers: [{ type: 'url', url: 'https://example.com' }],
  speed: 'fast',
  inference_geo: 'us',
  thinking: { type: 'enabled', budget_tokens: 50_000 },
  generationConfig: { maxOutputTokens: 100_000, candidateCount: 8 },
  citation_options: { mode: 'accurate' },
  compound_custom: { tools: { enabled_tools: ['web_search'] } },
}

const priced: fc.Arbitrary<Json> = fc
  .subarray(Object.keys(PRICED), { minLength: 1, maxLength: 1 })
  .map((fields) => Object.fromEntries(fields.map((field) => [field, PRICED[field]])))

const unknownField: fc.Arbitrary<Json> = fc
  .tuple(
    fc.constantFrom('x_new', 'web', 'tools_config', 'Model', 'max_Tokens', '__proto', 'prompt'),
    anyJson,
  )
  .map(([field, value]) => ({ [field]: value }))

function limit({ outputMax }: ModelTruth): fc.Arbitrary<number | null | undefined> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: Math.min(outputMax, 4_000) }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(1, 2_047, outputMax).map((each) => Math.min(each, outputMax)),
    },
  )
}

/** Weighted towards models with a public tokenizer, whose holds are the tightest. */
const DRAWN = [...MODELS, ...MODELS.filter(({ tokenizer }) => tokenizer !== undefined)]

export const chat: fc.Arbitrary<GeneratedRequest> = fc.constantFrom(...DRAWN).chain((model) => {
  const isOwnFormat = model.format !== 'openai'
  const rest = fc.record({
    max_tokens: limit(model),
    max_completion_tokens: limit(model),
    n: isOwnFormat
      ? rarely(fc.constantFrom(1, 1, 2), 20)
      : rarely(fc.integer({ min: 1, max: 4 }), 3),
    stream: fc.constantFrom(undefined, false, true),
    stream_options: rarely(
      fc.constantFrom({ include_usage: true }, { include_usage: false, include_obfuscation: true }),
    ),
    tools: rarely(fc.array(tool, { minLength: 1, maxLength: 3 }), 3),
    tool_choice: rarely(fc.constantFrom('auto', 'none', 'required')),
    functions: rarely(
      fc.array(fc.record({ name, parameters: schema }), { minLength: 1, maxLength: 2 }),
    ),
    parallel_tool_calls: rarely(fc.boolean()),
    response_format: rarely(responseFormat, 5),
    reasoning_effort: rarely(
      fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh'),
      3,
    ),
    temperature: rarely(fc.constantFrom(0, 1, 0.5)),
    top_p: rarely(fc.constantFrom(0.5, 1)),
    seed: rarely(fc.constantFrom(7, numeral('1e20'))),
    stop: rarely(fc.oneof(shortText, fc.array(shortText, { maxLength: 3 }))),
    logit_bias: rarely(fc.constantFrom({}, { 50256: -100 })),
    logprobs: rarely(fc.boolean()),
    user: rarely(shortText),
    metadata: rarely(fc.dictionary(name, shortText, { maxKeys: 2 })),
    store: rarely(fc.boolean()),
    verbosity: rarely(fc.constantFrom('low', 'high')),
    top_k: rarely(fc.constantFrom(1, 40)),
  })
  return fc
    .tuple(messages(model), rest, rarely(priced, 4), rarely(unknownField, 8))
    .map(([turns, fields, priced, unknown]) => ({
      kind: 'chat' as const,
      model,
      body: given({ model: model.id, messages: turns, ...fields, ...priced, ...unknown }),
    }))
})
