/** Generated prompts with documents in every spelling (`test/harness/personal-texts.ts`). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../test/harness/fast-check.ts'
import { effort, seedOr } from '../../../test/harness/effort.ts'
import {
  document,
  oracle,
  PLACEHOLDER,
  prompt,
  squeeze,
} from '../../../test/harness/personal-texts.ts'
import { findPersonalData } from './find-personal-data.ts'
import { maskText } from './shield-chat.ts'
import { chooseTag, createPlaceholders, type Encoding } from './placeholders.ts'
import { createTextRestorer, restoreText } from './restore-text.ts'

function mask(text: string, encoding: Encoding) {
  const found = findPersonalData(text, { uuids: 'near_pix' })
  const placeholders = createPlaceholders(chooseTag([text]))
  return { found, placeholders, masked: maskText(text, found, placeholders, encoding) }
}

function restoreInPieces(
  text: string,
  cuts: readonly number[],
  { placeholders }: ReturnType<typeof mask>,
  encoding: Encoding,
): string {
  const restorer = createTextRestorer(placeholders, encoding)
  let restored = ''
  let index = 0
  for (let turn = 0; index < text.length; turn += 1) {
    const end = index + (cuts[turn % cuts.length] as number)
    const piece = restorer.push(text.slice(index, end))
    assert.doesNotMatch(piece.slice(-1), /[\uD800-\uDBFF]/, 'half of a pair')
    restored += piece
    index = end
  }
  return restored + restorer.end()
}

const parameters = {
  numRuns: effort({ ordinary: 2000, full: 50_000 }),
  seed: seedOr(16),
}
const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })

test('no document leaves in any spelling, and all come back at any cut', () => {
  let planted = 0
  fc.assert(
    fc.property(prompt, cuts, ({ documents, text }, sizes) => {
      const result = mask(text, 'text')
      planted += documents.length
      assert.deepEqual(oracle(result.masked), [], result.masked)
      const rest = squeeze(result.masked)
      for (const { core } of documents) assert.ok(!rest.includes(core), `${core} in ${rest}`)
      assert.equal(result.found.length, documents.length, result.masked)
      assert.equal(restoreText(result.masked, result.placeholders, 'text'), text)
      assert.equal(restoreInPieces(result.masked, sizes, result, 'text'), text)
      const lower = result.masked.replaceAll(PLACEHOLDER, (each) =>
        text.includes(each) ? each : each.toLowerCase(),
      )
      assert.equal(restoreInPieces(lower, sizes, result, 'text'), text)
    }),
    parameters,
  )
  assert.ok(planted > parameters.numRuns)
})

test('arguments of tool calls stay JSON, and come back at any cut', () => {
  fc.assert(
    fc.property(prompt, cuts, fc.boolean(), ({ documents, text }, sizes, isAscii) => {
      const values = { texto: text, numeros: [52998224725, -52998224725, 1.5], [text]: null }
      const plain = JSON.stringify(values)
      const source = isAscii
        ? plain.replaceAll(
            /[\u0080-\uFFFF@<>]/g,
            (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
          )
        : plain
      const result = mask(source, 'json')
      assert.deepEqual(oracle(result.masked), [], result.masked)
      for (const { core } of documents) assert.ok(!squeeze(result.masked).includes(core))
      assert.doesNotThrow(() => JSON.parse(result.masked) as unknown)
      assert.equal(restoreInPieces(result.masked, sizes, result, 'json'), source)
      assert.deepEqual(JSON.parse(restoreText(result.masked, result.placeholders, 'json')), values)
    }),
    { ...parameters, numRuns: Math.ceil(parameters.numRuns / 2) },
  )
})

test('the oracle finds the documents in a text that is not masked', () => {
  fc.assert(
    fc.property(document, ({ kind, text }) => {
      // A number without its area code has eight digits, as a date has.
      fc.pre(!/(?:tel|fone) /.test(text))
      // The oracle passes over what looks like a placeholder.
      fc.pre(text.search(PLACEHOLDER) === -1)
      assert.notDeepEqual(oracle(text), [], `${kind} ${text}`)
    }),
    { ...parameters, numRuns: effort({ ordinary: 300, full: 5000 }) },
  )
})
