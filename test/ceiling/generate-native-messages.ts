/**
 * Requests in the Messages format: everything that clients send, what costs money at an upstream that speaks it, and
 * unknown fields and flags.
 */
import fc from '../harness/fast-check.ts'
import { PNG_BASE64 } from '../harness/generate-messages-conversation.ts'
import type { GeneratedRequest } from './generate-chats.ts'
import { cached, given, rarely, type Json } from './generate-messages.ts'
import { anyJson, name, schema, shortText, text } from './generate-texts.ts'
import { MODELS, type ModelTruth } from './model-truth.ts'

const PDF = Buffer.from(`%PDF-1.4\n${'<</Type/Page>>'.repeat(300)}`).toString('base64')

/** Fields that an upstream may bill, on a block or a tool. */
const extra: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  { citations: { enabled: true } },
  { file_id: 'file_1' },
  { caller: { type: 'code_execution_20250825', tool_id: 't' } },
  { unknown: 'x'.repeat(500) },
)

const withExtra = (block: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  fc.tuple(cached(block), rarely(extra, 6)).map(([one, more]) => ({ ...one, ...more }))

const textBlock = text.map((said): Json => ({ type: 'text', text: said }))
const image = (model: ModelTruth): fc.Arbitrary<Json> =>
  fc.constantFrom<Json>(
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG_BASE64 } },
    { type: 'image', source: { type: 'base64', media_type: 'image/jpg', data: PNG_BASE64 } },
    // Only where the gateway downloads nothing: the test has no network.
    ...(model.format === 'anthropic' || model.format === 'openai'
      ? [{ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }]
      : []),
  )
const document: fc.Arbitrary<Json> = fc
  .record({
    source: fc.oneof(
      text.map((data) => ({ type: 'text', media_type: 'text/plain', data })),
      text.map((content) => ({ type: 'content', content })),
      fc.array(textBlock, { minLength: 1, maxLength: 3 }).map((content) => ({
        type: 'content',
        content,
      })),
      fc.constant({ type: 'base64', media_type: 'application/pdf', data: PDF }),
    ),
    title: rarely(text, 3),
    context: rarely(text, 3),
  })
  .map((fields) => given({ type: 'document', ...fields }))
const searchResult: fc.Arbitrary<Json> = fc
  .record({ source: shortText, title: text, content: fc.array(textBlock, { maxLength: 2 }) })
  .map((fields) => ({ type: 'search_result', ...fields }))
const hosted: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'a' } },
  { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
  { type: 'container_upload', file_id: 'f' },
  { type: 'mcp_tool_use', id: 'm', name: 'x', server_name: 'y', input: {} },
)

const userBlock = (model: ModelTruth): fc.Arbitrary<Json> =>
  withExtra(
    fc.oneof(
      { weight: 5, arbitrary: textBlock },
      { weight: 2, arbitrary: image(model) },
      { weight: 1, arbitrary: document },
      { weight: 1, arbitrary: searchResult },
      { weight: 1, arbitrary: hosted },
    ),
  )

const thinking: fc.Arbitrary<Json> = fc.oneof(
  fc.record({ type: fc.constant('thinking'), thinking: text, signature: shortText }),
  fc.record({ type: fc.constant('thinking'), thinking: text, signature: fc.constant('') }),
  fc.record({ type: fc.constant('redacted_thinking'), data: text }),
)

