import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../harness/fast-check.ts'
import { diffLines, type DiffLine } from '../../web/src/lib/diff-lines.ts'
import { shortestEdit } from '../../web/src/lib/shortest-edit.ts'

/** `-` removed, `+` added; changed words stand in brackets. */
function drawn(lines: readonly DiffLine[]): string[] {
  const sign = { same: ' ', removed: '-', added: '+' }
  return lines.map(
    ({ kind, parts }) =>
      sign[kind] + parts.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join(''),
  )
}

test('unchanged lines are separated from changed ones, in which the changed words are flagged', () => {
  const before = 'Você é um atendente.\nResponda a {{pergunta}} em tom formal.\n\nAssine.'
  const after =
    'Você é um atendente.\nSeja breve.\nResponda a {{pergunta}} em tom cordial e leve.\n\nAssine.'
  assert.deepEqual(drawn(diffLines(before, after)), [
    ' Você é um atendente.',
    '-Responda a {{pergunta}} em tom [formal].',
    '+Seja breve.',
    '+Responda a {{pergunta}} em tom [cordial e leve].',
    ' ',
    ' Assine.',
  ])
})

test('unrelated lines have no flagged words, and equal texts have no differences', () => {
  assert.deepEqual(drawn(diffLines('bom dia', 'outra coisa')), ['-bom dia', '+outra coisa'])
  assert.deepEqual(drawn(diffLines('a\nb', 'a\nb')), [' a', ' b'])
  assert.deepEqual(drawn(diffLines('a', 'a\n')), [' a', '+'])
})

const text = fc
  .array(fc.constantFrom('a', 'b', 'c d', 'c e', '', 'olá {{nome}}'), { maxLength: 12 })
  .map((lines) => lines.join('\n'))

test('the lines of any two texts reproduce both texts, in order and numbered', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = diffLines(before, after)
      const read = (other: 'added' | 'removed'): string =>
        lines
          .filter(({ kind }) => kind !== other)
          .map(({ parts }) => parts.map((part) => part.text).join(''))
          .join('\n')
      assert.equal(read('added'), before)
      assert.equal(read('removed'), after)
      for (const name of ['numberBefore', 'numberAfter'] as const) {
        const numbers = lines.map((line) => line[name]).filter((number) => number !== undefined)
        assert.deepEqual(
          numbers,
          numbers.map((_, place) => place + 1),
        )
      }
    }),
  )
})

test('the list of changes is the shortest possible', () => {
  const list = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 9 })
  fc.assert(
    fc.property(list, list, (before, after) => {
      const kept = shortestEdit(before, after).filter(({ kind }) => kind === 'same').length
      assert.equal(kept, longestCommon(before, after))
    }),
  )
})

test('the longest texts, with nothing in common, are compared in few steps', () => {
  const lines = Array.from({ length: 16_000 }, (_, place) => String.fromCodePoint(0x4e00 + place))
  const others = lines.map((line) => String.fromCodePoint((line.codePointAt(0) as number) + 16_000))
  assert.equal(diffLines(lines.join('\n'), others.join('\n')).length, 32_000)
  const [long, other] = [lines.join(' '), others.join(' ')]
  assert.equal(diffLines(long, other).length, 2)
  // One line with the same words in another order: too many changes to flag one by one.
  assert.equal(diffLines(long, lines.toReversed().join(' ')).length, 2)
})

/** By the textbook table of edit distances. */
function longestCommon(before: readonly string[], after: readonly string[]): number {
  let above = after.map(() => 0)
  for (const one of before) {
    const row: number[] = []
    for (const [place, other] of after.entries())
      row.push(
        one === other
          ? (above[place - 1] ?? 0) + 1
          : Math.max(above[place] ?? 0, row[place - 1] ?? 0),
      )
    above = row
  }
  return above.at(-1) ?? 0
}
