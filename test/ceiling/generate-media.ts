/** Requests for embeddings, images and their edits, transcriptions and translations. */
import fc from '../harness/fast-check.ts'
import type { GeneratedRequest } from './generate-chats.ts'
import { given, one, rarely, type Json } from './generate-messages.ts'
import { anyJson, shortText, text } from './generate-texts.ts'
import { AUDIO_MODELS, EMBEDDING_MODELS, IMAGE_MODELS, PIXEL_SIZES, SIZES } from './model-truth.ts'
import { flac, mp3, ogg, tagged, wav } from './sound.ts'

const tokens = fc.array(fc.integer({ min: 0, max: 99_999 }), { minLength: 1, maxLength: 30 })

export const embeddings: fc.Arbitrary<GeneratedRequest> = fc
  .tuple(
    fc.constantFrom(...EMBEDDING_MODELS),
    fc.record({
      input: fc.oneof(
        { weight: 3, arbitrary: text },
        { weight: 4, arbitrary: fc.array(text, { minLength: 1, maxLength: 8 }) },
        { weight: 1, arbitrary: tokens },
        { weight: 1, arbitrary: fc.array(fc.oneof(tokens, text), { minLength: 1, maxLength: 4 }) },
      ),
      encoding_format: rarely(fc.constantFrom('float', 'base64')),
      user: rarely(shortText),
      input_type: fc.constantFrom('search_document', 'search_query'),
    }),
    rarely(
      one({
        messages: [{ role: 'user', content: 'z'.repeat(400) }],
        documents: ['d'.repeat(400)],
        images: ['data:image/png;base64,AAAA'],
        task: 'retrieval',
        late_chunking: true,
        truncate_prompt_tokens: -1,
        service_tier: 'priority',
      }),
      3,
    ),
  )
  .map(([model, fields, priced]) => {
    const { input_type, ...rest } = fields
    const more = model.format === 'openai' ? priced : undefined
    const type = model.format === 'cohere' ? { input_type } : {}
    return {
      kind: 'embeddings',
      model,
      body: given({ model: model.id, ...rest, ...type, ...more }),
    }
  })

export const images: fc.Arbitrary<GeneratedRequest> = fc
  .tuple(
    fc.constantFrom(...IMAGE_MODELS),
    fc.record({
      prompt: fc.oneof(
        { weight: 4, arbitrary: text },
        { weight: 1, arbitrary: fc.constantFrom('12 images of a cat', '7 imagens de um gato') },
      ),
      n: rarely(fc.integer({ min: 1, max: 4 }), 2),
      size: rarely(fc.constantFrom('auto', ...SIZES, ...PIXEL_SIZES), 2),
      quality: rarely(fc.constantFrom('auto', 'low', 'medium', 'high', 'standard', 'hd'), 2),
      response_format: rarely(fc.constantFrom('url', 'b64_json')),
      background: rarely(fc.constantFrom('transparent', 'auto')),
      output_format: rarely(fc.constantFrom('png', 'webp')),
      stream: rarely(fc.boolean()),
      partial_images: rarely(fc.constantFrom(0, 2)),
      user: rarely(shortText),
    }),
    rarely(
      one({
        width: 4_096,
        steps: 100,
        resolution: '4k',
        aspect_ratio: '16:9',
        sequential_image_generation: 'auto',
        image: 'https://example.com/a.png',
        input_fidelity: 'high',
        prompt_upsampling: true,
        num_images: 10,
        service_tier: 'priority',
      }),
      3,
    ),
  )
  .map(([model, fields, priced]) => {
    const pixels = priced && 'width' in priced ? { width: 4_096, height: 4_096 } : priced
    const body = given({ model: model.id, ...fields, ...pixels })
    return { kind: 'images', model, body }
  })

export const PNG = Buffer.from('89504e470d0a1a0a0000000d', 'hex')

type Field = readonly [name: string, value: string]

/** The body of a form. */
export interface FormBody extends Json {
  /** The sound, in base64. */
  readonly file?: string
  /** The fields that have a picture. */
  readonly pictures?: readonly string[]
  readonly fields: readonly Field[]
}

const field = (name: string, ...values: string[]): fc.Arbitrary<Field> =>
  fc.constantFrom(...values).map((value) => [name, value] as const)

