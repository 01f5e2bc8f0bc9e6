// deep: generated requests
/**
 * Compares the size measured for the hold with the request on the network: whatever a request contains, the
 * body that an upstream receives is never longer than the measured size, and its output limit is the one that
 * was given.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc, { anyCharacter } from '../harness/fast-check.ts'
import type { JsonObject } from '../../src/gateway/providers/contract.ts'
import { effort } from '../harness/effort.ts'
import { startFixtureServer, type FixtureServer } from './fixture-server.ts'
import {
  AI_SDK_PROVIDERS,
  complete,
  contentOf,
  OPENAI,
  type TestProvider,
} from './test-provider.ts'
import { IMAGE_BASE64 } from './weather-conversation.ts'

const RUNS = effort({ ordinary: 20, full: 3_000 })

let server: FixtureServer
before(async () => {
  server = await startFixtureServer()
})
after(() => server.close())

/** Texts that grow or shrink when serialized: quotes, control characters, lone surrogates, other scripts. */
const text = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.string({ unit: anyCharacter, maxLength: 60 }),
  fc.constantFrom(
    '"'.repeat(50),
    '\u0000'.repeat(20),
    '\ud800',
    'नमस्ते दुनिया',
    '日本語',
    '\\\n\t',
    ' ',
  ),
)
const filled = text.map((some) => `a${some}`)

/** Schemas that packages rewrite: unions, constants, formats, bounds, references, absurd numbers. */
const schema: fc.Arbitrary<JsonObject> = fc.letrec<{ node: JsonObject }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'null') }),
    fc.record({
      type: fc.constant('string'),
      description: text,
      pattern: fc.constant('^a+$'),
      minLength: fc.nat(),
    }),
    fc.record({
      type: fc.constant(['string', 'null']),
      format: fc.constant('date-time'),
      default: text,
    }),
    fc.record({
      type: fc.constant('number'),
      minimum: fc.double({ noNaN: true }),
      maximum: fc.constant(1e20),
    }),
    fc.record({ const: text }),
    fc.record({ enum: fc.array(text, { minLength: 1, maxLength: 4 }) }),
    fc.record({ anyOf: fc.array(tie('node'), { minLength: 1, maxLength: 3 }) }),
    fc.record({
      type: fc.constant('array'),
      items: tie('node'),
      minItems: fc.nat(),
      uniqueItems: fc.boolean(),
    }),
    fc.record({
      type: fc.constant('object'),
      properties: fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), tie('node'), { maxKeys: 4 }),
      additionalProperties: fc.boolean(),
    }),
  ),
})).node
const objectSchema = fc
  .dictionary(fc.stringMatching(/^[a-z]{1,8}$/), schema, { maxKeys: 4 })
  .map((properties): JsonObject => ({ type: 'object', properties, additionalProperties: false }))

const part = fc.oneof(
  filled.map((some): JsonObject => ({ type: 'text', text: some })),
  filled.map((some): JsonObject => ({
    type: 'text',
    text: some,
    cache_control: { type: 'ephemeral' },
  })),
  fc.constant<JsonObject>({
    type: 'image_url',
    image_url: { url: `data:image/png;base64,${IMAGE_BASE64}` },
  }),
)
const user = fc
  .oneof(filled, fc.array(part, { minLength: 1, maxLength: 4 }))
  .map((content): JsonObject => ({ role: 'user', content }))
const system = fc
  .tuple(fc.constantFrom('system', 'developer'), filled)
  .map(([role, content]): JsonObject => ({ role, content }))
const assistant = fc.oneof(
  filled.map((content): JsonObject => ({ role: 'assistant', content })),
  filled.map((refusal): JsonObject => ({ role: 'assistant', content: null, refusal })),
  filled.map((refusal): JsonObject => ({
    role: 'assistant',
    content: [{ type: 'refusal', refusal }],
  })),
  filled.map((thought): JsonObject => ({
    role: 'assistant',
    content: 'Sim.',
    reasoning_content: thought,
  })),
)
const toolTurn = fc
  .tuple(fc.dictionary(filled, text, { maxKeys: 3 }), filled)
  .map(([input, result]): JsonObject[] => {
    const call = {
      id: 'call_1',
      type: 'function',
      function: { name: 'get_time', arguments: JSON.stringify(input) },
    }
    return [
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: result },
    ]
  })
