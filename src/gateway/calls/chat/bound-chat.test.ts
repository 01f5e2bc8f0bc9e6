import assert from 'node:assert/strict'
import { test } from 'node:test'
import { effort } from '../../../../test/harness/effort.ts'
import fc, { anyCharacter } from '../../../../test/harness/fast-check.ts'
import { withPriceIds } from '../../../../test/harness/with-price-ids.ts'
import { loadCatalog } from '../../../money/catalog/load-catalog.ts'
import type { Model } from '../../../money/catalog/model.ts'
import type { ChatContent, JsonObject, Provider } from '../../providers/contract.ts'
import { createChatBody } from '../../providers/openai-compatible/chat-body.ts'
import { OPENAI_CHAT_FIELDS } from '../../providers/openai-compatible/chat-deltas.ts'
import type { CallBounds } from '../call-kind.ts'
import { countTokens } from '../count-tokens.ts'
import { boundChat } from './bound-chat.ts'
import { readChatRequest } from './chat-request.ts'

const at = new Date('2026-11-21T15:00:00Z')
const load = (config?: Parameters<typeof loadCatalog>[0]['config']): Model[] =>
  withPriceIds(loadCatalog({ config, mode: 'live', hasUpstream: () => true, at }).models)
const builtIn = load()
const modelOf = (id: string, models = builtIn): Model =>
  models.find((model) => model.id === id) as Model

const chatBody = createChatBody({
  fields: OPENAI_CHAT_FIELDS,
  maxTokensField: 'max_completion_tokens',
})
const provider = {
  completeChat: () => assert.fail('nothing is sent'),
  measureChat: (content: ChatContent) => chatBody.measure(content),
} as unknown as Provider
const providers = new Map([['openai', provider]])

async function boundsOf(body: JsonObject, model = modelOf('gpt-4o')): Promise<CallBounds> {
  const request = readChatRequest({ model: model.id, ...body }, JSON.stringify(body).length)
  assert.ok('messages' in request)
  return boundChat(model, request, providers)
}

test('log probabilities lower the limit of a request that sets none to what can be read', async () => {
  const body = { messages: [{ role: 'user', content: 'Oi' }] }
  const asked = { ...body, logprobs: true, top_logprobs: 20, n: 2 }
  assert.equal((await boundsOf(asked)).outputTokensMax, 5_326)
  assert.ok((await boundsOf({ ...asked, stream: true })).outputTokensMax > 5_326)
  assert.ok((await boundsOf(body)).outputTokensMax > 5_326)
})

const LONG = 'Uma recusa que ninguém contou. '.repeat(300)

test('a counted prompt still bounds every text that is sent, counted or not', async () => {
  const needed = (await countTokens([LONG])) as number
  const hidden: JsonObject[] = [
    { messages: [{ role: 'assistant', content: null, refusal: LONG }] },
    { messages: [{ role: 'assistant', content: [{ type: 'refusal', refusal: LONG }] }] },
    { messages: [{ role: 'user', name: LONG, content: 'Oi' }] },
    { messages: [{ role: 'assistant', content: 'Oi', reasoning_content: LONG }] },
    { messages: [{ role: 'tool', tool_call_id: LONG, content: 'Oi' }] },
    { messages: [{ role: 'user', content: 'Oi' }], stop: [LONG] },
    { messages: [{ role: 'user', content: LONG }] },
    { messages: [{ role: 'user', content: [{ type: 'text', text: LONG }] }] },
  ]
  for (const body of hidden) {
    const { countPrompt, promptTokensMax } = await boundsOf(body)
    const counted = await countPrompt?.()
    assert.ok(counted !== undefined && counted >= needed, JSON.stringify(body).slice(0, 60))
    assert.ok(counted <= promptTokensMax)
  }
})

test('the count of a prompt is never below its tokens, for any text', async () => {
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.string(),
    fc.constantFrom('\ud800', '"', '\n\n'),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 5 }), async (texts) => {
      const messages = texts.map((content) => ({ role: 'user', content }))
      const { countPrompt, leastCount } = await boundsOf({ messages })
      const counted = await countPrompt?.()
      const tokens = (await countTokens([texts.join('\n')])) as number
      assert.ok(counted !== undefined && counted >= tokens)
      assert.ok((leastCount?.() ?? Infinity) <= counted)
    }),
    { numRuns: effort({ ordinary: 100, full: 5_000 }) },
  )
})

