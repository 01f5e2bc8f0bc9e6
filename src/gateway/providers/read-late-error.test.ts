import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readLateError, readRefusal } from './read-failure.ts'

const message = 'No: Ana Souza, 529.982.247-25'
const PLACE = 'error in the stream'

for (const [status, error] of [
  [400, { code: 'invalid_prompt', message }],
  [400, { code: 'image_parse_error', message }],
  [400, { code: 'failed_to_download_image', message }],
  [400, { code: 'context_length_exceeded', type: 'invalid_request_error', message }],
  [400, { code: 'unknown_parameter', type: 'invalid_request_error', message }],
  [400, { code: null, type: 'invalid_request_error', message }],
  [400, { code: 400, message }],
  [400, { code: '400', type: 'BadRequestError', message }],
  [413, { code: 413, message }],
  [403, { code: 403, message, metadata: { flagged_input: 'Ana' } }],
] as const) {
  test(`${JSON.stringify(error)} fails as a refusal with status ${status}`, () => {
    const failure = readLateError(error, PLACE)
    assert.equal(failure.reason, 'refused_request')
    assert.deepEqual(failure, readRefusal(status, undefined, JSON.stringify(error)))
    assert.ok(!JSON.stringify(failure).includes('Ana'))
  })
}

test('a late error says what the client can mend', () => {
  for (const [code, fault] of [
    ['context_length_exceeded', 'context_too_long'],
    ['image_content_policy_violation', 'content_refused'],
    ['bio_policy', 'content_refused'],
    ['image_too_large', undefined],
  ] as const)
    assert.equal(readLateError({ code, message }, PLACE).requestFault, fault, code)
})

for (const error of [
  undefined,
  'invalid_prompt',
  { message: 'invalid_prompt: {"code":400,"type":"invalid_request_error"}' },
  { code: 'server_error', message },
  { code: 'vector_store_timeout', message },
  { code: 'data_residency_mismatch', message },
  { code: 'some_new_code', message },
  { code: 500, type: 'invalid_request_error', message },
  { code: 401, type: 'invalid_request_error', message },
  { code: 403, type: 'invalid_request_error', message },
  { code: 404, type: 'invalid_request_error', message },
  { code: 429, type: 'invalid_request_error', message },
  { code: 'invalid_api_key', type: 'invalid_request_error', message },
  { code: 'model_not_found', type: 'invalid_request_error', message },
  { code: 'billing_hard_limit_reached', type: 'invalid_request_error', message },
  { code: 'rate_limit_exceeded', type: 'invalid_request_error', message },
  { code: null, type: 'server_error', message },
]) {
  test(`${JSON.stringify(error)} stays a fault of the upstream`, () => {
    const failure = readLateError(error, PLACE)
    assert.equal(failure.reason, 'server_error')
    assert.equal(failure.status, undefined)
    assert.ok(failure.detail.startsWith(PLACE))
  })
}
