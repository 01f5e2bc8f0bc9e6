import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toFailure } from './to-failure.ts'

for (const [type, reason, status] of [
  ['invalid_request_error', 'refused_request', 400],
  ['some_new_error', 'server_error', undefined],
] as const)
  test(`${type} in a stream, without a status, is ${reason}`, () => {
    const failure = toFailure({ type, message: 'No.' }, new AbortController().signal)
    assert.deepEqual([failure.reason, failure.status], [reason, status])
  })