test('a counted prompt bounds a native body, whatever it has more or less than the translation', async () => {
  /** Many bytes and few tokens, and the reverse. */
  const text = fc
    .tuple(fc.constantFrom(' ', '𓀀'), fc.integer({ min: 1, max: 600 }))
    .map(([character, length]) => character.repeat(length))
  const place = fc.constantFrom(
    'both',
    'translation',
    'native',
    'native twice',
    'unsent field',
    'sealed',
  )
  /** As the adapters count it: the characters of a text that are no text where they are sent. */
  const sealedBytes = (sealed: readonly string[]): number => 2 * Buffer.byteLength(sealed.join(''))
  const native: Provider = {
    ...provider,
    measureChat(content) {
      const { input, encrypted_content: sealed } = content.native?.body ?? {}
      const bytes = Buffer.byteLength(JSON.stringify(input)) + sealedBytes(sealed as string[])
      return Math.max(chatBody.measure(content), bytes)
    },
  }
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(text, place), { minLength: 1, maxLength: 6 }),
      async (all) => {
        const textsIn = (...places: string[]): string[] =>
          all.flatMap(([text, place]) => (places.includes(place) ? [text] : []))
        const twice = textsIn('native twice')
        const input = [...textsIn('both', 'native', 'native twice'), ...twice]
        const sealed = textsIn('sealed')
        const body = { input, metadata: textsIn('unsent field'), encrypted_content: sealed }
        const messages = [
          'Oi',
          ...textsIn('both', 'translation', 'native twice', 'unsent field', 'sealed'),
        ]
        const read = readChatRequest(
          { model: 'gpt-4o', messages: messages.map((content) => ({ role: 'user', content })) },
          1,
        )
        assert.ok('messages' in read)
        const request = {
          ...read,
          native: { format: 'responses' as const, body, flags: [], webSearches: 0 },
        }
        const bounds = await boundChat(modelOf('gpt-4o'), request, new Map([['openai', native]]))
        const sent = ((await countTokens(input)) as number) + sealedBytes(sealed)
        const counted = await bounds.countPrompt?.()
        assert.ok(counted !== undefined && counted >= sent, `${counted} for ${sent} tokens`)
      },
    ),
    { numRuns: effort({ ordinary: 100, full: 5_000 }) },
  )
})

test('a prompt is counted only if the tokenizer of its model is known', () => {
  assert.equal(modelOf('gpt-4o').tokenizer, 'o200k_base')
  assert.equal(modelOf('text-embedding-3-small').tokenizer, 'cl100k_base')
  for (const id of [
    'gpt-6-sol',
    'claude-haiku-4-5',
    'gemini-embedding-001',
    'mistral-embed',
    'gpt-image-1',
  ])
    assert.equal(modelOf(id).tokenizer, undefined, id)
  const elsewhere = load({
    models: [{ id: 'gpt-4o', routes: [{ upstream: 'openai', model: 'something-else' }] }],
  })
  assert.equal(modelOf('gpt-4o', elsewhere).tokenizer, undefined)
})

test('an embedding model counts Hindi by its own tokenizer', async () => {
  const hindi = 'नमस्ते दुनिया, यह एक परीक्षण है।'
  const [cl100k, o200k] = [await countTokens([hindi], 'cl100k_base'), await countTokens([hindi])]
  assert.ok((cl100k as number) > (o200k as number))
})

test('the default output limit leaves room for the prompt in the context', async () => {
  const messages = [{ role: 'user', content: 'a'.repeat(100_000) }]
  const model = { ...modelOf('gpt-4o'), contextTokens: 128_000, outputTokensMax: 128_000 }
  const { outputTokensMax, promptTokensMax } = await boundsOf({ messages }, model)
  assert.ok(outputTokensMax + promptTokensMax / 2 <= 128_000)
  assert.ok(outputTokensMax >= 4_096)
  const small = await boundsOf({ messages: [{ role: 'user', content: 'Oi' }] })
  assert.equal(small.outputTokensMax, modelOf('gpt-4o').outputTokensMax)
})

test('a chat with a file holds money for the whole context', async () => {
  const file = { file_data: `data:application/pdf;base64,${btoa('%PDF-1.7')}` }
  const messages = [{ role: 'user', content: [{ type: 'file', file }] }]
  assert.equal((await boundsOf({ messages })).promptTokensMax, modelOf('gpt-4o').contextTokens)
})
