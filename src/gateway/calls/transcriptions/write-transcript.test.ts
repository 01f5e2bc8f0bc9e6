import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UnitCounts } from '../../../money/catalog/prices.ts'
import type { TranscriptionAnswer } from '../../providers/contract.ts'
import type { TranscriptFormat } from './transcription-request.ts'
import { writeTranscript } from './write-transcript.ts'

const ANSWER: TranscriptionAnswer = {
  kind: 'transcription',
  text: 'Bom dia. Até logo.',
  language: 'portuguese',
  durationSeconds: 12.3,
  segments: [
    { start: 0, end: 59.9996, text: ' Bom dia.' },
    { start: 3_599.001, end: 36_000.5, text: 'Até logo. ' },
  ],
  usage: undefined,
}
/** More digits than a double can represent. */
const BILLED = 12_345_678_901_234_567_891n

function charged(units: UnitCounts, promptTokens = 0, completionTokens = 0) {
  return { promptTokens, completionTokens, units: JSON.stringify(units), billedNanoBrl: BILLED }
}

const write = (
  format: TranscriptFormat,
  answer: TranscriptionAnswer = ANSWER,
  by = charged({ audio_seconds: 13 }),
): ReturnType<typeof writeTranscript> => writeTranscript(format, answer, by)

test('JSON has the text, the billed seconds, and the cost with all its digits', () => {
  assert.deepEqual(write('json'), {
    body: '{"text":"Bom dia. Até logo.","usage":{"type":"duration","seconds":13},"cost_billed_brl":12345678901.234567891}',
    headers: {},
  })
})

test('usage billed by the token shows the audio tokens and the text tokens', () => {
  const { body } = write('json', ANSWER, charged({ input_audio_tokens: 120 }, 7, 30))
  assert.deepEqual(JSON.parse(body).usage, {
    type: 'tokens',
    input_tokens: 127,
    input_token_details: { text_tokens: 7, audio_tokens: 120 },
    output_tokens: 30,
    total_tokens: 157,
  })
})

test('verbose JSON has the times, and the words only if there are any', () => {
  const { segments } = ANSWER
  const plain = JSON.parse(write('verbose_json').body)
  assert.deepEqual(Object.keys(plain), [
    'task',
    'language',
    'duration',
    'text',
    'segments',
    'usage',
    'cost_billed_brl',
  ])
  assert.deepEqual([plain.task, plain.duration, plain.segments], ['transcribe', 12.3, segments])
  const words = [{ start: 0, end: 1, word: 'Bom' }]
  assert.deepEqual(JSON.parse(write('verbose_json', { ...ANSWER, words }).body).words, words)
})

test('plain text is the text and a newline, with the cost in a header', () => {
  assert.deepEqual(write('text'), {
    body: 'Bom dia. Até logo.\n',
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'x-svc-cost-billed-brl': '12345678901.234567891',
    },
  })
})

test('SRT numbers its cues and uses a comma in its times, which carry into minutes and hours', () => {
  const { body, headers } = write('srt')
  assert.equal(
    body,
    '1\n00:00:00,000 --> 00:01:00,000\nBom dia.\n\n2\n00:59:59,001 --> 10:00:00,500\nAté logo.\n',
  )
  assert.equal(headers['content-type'], 'text/plain; charset=utf-8')
})

test('WebVTT begins with its name and uses a point in its times', () => {
  const { body, headers } = write('vtt')
  assert.equal(
    body,
    'WEBVTT\n\n00:00:00.000 --> 00:01:00.000\nBom dia.\n\n00:59:59.001 --> 10:00:00.500\nAté logo.\n',
  )
  assert.equal(headers['content-type'], 'text/vtt; charset=utf-8')
})

test('silence has no cues, and is still a valid file', () => {
  const silence = { ...ANSWER, text: '', segments: [] }
  assert.equal(write('srt', silence).body, '')
  assert.equal(write('vtt', silence).body, 'WEBVTT\n\n')
  assert.equal(write('text', silence).body, '\n')
  assert.equal(JSON.parse(write('json', silence).body).text, '')
})

test('three-digit hours are not truncated', () => {
  const long = { ...ANSWER, segments: [{ start: 359_999.9999, end: 400_000, text: 'x' }] }
  assert.match(write('srt', long).body, /^1\n100:00:00,000 --> 111:06:40,000\n/)
})