const tool = fc
  .tuple(text, objectSchema, fc.boolean())
  .map(([description, parameters, strict]): JsonObject => ({
    type: 'function',
    function: { name: 'get_time', description, parameters, ...(strict ? { strict } : {}) },
  }))
const request = fc
  .record(
    {
      messages: fc
        .tuple(
          fc.array(fc.oneof(system, user, assistant), { maxLength: 4 }),
          fc.option(toolTurn),
          user,
        )
        .map(([some, turn, last]) => [...some, ...(turn ?? []), last]),
      tools: fc.array(tool, { minLength: 1, maxLength: 2 }),
      tool_choice: fc.constantFrom<unknown>('auto', 'none', 'required'),
      response_format: fc.oneof(
        fc.constant<JsonObject>({ type: 'json_object' }),
        objectSchema.map((wanted): JsonObject => ({
          type: 'json_schema',
          json_schema: { name: 'wanted', schema: wanted },
        })),
      ),
      reasoning_effort: fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh'),
      temperature: fc.constantFrom(0, 1e-7, 0.1 + 0.2),
      stop: fc.array(filled, { maxLength: 3 }),
      max_tokens: fc.constantFrom(1, 1e20, 77),
      max_output_tokens: fc.constant(999_999),
    },
    { requiredKeys: ['messages'] },
  )
  .map((fields): JsonObject => fields)

function imagesOf(body: JsonObject): number {
  const parts = (body.messages as JsonObject[]).flatMap(({ content }) =>
    Array.isArray(content) ? (content as JsonObject[]) : [],
  )
  return parts.filter((each) => each.type === 'image_url').length
}

/** Every field that an upstream may take for an output limit, including a thinking budget. */
function limitOf(target: TestProvider, sent: any): unknown {
  if (target.name === 'openai') return sent.max_completion_tokens
  if (target.name.startsWith('google') && !target.name.endsWith('Claude'))
    return sent.generationConfig?.maxOutputTokens
  return target.name === 'amazon-bedrock' ? sent.inferenceConfig?.maxTokens : sent.max_tokens
}

for (const target of [OPENAI, ...AI_SDK_PROVIDERS]) {
  for (const isStream of [false, true]) {
    test(`${target.name}, ${isStream ? 'streamed' : 'plain'}: no body is longer than its measured size, and its output limit is the given one`, async () => {
      const provider = target.open(server.url)
      let count = 0
      await fc.assert(
        fc.asyncProperty(
          request,
          fc.constantFrom(1, 500, 3_000, 60_000),
          async (body, outputTokensMax) => {
            const images = imagesOf(body)
            const content = {
              ...contentOf({ ...body, model: target.model }),
              isStream,
              outputTokensMax,
              imageBytes: images * IMAGE_BASE64.length,
              hasCacheControl: true,
            }
            // The size is measured before a small balance lowers the limit.
            const measured = await provider.measureChat?.({ ...content, outputTokensMax: 60_000 })
            const before = server.requests.length
            await complete(provider, content)
            const [sent] = server.requests.slice(before)
            if (sent === undefined) return
            count += 1
            assert.ok(measured !== undefined, 'what is sent was measured')
            const bytes =
              Buffer.byteLength(JSON.stringify(sent.body)) - images * IMAGE_BASE64.length
            assert.ok(bytes <= measured, `${bytes} bytes were sent, ${measured} measured`)
            const limit = limitOf(target, sent.body)
            assert.ok(
              typeof limit === 'number' && limit <= outputTokensMax,
              `the limit is ${String(limit)}`,
            )
          },
        ),
        { numRuns: RUNS },
      )
      await provider.close()
      assert.ok(count > RUNS / 4, `${count} of ${RUNS} requests were sent`)
    })
  }
}
