import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCustomInput } from './call-item.ts'

const FEW = 4_000
const MANY = 8 * FEW
/** A copy of all that has arrived, at each delta, would be sixty-four times the work. */
const GROWTH_MAX = 24
const FLOOR_MS = 2

/** The least processor time of three rounds for an input that arrives in so many deltas of a token each. */
function msOf(deltas: number): number {
  let least = Infinity
  for (let round = 0; round < 3; round += 1) {
    const input = createCustomInput()
    const before = process.cpuUsage()
    input.add('{"input":"')
    for (let index = 0; index < deltas; index += 1) input.add('abcdefgh')
    input.add('"}')
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1_000)
  }
  return least
}

/** The text that these deltas add, with that of the end. */
function textOf(deltas: readonly string[]): string {
  const input = createCustomInput()
  return deltas.map((delta) => input.add(delta)).join('') + input.end()
}

test('eight times as many deltas of an input are about eight times the work', () => {
  const few = Math.max(msOf(FEW), FLOOR_MS)
  const many = msOf(MANY)
  assert.ok(many < GROWTH_MAX * few, `${few.toFixed(0)} ms became ${many.toFixed(0)} ms`)
})

test('an input is the same wherever its deltas part it', () => {
  const text = 'ação "1" \\ / \b\f\n\r\t \u0001 \u{1f600} \\u0041\\'
  const args = JSON.stringify({ input: text })
  const forms = {
    [args]: text,
    [args.replace('{"input":', ' {\n "input" : ')]: text,
    // A pair of halves, each as an escape.
    [String.raw`{"input":"\/\ud83d\ude00\u00E7"}`]: '/\u{1f600}ç',
    '{"input":""}': '',
    '{"texto":"a"}': '{"texto":"a"}',
    '"a\\n"': 'a\n',
  }
  for (const [form, expected] of Object.entries(forms)) {
    assert.equal(textOf(form.split('')), expected)
    for (let at = 0; at <= form.length; at += 1)
      assert.equal(textOf([form.slice(0, at), '', form.slice(at)]), expected, `${form} at ${at}`)
  }
})
