import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base'
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base'
import { effort } from '../../../test/harness/effort.ts'
import fc, { anyCharacter } from '../../../test/harness/fast-check.ts'
import { countTokens } from './count-tokens.ts'

const AS_PLAIN_TEXT = { disallowedSpecial: new Set<string>() }

test('the count by pieces is the count of the whole text, for any texts', async () => {
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.string(),
    fc.constantFrom('', '<|endoftext|>', 'a\n\n b', "I'll  go", '\ud800', '12345', 'olá, 世界! '),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(text, { maxLength: 5 }), async (texts) => {
      for (const [tokenizer, count] of [
        ['o200k_base', countO200k],
        ['cl100k_base', countCl100k],
      ] as const) {
        const whole = texts.reduce((sum, each) => sum + count(each, AS_PLAIN_TEXT), 0)
        assert.equal(await countTokens(texts, tokenizer), whole)
      }
    }),
    { numRuns: effort({ ordinary: 100, full: 5_000 }) },
  )
})

test('texts that are too long together are not counted', async () => {
  assert.equal(await countTokens(['a b '.repeat(12_500), 'a b '.repeat(12_501)]), undefined)
})
