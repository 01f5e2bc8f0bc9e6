/**
 * Chat messages: texts, media with right and wrong media types, earlier answers with tool calls and their
 * results.
 */
import fc from '../harness/fast-check.ts'
import { anyJson, name, shortText, text } from './generate-texts.ts'
import type { ModelTruth } from './model-truth.ts'
import { flac, mp3, wav } from './sound.ts'

export type Json = Record<string, unknown>

const base64 = (bytes: Buffer | string): string => Buffer.from(bytes).toString('base64')
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const PDF = `%PDF-1.4\n${'<</Type/Page>>'.repeat(300)}`

const cacheControl = fc.constantFrom(
  { type: 'ephemeral' },
  { type: 'ephemeral', ttl: '5m' },
  { type: 'ephemeral', ttl: '1h' },
)

const PIXEL_URL = `data:image/png;base64,${base64(PNG)}`

/** Media by the type that the sender declares, whatever the bytes are. */
const dataUrl: fc.Arbitrary<string> = fc.oneof(
  { weight: 2, arbitrary: fc.constant(PIXEL_URL) },
  fc.constantFrom(
    `data:image/jpeg;base64,${base64(PNG)}`,
    `data:IMAGE/PNG;base64,${base64(PNG)}`,
    `data:image/svg+xml,${'<svg>'.repeat(20)}`,
    `data:application/pdf;base64,${base64(PDF)}`,
    `data:video/mp4;base64,${base64('ftypmp42')}`,
    `data:text/plain;base64,${base64('नमस्ते '.repeat(300))}`,
    `data:text/plain,${'a%20'.repeat(400)}`,
    `data:text/csv;base64,${base64('1,2\n'.repeat(500))}`,
    `data:audio/mpeg;base64,${base64(mp3(2_000))}`,
    `data:audio/flac;base64,${base64(flac(8_000, 4))}`,
    `data:audio/wav;base64,${base64(WAV())}`,
  ),
)

function WAV(): Buffer {
  return wav({ channels: 1, rate: 100, bits: 8, byteRate: 4_294_967_295, dataBytes: 3_000 })
}

/** Only addresses that the gateway never downloads: the test has no network. */
const address: fc.Arbitrary<string> = fc.constantFrom(
  'https://example.com/a.png',
  'https://example.com/a.pdf',
  'https://example.com/a.mp4',
  'https://www.youtube.com/watch?v=abcdefg',
  'https://youtu.be/abcdefg',
)

export const cached = <Part extends Json>(part: fc.Arbitrary<Part>): fc.Arbitrary<Json> =>
  fc
    .tuple(part, fc.option(cacheControl, { nil: undefined, freq: 6 }))
    .map(([given, control]) => (control ? { ...given, cache_control: control } : given))

function imagePart({ format }: ModelTruth): fc.Arbitrary<Json> {
  const canPassOn = format === 'openai' || format === 'anthropic' || format === 'google-vertex'
  return fc
    .record({
      url: canPassOn ? fc.oneof({ weight: 4, arbitrary: dataUrl }, address) : dataUrl,
      detail: fc.constantFrom(undefined, 'low', 'high', 'auto'),
    })
    .map((image_url) => ({ type: 'image_url', image_url }))
}

const filePart: fc.Arbitrary<Json> = fc
  .record({ file_data: dataUrl, filename: fc.constantFrom(undefined, 'a.pdf', 'b'.repeat(60)) })
  .map((file) => ({ type: 'file', file }))

/** A part of one type with the fields of another. */
const mixedPart: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  { type: 'text', text: 'a', image_url: { url: 'https://example.com/a.png' } },
  { type: 'text', text: 'a', file: { file_data: 'https://example.com/a.pdf' } },
  { type: 'text', text: 'a', video_url: { url: 'https://example.com/a.mp4' } },
  {
    type: 'image_url',
    image_url: { url: PIXEL_URL, format: 'video/mp4', media_resolution: 'ultra' },
  },
  { type: 'image_url', image_url: { url: PIXEL_URL }, text: 't'.repeat(300) },
  { type: 'file', file: { file_data: PIXEL_URL, file_id: 'file-1', filename: 'a.png' } },
)

const textPart: fc.Arbitrary<Json> = text.map((value) => ({ type: 'text', text: value }))

