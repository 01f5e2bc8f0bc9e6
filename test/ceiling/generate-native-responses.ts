/**
 * Requests in the Responses format: everything that clients send, what costs money at an upstream that speaks it, and
 * unknown fields.
 */
import fc from '../harness/fast-check.ts'
import { PNG_BASE64 } from '../harness/generate-messages-conversation.ts'
import type { GeneratedRequest } from './generate-chats.ts'
import { given, rarely, type Json } from './generate-messages.ts'
import { anyJson, name, schema, shortText, text } from './generate-texts.ts'
import { MODELS, type ModelTruth } from './model-truth.ts'

const PDF = Buffer.from(`%PDF-1.4\n${'<</Type/Page>>'.repeat(300)}`).toString('base64')

const textPart = text.map((said): Json => ({ type: 'input_text', text: said }))

function userPart({ format }: ModelTruth): fc.Arbitrary<Json> {
  const image = fc
    .record({
      // Only where the gateway downloads nothing: the test has no network.
      image_url: fc.constantFrom(
        `data:image/png;base64,${PNG_BASE64}`,
        ...(format === 'anthropic' || format === 'openai' ? ['https://example.com/a.png'] : []),
      ),
      detail: fc.constantFrom(undefined, 'low', 'high', 'original'),
    })
    .map((fields) => given({ type: 'input_image', ...fields }))
  const file = fc.constantFrom<Json>(
    { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` },
    { type: 'input_file', file_data: PDF },
  )
  return fc.oneof(
    { weight: 6, arbitrary: textPart },
    { weight: 2, arbitrary: image },
    { weight: 1, arbitrary: file },
  )
}

const item = (model: ModelTruth): fc.Arbitrary<Json> =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .record({
          type: fc.constantFrom(undefined, 'message'),
          role: fc.constantFrom('user', 'user', 'system', 'developer'),
          content: fc.oneof(text, fc.array(userPart(model), { minLength: 1, maxLength: 3 })),
          unknown: rarely(text),
        })
        .map(given),
    },
    {
      weight: 2,
      arbitrary: fc
        .array(
          fc.oneof(
            text.map((said): Json => ({ type: 'output_text', text: said, annotations: [] })),
            text.map((refusal): Json => ({ type: 'refusal', refusal })),
          ),
          { minLength: 1, maxLength: 2 },
        )
        .map((content) => ({ type: 'message', role: 'assistant', id: 'msg_1', content })),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constant('reasoning'),
        id: fc.constant('rs_1'),
        summary: fc.array(
          text.map((said) => ({ type: 'summary_text', text: said })),
          { maxLength: 2 },
        ),
        encrypted_content: text,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Json>(
        { type: 'web_search_call', id: 'ws_1', status: 'completed' },
        { type: 'compaction', encrypted_content: 'x'.repeat(200) },
        { type: 'mcp_list_tools', server_label: 'x', tools: [] },
      ),
    },
  )

/** Calls and their results. */
const calls = (model: ModelTruth): fc.Arbitrary<Json[]> =>
  fc
    .tuple(
      fc.array(
        fc.record({
          name,
          isCustom: fc.boolean(),
          input: fc.dictionary(shortText, anyJson, { maxKeys: 2 }),
          output: fc.oneof(text, fc.array(userPart(model), { minLength: 1, maxLength: 2 })),
        }),
        { minLength: 1, maxLength: 8 },
      ),
      fc.integer({ min: 0, max: 1e6 }),
    )
    .map(([list, seed]) => [
      ...list.map(({ name, isCustom, input }, index) => ({
        call_id: `call_${seed}${index}`,
        name,
        ...(isCustom
          ? { type: 'custom_tool_call', input: JSON.stringify(input) }
          : { type: 'function_call', arguments: JSON.stringify(input) }),
      })),
      ...list.map(({ isCustom, output }, index) => ({
        type: isCustom ? 'custom_tool_call_output' : 'function_call_output',
        call_id: `call_${seed}${index}`,
        output,
      })),
    ])

const described = fc.record({ name, description: rarely(text, 2), unknown: rarely(text) })
const tool: fc.Arbitrary<Json> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(described, schema).map(toFunction) },
  {
    weight: 1,
    arbitrary: described.map((one) =>
      given({
        type: 'custom',
        format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' },
        ...one,
      }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(name, fc.array(fc.tuple(described, schema).map(toFunction), { maxLength: 2 }))
      .map(([name, tools]) => ({ type: 'namespace', name, description: 'd', tools })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Json>(
      { type: 'web_search' },
      { type: 'web_search_preview', search_context_size: 'high' },
      { type: 'code_interpreter', container: { type: 'auto', memory_limit: '64g' } },
      { type: 'image_generation' },
      { type: 'mcp', server_label: 'x', server_url: 'https://example.com' },
    ),
  },
)

function toFunction([one, parameters]: [Json, object]): Json {
  return given({ type: 'function', parameters, strict: false, ...one })
}

const search: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  { type: 'web_search' },
  { type: 'web_search', search_context_size: 'high', external_web_access: true },
  { type: 'web_search_preview', unknown: 'x' },
)

/** Mostly with the search of the web, for models that have a price for it. */
function toolsFor({ search: price }: ModelTruth): fc.Arbitrary<Json[] | undefined> {
  if (price === undefined) return rarely(fc.array(tool, { minLength: 1, maxLength: 3 }), 2)
  return fc.array(fc.oneof(tool, search), { minLength: 1, maxLength: 3 })
}

/** Fields that have a price, or change one. */
const priced: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  { service_tier: 'priority' },
  { context_management: [{ type: 'compaction', compact_threshold: 1_000 }] },
  { max_tool_calls: 100 },
  { max_tool_calls: 1 },
  { prompt_cache_retention: '24h' },
  { include: ['reasoning.encrypted_content', 'web_search_call.action.sources'] },
  { reasoning: { effort: 'high', mode: 'pro' } },
  { max_tokens: 1_000_000, max_completion_tokens: 1_000_000 },
  { n: 8 },
  { top_logprobs: 20, include: ['message.output_text.logprobs'] },
  { multi_agent: { enabled: true } },
  { truncation: 'auto' },
  { store: true },
  { x_new: 'y'.repeat(400) },
)

/** Mostly the upstreams that speak the format. */
const DRAWN = [
  ...MODELS,
  ...Array.from({ length: 4 }, () =>
    MODELS.filter(({ upstreamId }) => upstreamId === 'openai'),
  ).flat(),
  ...Array.from({ length: 4 }, () => MODELS.filter(({ search }) => search !== undefined)).flat(),
]

export const responsesRequest: fc.Arbitrary<GeneratedRequest> = fc
  .constantFrom(...DRAWN)
  .chain((model) => {
    const input = fc.oneof(
      { weight: 1, arbitrary: text },
      {
        weight: 5,
        arbitrary: fc
          .tuple(
            fc.array(
              fc.oneof(
                item(model).map((one) => [one]),
                calls(model),
              ),
              { maxLength: 4 },
            ),
            text,
          )
          .map(([turns, last]) => [...turns.flat(), { role: 'user', content: last }]),
      },
    )
    const fields = fc.record({
      instructions: rarely(text, 2),
      max_output_tokens: rarely(
        fc.oneof(
          fc.integer({ min: 1, max: 4_000 }),
          fc.constantFrom(15, 16, 32_000, model.outputMax),
        ),
        2,
      ),
      stream: fc.constantFrom(undefined, false, true),
      tools: toolsFor(model),
      tool_choice: rarely(fc.constantFrom('auto', 'required')),
      parallel_tool_calls: rarely(fc.boolean()),
      reasoning: rarely(
        fc.constantFrom({ effort: 'low', summary: 'auto' }, { summary: 'auto' }),
        3,
      ),
      text: rarely(
        schema.map((schema) => ({ format: { type: 'json_schema', name: 'a', schema } })),
        5,
      ),
      temperature: rarely(fc.constantFrom(0, 1)),
      prompt_cache_key: rarely(shortText),
      user: rarely(shortText),
      metadata: rarely(fc.dictionary(name, shortText, { maxKeys: 2 })),
    })
    return fc.tuple(input, fields, rarely(priced, 3)).map(([input, fields, priced]) => ({
      kind: 'chat' as const,
      format: 'responses' as const,
      model,
      body: given({ model: model.id, input, ...fields, ...priced }),
    }))
  })
