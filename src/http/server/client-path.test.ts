import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { clientPath, modelInPath } from './request-head.ts'

const read = (url: string) => clientPath({ url } as IncomingMessage)

test('a model call is found whether the base address has /v1, lacks it or has it twice', () => {
  for (const path of ['chat/completions', 'responses', 'messages', 'embeddings', 'models'])
    for (const spelling of [
      `/v1/${path}`,
      `/${path}`,
      `//${path}`,
      `/v1//${path}`,
      `/v1/v1/${path}`,
      `//v1//v1/${path}/`,
      `/openai/v1/${path}`,
      `/v1/openai/${path}`,
    ])
      assert.equal(read(`${spelling}?beta=true`), `/v1/${path}?beta=true`, spelling)
  assert.equal(read('/messages/count_tokens'), '/v1/messages/count_tokens')
  assert.equal(read('/models/openai/gpt-4o'), '/v1/models/openai/gpt-4o')
  assert.equal(read('/v1//responses/resp_1/input_items'), '/v1/responses/resp_1/input_items')
})

test('no other path has a second spelling', () => {
  for (const path of [
    '/v1/admin/customers',
    '/admin/customers',
    '/v1//admin/customers',
    '/v1/v1/admin/customers',
    '/v1//usage',
    '/api-keys',
    '/metrics',
    '//metrics',
    '/',
    '/modelos',
    '/v1/chat/completions/../../metrics',
    '/openai/deployments/a/b/chat/completions',
  ])
    assert.equal(read(path), path)
  // Slashes of the query are not of the path.
  assert.equal(read('/v1/usage?x=//models'), '/v1/usage?x=//models')
})

test("Azure's paths name the model", () => {
  const url = '/openai/deployments/gpt%2D4o/chat/completions?api-version=2024-06-01'
  const request = { url } as IncomingMessage
  assert.equal(clientPath(request), '/v1/chat/completions?api-version=2024-06-01')
  assert.equal(modelInPath(request), 'gpt-4o')
  assert.equal(modelInPath({} as IncomingMessage), undefined)
})
