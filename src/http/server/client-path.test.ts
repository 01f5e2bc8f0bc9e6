import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { clientPath, modelInPath } from './request-head.ts'

const read = (url: string) => clientPath({ url, headers: {} } as IncomingMessage)

test('a model call is found whether the base address has /v1, lacks it or has it twice', () => {
  for (const path of [
    'chat/completions',
    'responses',
    'messages',
    'embeddings',
    'models',
    'files/x/content',
    'batches',
  ])
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
  const request = { url, headers: {} } as IncomingMessage
  assert.equal(clientPath(request), '/v1/chat/completions?api-version=2024-06-01')
  assert.equal(modelInPath(request), 'gpt-4o')
  assert.equal(modelInPath({} as IncomingMessage), undefined)
})

/** A request of one of Google's clients, as this server goes on with it. */
function readGemini(url: string, given: Record<string, string> = {}) {
  const request = { url, method: 'POST', headers: { ...given } } as unknown as IncomingMessage
  const path = clientPath(request)
  return { path, model: modelInPath(request), key: request.headers['x-goog-api-key'] }
}

test("Google's paths name the model, and how its answer is sent", () => {
  const stream = '/v1beta/streamGenerateContent'
  for (const [url, path, model] of [
    ['/v1beta/models/a:generateContent', '/v1beta/generateContent', 'a'],
    ['/v1/models/a:generateContent', '/v1beta/generateContent', 'a'],
    ['/v1/v1beta/models/a:countTokens', '/v1beta/countTokens', 'a'],
    ['/v1beta//models/maker/a:floor:embedContent', '/v1beta/embedContent', 'maker/a:floor'],
    ['/v1beta/models/maker%2Fa%3AgenerateContent', '/v1beta/generateContent', 'maker/a'],
    ['/v1beta/models/a:streamGenerateContent?alt=sse', `${stream}?alt=sse`, 'a'],
    ['/v1beta/models/a:streamGenerateContent', `${stream}/list`, 'a'],
    ['/v1beta/models/a:streamGenerateContent?alt=ssex', `${stream}/list?alt=ssex`, 'a'],
    ['/v1beta/models/a:predict', '/v1beta/models/a:predict', undefined],
  ])
    assert.deepEqual(readGemini(url as string), { path, model, key: undefined })
  // Only a call has a model in its path.
  const listed = { url: '/v1/models/a:countTokens', method: 'GET', headers: {} } as IncomingMessage
  assert.equal(clientPath(listed), listed.url)
  // The catalog of the version 1 is Google's for the libraries that say so.
  const library = { 'x-goog-api-client': 'google-genai-sdk/3.3.0 gl-node/24' }
  for (const path of ['/models', '/models/maker/a'])
    assert.equal(readGemini(`/v1${path}?pageSize=9`, library).path, `/v1beta${path}?pageSize=9`)
  assert.equal(readGemini('/v1/usage', library).path, '/v1/usage')
})

test('a key in the query of a Google client leaves the address, and never replaces a header', () => {
  const { path, key } = readGemini('/v1beta/models/a:generateContent?key=sk-svc-1&alt=json')
  assert.deepEqual([path, key], ['/v1beta/generateContent?alt=json', 'sk-svc-1'])
  assert.deepEqual(readGemini('/v1beta/models?key=sk-svc-1').path, '/v1beta/models')
  assert.deepEqual(readGemini('/v1beta/none?key=sk-svc-1').path, '/v1beta/none')
  const both = readGemini('/v1beta/models?key=sk-svc-1', { 'x-goog-api-key': 'sk-svc-2' })
  assert.equal(both.key, 'sk-svc-2')
  assert.equal(readGemini('/v1/usage?key=sk-svc-1').path, '/v1/usage?key=sk-svc-1')
})