/** Fields that no list knows, some of them with a price at some provider. */
const unknownField: fc.Arbitrary<Field> = fc.tuple(
  fc.constantFrom('x_new', 'context', 'service_tier', 'url', 'image_url', 'steps'),
  anyJson.map((value) => JSON.stringify(value)),
)

export const edits: fc.Arbitrary<GeneratedRequest> = fc
  .tuple(
    fc.constantFrom(...IMAGE_MODELS.filter(({ imageTokens }) => imageTokens > 0)),
    fc.array(fc.constantFrom('image', 'image[]', 'image[1]', 'mask'), { maxLength: 4 }),
    text.map((value): Field => ['prompt', value]),
    fc.array(
      fc.oneof(
        { weight: 2, arbitrary: field('n', '1', '2', '4') },
        { weight: 2, arbitrary: field('size', 'auto', ...SIZES) },
        { weight: 2, arbitrary: field('quality', 'auto', 'low', 'medium', 'high') },
        { weight: 2, arbitrary: field('input_fidelity', 'high', 'low') },
        { weight: 1, arbitrary: field('background', 'transparent') },
        { weight: 1, arbitrary: field('stream', 'true', 'false') },
        { weight: 1, arbitrary: field('partial_images', '0', '2') },
        { weight: 1, arbitrary: unknownField },
      ),
      { maxLength: 5 },
    ),
  )
  .map(([model, more, prompt, fields]) => ({
    kind: 'edits',
    model,
    body: {
      model: model.id,
      pictures: ['image', ...more],
      fields: [prompt, ...fields, ['model', model.id]],
    },
  }))

/** Audio as a form sends it; `file` is made from it. */
const sound: fc.Arbitrary<Buffer> = fc.oneof(
  fc
    .record({
      channels: fc.constantFrom(0, 1, 2),
      rate: fc.constantFrom(0, 1, 100, 8_000, 16_000, 44_100),
      bits: fc.constantFrom(0, 8, 16),
      byteRate: fc.constantFrom(0, 1, 250, 16_000, 32_000, 4_294_967_295),
      dataBytes: fc.integer({ min: 0, max: 20_000 }),
      format: fc.constantFrom(1, 1, 1, 3, 0x11, 0x31),
    })
    .map(wav),
  fc.integer({ min: 10, max: 9_000 }).map(mp3),
  fc
    .tuple(fc.constantFrom(1, 8_000, 44_100), fc.integer({ min: 1, max: 60 }))
    .map(([rate, frames]) => flac(rate, frames)),
  fc.integer({ min: 1, max: 2_000 }).map(ogg),
  fc.integer({ min: 1, max: 60 }).map((frames) => tagged(flac(8_000, frames))),
  fc.integer({ min: 1, max: 2_000 }).map((length) => Buffer.alloc(length, 7)),
)

export const sounds: fc.Arbitrary<GeneratedRequest> = fc
  .tuple(
    fc.constantFrom('transcriptions' as const, 'transcriptions' as const, 'translations' as const),
    fc.constantFrom(...AUDIO_MODELS),
    sound,
    fc.array(
      fc.oneof(
        { weight: 3, arbitrary: text.map((value): Field => ['prompt', value]) },
        {
          weight: 2,
          arbitrary: fc.constantFrom<Field>(
            ['response_format', 'json'],
            ['response_format', 'text'],
            ['stream', 'true'],
            ['temperature', '0.5'],
            ['language', 'pt'],
            ['language', 'l'.repeat(500)],
          ),
        },
        {
          weight: 1,
          arbitrary: fc.constantFrom<Field>(
            ['url', 'https://example.com/a.mp3'],
            ['file_url', 'https://example.com/a.mp3'],
            ['known_speaker_references[]', 'data:audio/wav;base64,AAAA'],
            ['chunking_strategy', 'auto'],
            ['include[]', 'logprobs'],
            ['diarize', 'true'],
            ['hotwords', 'h'.repeat(500)],
          ),
        },
        { weight: 1, arbitrary: unknownField },
      ),
      { maxLength: 4 },
    ),
  )
  .map(([kind, model, file, fields]) => ({
    kind,
    model,
    body: {
      model: model.id,
      file: file.toString('base64'),
      fields: [...fields, ['model', model.id]],
    },
  }))
