import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepChoice, takeChoice } from '../../web/src/language/choice-for-account.ts'

const HOUR_MS = 3_600_000

function storage() {
  const values = new Map<string, string>()
  return {
    values,
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  }
}

test('a language that was chosen before sign-in is the next account’s, once', () => {
  const own = storage()
  keepChoice(own, 'en-US', 1_000)
  assert.equal(takeChoice(own, 1_000 + HOUR_MS), 'en-US')
  assert.equal(takeChoice(own, 1_000 + HOUR_MS), undefined)
})

test('an account that signs in much later keeps its language', () => {
  const own = storage()
  keepChoice(own, 'en-US', 1_000)
  assert.equal(takeChoice(own, 1_001 + HOUR_MS), undefined)
  assert.equal(own.values.size, 0)
})

test('a value that another program stored is no choice', () => {
  for (const text of ['en-US', 'en-US x', 'en-US 99999999999999', '<script> 1000', ' 1000', 'x']) {
    const own = storage()
    own.setItem('catraca.language.for-account', text)
    assert.equal(takeChoice(own, 2_000), undefined, text)
  }
})
