import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPlaceholders } from './placeholders.ts'
import { createTextRestorer } from './restore-text.ts'

function placeholdersOf(...values: string[]) {
  const placeholders = createPlaceholders('QZ')
  const names = values.map((text) =>
    placeholders.nameOf(
      { kind: 'email', start: 0, end: 0, canonical: text },
      { source: text, depth: 0, value: text, isNumber: false },
    ),
  )
  return { placeholders, names }
}

const eleven = Array.from({ length: 11 }, (_, index) => `a${index}@b.co`)

test('a first number is no beginning of a tenth one', () => {
  const { placeholders, names } = placeholdersOf(...eleven)
  assert.deepEqual([names[0], names[10]], ['EMAIL1QZ', 'EMAIL11QZ'])
  const restorer = createTextRestorer(placeholders, 'text')
  assert.equal(restorer.push('EMAIL11QZEMAIL1QZ') + restorer.end(), 'a10@b.coa0@b.co')
})

test('less than a placeholder is held back, and only what may become one', () => {
  const { placeholders } = placeholdersOf(...eleven)
  const restorer = createTextRestorer(placeholders, 'text')
  assert.equal(restorer.push('para EMA'), 'para ')
  assert.equal(restorer.push('IL1'), '')
  assert.equal(restorer.push('Q'), '')
  assert.equal(restorer.push('Zx'), 'a0@b.cox')
  assert.equal(restorer.push('EMAEMAIL'), 'EMA')
  assert.equal(restorer.push('ES'), 'EMAILES')
  assert.equal(restorer.push('EMAIL12Q'), 'EMAIL12Q')
  assert.equal(restorer.push('EMAIL1'), '')
  assert.equal(restorer.end(), 'EMAIL1')
  assert.equal(restorer.end(), '')
})

test('half of a surrogate pair waits for the other half', () => {
  const { placeholders } = placeholdersOf('a@b.co')
  const restorer = createTextRestorer(placeholders, 'text')
  const [high, low] = ['\uD83D', '\uDE00']
  assert.equal(restorer.push(`EMAIL1QZ${high}`), 'a@b.co')
  assert.equal(restorer.push(low), '😀')
  assert.equal(restorer.push(high), '')
  assert.equal(restorer.push(high), high)
  assert.equal(restorer.end(), high)
})

test('values come back exactly as they are, and are not read again', () => {
  const { placeholders } = placeholdersOf('$&EMAIL2QZ@b.co', 'x@b.co')
  const restorer = createTextRestorer(placeholders, 'text')
  assert.equal(restorer.push('EMAIL1QZ EMAIL2QZ'), '$&EMAIL2QZ@b.co x@b.co')
})
