import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRefusal } from './read-failure.ts'

const FLAGGED = {
  OpenRouter:
    '{"error":{"code":403,"message":"Flagged.","metadata":{"reasons":["violence"],"flagged_input":"a","provider_name":"b"}}}',
  'OpenRouter, by a provider': '{"error":{"code":"content_policy_violation","message":"No."}}',
  xAI: '{"code":"The caller does not have permission to execute the specified operation","error":"Content violates usage guidelines. Team: a, API key ID: b, Model: c, Failed check: SAFETY_CHECK_TYPE_BIO"}',
}

for (const [name, body] of Object.entries(FLAGGED)) {
  test(`a 403 of moderation is the fault of the request: ${name}`, () => {
    const { reason, requestFault } = readRefusal(403, undefined, body)
    assert.deepEqual([reason, requestFault], ['refused_request', 'content_refused'])
  })

  test(`the same body with 401 is about our key: ${name}`, () => {
    const { reason, requestFault } = readRefusal(401, undefined, body)
    assert.deepEqual([reason, requestFault], ['credentials_refused', undefined])
  })
}

for (const body of [
  '',
  '{"error":{"code":403,"message":"Key limit exceeded"}}',
  '{"type":"error","error":{"type":"permission_error","message":"No."}}',
  '{"error":{"code":403,"status":"PERMISSION_DENIED","message":"No."}}',
  '{"message":"User is not authorized to perform: bedrock:InvokeModel"}',
  '{"error":{"code":"unsupported_country_region_territory","type":"request_forbidden"}}',
  // A prompt that a text quotes.
  JSON.stringify({ error: { message: 'For {"flagged_input":"SAFETY"} no permission' } }),
  JSON.stringify({ error: { message: 'For "Content violates usage guidelines" no permission' } }),
  // The words for a prompt that is too long are no codes.
  '{"error":{"code":403,"message":"too many tokens"}}',
]) {
  test(`a 403 is about our key: ${body}`, () => {
    const { reason, requestFault } = readRefusal(403, undefined, body)
    assert.deepEqual([reason, requestFault], ['credentials_refused', undefined])
  })
}
