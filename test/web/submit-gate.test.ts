import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../web/src/api/api-error.ts'
import { createSubmitGate } from '../../web/src/lib/submit-gate.ts'
import { readSources } from '../harness/read-sources.ts'

const REQUEST = 'POST /v1/topups {"amount":50}'

test('while a submit runs, and just after it created something, no other one begins', () => {
  const timers: (() => void)[] = []
  const gate = createSubmitGate((work) => timers.push(work))
  assert.equal(gate.begin(), true)
  assert.equal(gate.begin(), false)
  gate.keyOf(REQUEST)
  gate.succeed()
  assert.equal(gate.begin(), false)
  for (const work of timers) work()
  assert.equal(gate.begin(), true)
  gate.succeed()
  assert.equal(gate.begin(), true, 'what only changes something may be changed back at once')
})

test('a try without an answer keeps its key; another request, or one after an answer, has a new one', () => {
  for (const error of [
    new TypeError('x'),
    new ApiError(0, 'network', undefined),
    new ApiError(503, 'internal_error', undefined),
    new ApiError(409, 'idempotency_key_in_use', undefined),
  ]) {
    const gate = createSubmitGate(() => {})
    gate.begin()
    const key = gate.keyOf(REQUEST)
    gate.fail(error)
    assert.equal(gate.begin(), true)
    assert.equal(gate.keyOf(REQUEST), key)
    assert.notEqual(gate.keyOf(`${REQUEST} `), key)
  }
  for (const end of ['succeed', 'fail'] as const) {
    const gate = createSubmitGate((work) => work())
    gate.begin()
    const key = gate.keyOf(REQUEST)
    gate[end](new ApiError(400, 'card_rejected', undefined))
    gate.begin()
    assert.notEqual(gate.keyOf(REQUEST), key)
  }
})

const EXEMPT = new Set([
  'lib/use-submit.ts',
  'api/client.ts',
  // Sets the same value however often it is sent, and no person submits it.
  'language/chosen-language.ts',
  'layout/AccountPanel.tsx',
])

test('the dashboard sends every change through useSubmit', () => {
  const breaches: string[] = []
  for (const { file, text } of readSources('web/src/**/*.{ts,tsx}')) {
    if (EXEMPT.has(file.slice('web/src/'.length))) continue
    if (/\buseMutation\b/.test(text)) breaches.push(`${file}: useMutation`)
    const isSent = /\bapi\.(post|put|patch|delete|deleteAccount)\(/.test(text)
    const isGated = /\b(useSubmit|useSubmitGate|useAct|useTeamAct)(<[^(]*>)?\(/.test(text)
    if (isSent && !isGated) breaches.push(`${file}: a change without a submit`)
  }
  assert.deepEqual(breaches, [])
})
