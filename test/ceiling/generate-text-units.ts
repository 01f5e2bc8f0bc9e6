/** Requests for rerank, moderations and speech. */
import fc from '../harness/fast-check.ts'
import type { GeneratedRequest } from './generate-chats.ts'
import { given, one, rarely } from './generate-messages.ts'
import { PNG } from './generate-media.ts'
import { shortText, text } from './generate-texts.ts'
import { MODERATION_MODELS, RERANK_MODELS, SPEECH_MODELS } from './model-truth.ts'

const documents = fc.oneof(
  { weight: 4, arbitrary: fc.array(text, { minLength: 1, maxLength: 12 }) },
  // The list is longer than one search.
  {
    weight: 1,
    arbitrary: fc
      .tuple(shortText, fc.integer({ min: 90, max: 320 }))
      .map(([each, times]) => Array.from({ length: times }, () => each)),
  },
)

export const reranks: fc.Arbitrary<GeneratedRequest> = fc
  .tuple(
    fc.constantFrom(...RERANK_MODELS),
    fc.record({
      query: text,
      documents,
      top_n: rarely(fc.integer({ min: 1, max: 400 }), 3),
      max_tokens_per_doc: rarely(fc.integer({ min: 1, max: 100_000 }), 3),
      return_documents: rarely(fc.boolean(), 3),
    }),
    rarely(
      one({
        max_chunks_per_doc: 100,
        rank_fields: ['text', 'title'],
        priority: 999,
        service_tier: 'priority',
        instruction: 'z'.repeat(400),
        return_embeddings: true,
        truncation: false,
      }),
      3,
    ),
  )
  .map(([model, fields, priced]) => ({
    kind: 'rerank',
    model,
    body: given({ model: model.id, ...fields, ...priced }),
  }))

const part = fc.oneof(
  text.map((each) => ({ type: 'text', text: each })),
  fc.constant({
    type: 'image_url',
    image_url: { url: `data:image/png;base64,${PNG.toString('base64')}`, detail: 'high' },
  }),
)

export const moderations: fc.Arbitrary<GeneratedRequest> = fc
  .tuple(
    fc.constantFrom(...MODERATION_MODELS),
    fc.oneof(
      text,
      fc.array(text, { minLength: 1, maxLength: 20 }),
      fc.array(part, { minLength: 1, maxLength: 6 }),
    ),
    rarely(one({ service_tier: 'priority', messages: ['z'.repeat(400)], explain: true }), 3),
  )
  .map(([model, input, priced]) => ({
    kind: 'moderations',
    model,
    body: given({ model: model.id, input, ...priced }),
  }))

export const speeches: fc.Arbitrary<GeneratedRequest> = fc
  .tuple(
    fc.constantFrom(...SPEECH_MODELS),
    fc.record({
      input: text,
      voice: fc.constantFrom('alloy', 'v'.repeat(300)),
      instructions: rarely(text, 3),
      response_format: rarely(fc.constantFrom('mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'), 2),
      speed: rarely(fc.constantFrom(0.25, 0.5, 1, 4), 2),
      stream_format: rarely(fc.constantFrom('audio', 'sse'), 3),
    }),
    rarely(
      one({
        service_tier: 'priority',
        reference_audio: 'data:audio/wav;base64,AAAA',
        model_variant: 'hd',
        sample_rate: 192_000,
        language: 'l'.repeat(500),
        pronunciation_dictionary: { a: 'b'.repeat(500) },
        n: 10,
        text: 't'.repeat(500),
      }),
      3,
    ),
  )
  .map(([model, fields, priced]) => ({
    kind: 'speech',
    model,
    body: given({ model: model.id, ...fields, ...priced }),
  }))
