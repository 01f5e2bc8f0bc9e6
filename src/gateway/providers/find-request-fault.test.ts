import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findRequestFault } from './read-failure.ts'

const TOO_LONG = {
  OpenAI:
    '{"error":{"message":"This model\'s maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}',
  'OpenAI, Responses':
    '{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","code":"context_length_exceeded"}}',
  Anthropic:
    '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}',
  'Anthropic, with its limit':
    '{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"}}',
  Google:
    '{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}',
  Bedrock: '{"message":"Input is too long for requested model."}',
  Mistral:
    '{"object":"error","message":"Prompt contains 40000 tokens, too large for model with 32768 maximum context length","type":"invalid_request_error"}',
  xAI: '{"error":"This model\'s maximum prompt length is 131072 but the request contains 200000 tokens."}',
  Cohere:
    '{"message":"too many tokens: total number of tokens in the prompt cannot exceed 128000"}',
}

test('each provider says in its words that a prompt is too long', () => {
  for (const [name, body] of Object.entries(TOO_LONG))
    assert.equal(findRequestFault(body), 'context_too_long', name)
})

test('the codes of providers for forbidden content are known', () => {
  for (const code of ['content_policy_violation', 'content_filter', 'moderation_blocked', 'SAFETY'])
    assert.equal(findRequestFault(JSON.stringify({ error: { code } })), 'content_refused', code)
})

test('another fault is none of these', () => {
  assert.equal(findRequestFault('{"error":{"message":"Unknown parameter: x"}}'), undefined)
  // Only a whole value is a code.
  assert.equal(
    findRequestFault('{"error":{"message":"SAFETY first, no content_filter"}}'),
    undefined,
  )
  assert.equal(findRequestFault(''), undefined)
})
