import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../test/harness/fast-check.ts'
import { cutLongRuns } from './cut-long-runs.ts'

test('the joined parts equal the text, and no part has a long run', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 3_000 }),
    fc.constant('a'.repeat(5_000)),
    fc.constant('🎟️ '.repeat(900) + ' '.repeat(2_000)),
  )
  fc.assert(
    fc.property(text, (text) => {
      const parts = cutLongRuns(text)
      assert.equal(parts.join(''), text)
      for (const part of parts) assert.doesNotMatch(part, /\S{403}|\s{403}/)
    }),
  )
})