/** An answer with calls, and the message with their results. */
function turn(model: ModelTruth): fc.Arbitrary<Json[]> {
  const call = fc.record({
    name,
    input: fc.dictionary(shortText, anyJson, { maxKeys: 2 }),
    result: fc.oneof(
      text,
      fc.array(fc.oneof(textBlock, image(model), searchResult, hosted), { maxLength: 2 }),
    ),
    control: rarely(fc.constantFrom({ type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' }), 4),
    is_error: rarely(fc.boolean()),
  })
  return fc
    .record({
      said: fc.array(withExtra(fc.oneof(textBlock, thinking, hosted)), {
        minLength: 1,
        maxLength: 4,
      }),
      calls: fc.array(call, { maxLength: 6 }),
      seed: fc.integer({ min: 0, max: 1e6 }),
    })
    .map(({ said, calls, seed }) => {
      const uses = calls.map(({ name, input, control }, index) =>
        given({ type: 'tool_use', id: `t${seed}${index}`, name, input, cache_control: control }),
      )
      const results = calls.map(({ result, is_error, control }, index) =>
        given({
          type: 'tool_result',
          tool_use_id: `t${seed}${index}`,
          content: result,
          is_error,
          cache_control: control,
        }),
      )
      return [
        { role: 'assistant', content: [...said, ...uses] },
        ...(results.length > 0 ? [{ role: 'user', content: results }] : []),
      ]
    })
}

const tool = fc
  .tuple(
    cached(
      fc
        .record({
          name,
          description: rarely(text, 2),
          input_schema: schema,
          type: fc.constantFrom(undefined, 'custom'),
          strict: rarely(fc.boolean()),
          eager_input_streaming: rarely(fc.boolean()),
          defer_loading: rarely(fc.constant(true)),
          input_examples: rarely(fc.array(anyJson, { maxLength: 2 })),
        })
        .map(given),
    ),
    rarely(
      fc.constantFrom<Json>(
        { type: 'web_search_20250305', name: 'web_search', max_uses: 20 },
        { type: 'bash_20250124', name: 'bash' },
        { type: 'computer_20250124', name: 'computer', display_width_px: 9, display_height_px: 9 },
        { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
      ),
      3,
    ),
  )
  .map(([own, hosted]) => hosted ?? own)

const search = fc
  .record({
    type: fc.constantFrom('web_search_20250305', 'web_search_20260209'),
    name: fc.constant('web_search'),
    max_uses: fc.constantFrom(undefined, 1, 2, 5, 20, 0, -1, 1.5),
    allowed_domains: fc.constantFrom(undefined, ['example.com']),
    response_inclusion: fc.constantFrom(undefined, 'full'),
  })
  .map(given)

/** Mostly with the search of the web, for models that have a price for it. */
function toolsFor({ search: price }: ModelTruth): fc.Arbitrary<Json[] | undefined> {
  if (price === undefined) return rarely(fc.array(tool, { minLength: 1, maxLength: 3 }), 2)
  return fc.array(fc.oneof(tool, search), { minLength: 1, maxLength: 3 })
}

/** Fields that have a price, or change one. */
const priced: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  { service_tier: 'auto' },
  { speed: 'fast' },
  { inference_geo: 'us' },
  { container: { skills: [{ type: 'anthropic', skill_id: 'pptx' }] } },
  { context_management: { edits: [{ type: 'compact_20260112', trigger: { type: 'x' } }] } },
  { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
  { cache_control: { type: 'ephemeral', ttl: '1h', scope: 'global' } },
  { output_config: { effort: 'max', task_budget: { type: 'tokens', total: 1_000_000 } } },
  { max_output_tokens: 1_000_000 },
  { betas: ['context-1m-2025-08-07'] },
  { fallbacks: [{ model: 'claude-opus-4-8' }] },
  { x_new: 'y'.repeat(400) },
)

const FLAGS = [
  'context-management-2025-06-27',
  'interleaved-thinking-2025-05-14',
  'context-1m-2025-08-07',
  'fast-mode-2026-02-01',
  'compact-2026-01-12',
  'mid-conversation-system-2026-04-07',
  'code-execution-2025-08-25',
]

/** Mostly upstreams that speak the format. */
const DRAWN = [
  ...MODELS,
  ...Array.from({ length: 4 }, () => MODELS.filter(({ format }) => format === 'anthropic')).flat(),
  ...Array.from({ length: 4 }, () => MODELS.filter(({ search }) => search !== undefined)).flat(),
]

export const messagesRequest: fc.Arbitrary<GeneratedRequest> = fc
  .constantFrom(...DRAWN)
  .chain((model) => {
    const user = fc
      .oneof(text, fc.array(userBlock(model), { minLength: 1, maxLength: 4 }))
      .map((content): Json[] => [{ role: 'user', content }])
    const middleSystem = text.map((content): Json[] => [{ role: 'system', content }])
    const turns = fc.array(
      fc.oneof(
        { weight: 4, arbitrary: user },
        { weight: 4, arbitrary: turn(model) },
        { weight: 1, arbitrary: middleSystem },
      ),
      { maxLength: 4 },
    )
    const fields = fc.record({
      max_tokens: fc.oneof(
        fc.integer({ min: 1, max: 4_000 }),
        fc.constantFrom(32_000, model.outputMax),
      ),
      system: rarely(
        fc.oneof(text, fc.array(cached(textBlock), { minLength: 1, maxLength: 3 })),
        2,
      ),
      stream: fc.constantFrom(undefined, false, true),
      tools: toolsFor(model),
      tool_choice: rarely(
        fc.constantFrom({ type: 'auto' }, { type: 'any', disable_parallel_tool_use: true }),
      ),
      thinking: rarely(
        fc.oneof(
          fc
            .integer({ min: 1_024, max: 100_000 })
            .map((budget_tokens) => ({ type: 'enabled', budget_tokens })),
          fc.constantFrom({ type: 'adaptive' }, { type: 'disabled' }),
        ),
        2,
      ),
      temperature: rarely(fc.constantFrom(0, 1)),
      top_k: rarely(fc.constantFrom(1, 40)),
      stop_sequences: rarely(fc.array(shortText, { maxLength: 2 })),
      metadata: rarely(fc.record({ user_id: text, other: text })),
      output_config: rarely(
        fc.oneof(
          fc.constant({ effort: 'low' }),
          schema.map((schema) => ({ format: { type: 'json_schema', schema } })),
        ),
        5,
      ),
    })
    return fc
      .tuple(turns, user, fields, rarely(priced, 3), fc.subarray(FLAGS))
      .map(([turns, last, fields, priced, flags]) => ({
        kind: 'chat' as const,
        format: 'messages' as const,
        headers: flags.length === 0 ? {} : { 'anthropic-beta': flags.join(',') },
        model,
        body: given({
          model: model.id,
          messages: [...turns.flat(), ...last],
          ...fields,
          ...priced,
        }),
      }))
  })
