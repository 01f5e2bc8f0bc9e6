/** The compiler compares the answer of a handler with its schema: this file compiles only while the faults below do not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import type { AnswerOf } from '../../src/http/rest/answer-of.ts'
import { restRoute } from '../../src/http/rest/rest-route.ts'
import { answer, brl, dateTime, nullable } from '../../src/http/rest/values.ts'
import { jsonBrl } from '../../src/platform/lib/money.ts'

const thing = answer({
  name: Type.String(),
  status: Type.Enum(['open', 'done']),
  amount_brl: brl,
  ended_at: nullable(dateTime),
  parts: Type.Array(answer({ count: Type.Integer() })),
})
const declared = {
  method: 'GET',
  path: '/things',
  tag: 'Conta',
  summary: 'Uma coisa',
  access: 'public',
  answer: thing,
} as const
const sound: AnswerOf<typeof thing> = {
  name: 'a',
  status: 'open',
  amount_brl: jsonBrl(1n),
  ended_at: new Date(),
  parts: [{ count: 1 }],
}

test('a handler whose answer does not match its schema does not compile', () => {
  const routes = [
    restRoute({ ...declared, handle: () => sound }),
    restRoute({ ...declared, handle: async () => ({ ...sound, ended_at: null }) }),
    restRoute({ ...declared, handle: (_call, deps: { answer: typeof sound }) => deps.answer }),
    // @ts-expect-error a field of the wrong type
    restRoute({ ...declared, handle: () => ({ ...sound, name: 1 }) }),
    // @ts-expect-error a value that the schema does not list
    restRoute({ ...declared, handle: () => ({ ...sound, status: 'over' as const }) }),
    // @ts-expect-error null where the schema has none, in an asynchronous handler
    restRoute({ ...declared, handle: async () => ({ ...sound, amount_brl: null }) }),
    // @ts-expect-error a field inside a list
    restRoute({ ...declared, handle: () => ({ ...sound, parts: [{ number: 1 }] }) }),
    // @ts-expect-error a missing field
    restRoute({ ...declared, handle: () => ({ name: 'a', status: 'open' as const }) }),
    // @ts-expect-error no answer at all
    restRoute({ ...declared, handle: async () => undefined }),
  ]
  // @ts-expect-error a field that the schema does not have
  const withMore: AnswerOf<typeof thing> = { ...sound, parts: [{ count: 1, more: 2 }] }
  assert.equal(routes.length, 9)
  assert.equal(withMore.parts.length, 1)
})
