import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { effort } from '../../../../test/harness/effort.ts'
import fc from '../../../../test/harness/fast-check.ts'
import { parseEmbeddings } from './embed.ts'
import { BadAnswer } from './read-answer.ts'

/** So long that the answer is parsed vector by vector. */
const FILLER = 'x'.repeat(300_000)
const TRICKY = [
  '"embedding":[1]',
  '\\"embedding\\":[2]',
  '"embedding":["0"]',
  '\\',
  '"',
  'embedding',
]

const texts = fc.oneof(fc.constantFrom(...TRICKY), fc.string({ maxLength: 8 }))
const vectors = fc.oneof(
  fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 4 }),
  fc.array(fc.oneof(texts, fc.constant(null)), { maxLength: 2 }),
  texts,
  fc.constant(null),
)
const entries = fc.record(
  { index: fc.nat(), embedding: vectors, object: texts, more: fc.jsonValue({ maxDepth: 2 }) },
  { requiredKeys: [] },
)

test('an answer is the same as if it were parsed at once, whatever it contains', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(entries, { maxLength: 5 }), texts, async (data, model) => {
      for (const indent of [0, 2]) {
        const text = JSON.stringify({ object: 'list', FILLER, model, data }, undefined, indent)
        const isSame = isDeepStrictEqual(await parseEmbeddings(text), JSON.parse(text))
        assert.ok(isSame, isSame ? undefined : text.replace(FILLER, ''))
      }
    }),
    { numRuns: effort({ ordinary: 200, full: 2_000 }) },
  )
})

test('a long answer that is no JSON is a bad answer, also within a vector', async () => {
  for (const embedding of ['[1,]', '[1 2]', '[1', '[0x1]', '[1]]'])
    await assert.rejects(
      parseEmbeddings(`{"FILLER":"${FILLER}","data":[{"embedding":${embedding}}]}`),
      BadAnswer,
    )
})