function userContent(model: ModelTruth): fc.Arbitrary<unknown> {
  const part = cached(
    fc.oneof(
      { weight: 6, arbitrary: textPart },
      { weight: 2, arbitrary: imagePart(model) },
      { weight: 1, arbitrary: filePart },
      { weight: 1, arbitrary: mixedPart },
    ),
  )
  return fc.oneof(
    { weight: 3, arbitrary: text },
    { weight: 3, arbitrary: fc.array(part, { minLength: 1, maxLength: 4 }) },
  )
}

export const given = (value: Json): Json =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined))

/** One of these fields. */
export const one = (fields: Json): fc.Arbitrary<Json> =>
  fc.constantFrom(...Object.entries(fields)).map(([field, value]) => ({ [field]: value }))

export const rarely = <Value>(
  value: fc.Arbitrary<Value>,
  freq = 9,
): fc.Arbitrary<Value | undefined> => fc.option(value, { nil: undefined, freq })

/** An earlier answer, with its tool calls and their results. */
function assistantTurn(model: ModelTruth): fc.Arbitrary<Json[]> {
  const call = fc.record({
    name,
    input: fc.oneof(fc.constant('{}'), fc.dictionary(shortText, anyJson, { maxKeys: 2 })),
    result: fc.oneof(
      fc.constant(''),
      text,
      fc.array(fc.oneof(textPart, imagePart(model)), { minLength: 1, maxLength: 2 }),
    ),
  })
  return fc
    .record({
      content: fc.oneof(
        text,
        fc.array(
          cached(
            fc.oneof(
              textPart,
              text.map((refusal) => ({ type: 'refusal', refusal })),
            ),
          ),
          { minLength: 1, maxLength: 3 },
        ),
        fc.constant(null),
      ),
      refusal: rarely(text, 4),
      name: rarely(name),
      reasoning_content: rarely(text),
      reasoning_details: rarely(
        fc.array(
          fc.oneof(
            text.map((data) => ({ type: 'reasoning.encrypted', data })),
            fc.tuple(text, shortText).map(([words, signature]) => ({
              type: 'reasoning.text',
              text: words,
              signature,
            })),
          ),
          { minLength: 1, maxLength: 2 },
        ),
      ),
      calls: fc.oneof(
        fc.array(call, { maxLength: 0 }),
        fc.array(call, { minLength: 1, maxLength: 24, size: 'max' }),
      ),
      seed: fc.integer({ min: 0, max: 1e6 }),
    })
    .map(({ calls, seed, ...turn }) => {
      const ids = calls.map((_, index) => `${seed}${index}`)
      const tool_calls = calls.map((each, index) => ({
        id: ids[index],
        type: 'function',
        function: {
          name: each.name,
          arguments: typeof each.input === 'string' ? each.input : argumentsOf(each.input),
        },
      }))
      return [
        given({ role: 'assistant', ...turn, ...(calls.length > 0 ? { tool_calls } : {}) }),
        ...calls.map((each, index) => ({
          role: 'tool',
          tool_call_id: ids[index],
          content: each.result,
        })),
      ]
    })
}

/** JSON in a text: short numerals stay short until a program parses it and writes it again. */
function argumentsOf(input: unknown): string {
  return JSON.stringify(input).replaceAll(/"@numeral:([^"@]*)@"/g, '$1')
}

export function messages(model: ModelTruth): fc.Arbitrary<Json[]> {
  const user = userContent(model).map((content) => [{ role: 'user', content }])
  const named = fc
    .tuple(text, rarely(name))
    .map(([content, who]) => [given({ role: 'user', content, name: who })])
  const empty = fc
    .integer({ min: 1, max: 25 })
    .map((count) => Array.from({ length: count }, () => ({ role: 'user', content: '' })))
  const system = fc
    .tuple(
      fc.constantFrom('system', 'developer'),
      fc.oneof(text, fc.array(cached(textPart), { minLength: 1, maxLength: 2 })),
    )
    .map(([role, content]) => [{ role, content }])
  return fc
    .tuple(
      fc.option(system, { nil: [] as Json[], freq: 2 }),
      fc.array(
        fc.oneof(
          { weight: 4, arbitrary: user },
          { weight: 1, arbitrary: named },
          { weight: 3, arbitrary: assistantTurn(model) },
          { weight: 1, arbitrary: empty },
        ),
        { minLength: 0, maxLength: 4 },
      ),
      user,
    )
    .map(([instructions, turns, last]) => [...instructions, ...turns.flat(), ...last])
}
