/** The lists of models as each provider writes them, read over sockets. */
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { readModelList, type ListingAdapter } from '../../src/gateway/providers/read-model-list.ts'
import { startOpenAiUpstream } from '../harness/openai-upstream.ts'

const upstream = await startOpenAiUpstream()
after(() => upstream.close())
beforeEach(() => void upstream.asked.splice(0))

const LIMITS = {
  connectTimeoutMs: 2_000,
  firstByteTimeoutMs: 2_000,
  idleTimeoutMs: 2_000,
  connectionsMax: 4,
  cancelStopsBilling: true,
}

function compatible(path = '/v1'): ListingAdapter {
  const options = { ...LIMITS, baseUrl: `${upstream.origin}${path}`, apiKey: 'sk-own' }
  return { speaks: 'chat-completions', options }
}

function ownFormat(kind: 'anthropic' | 'google' | 'cohere', path: string): ListingAdapter {
  const options = { ...LIMITS, kind, baseUrl: `${upstream.origin}${path}`, apiKey: 'sk-own' }
  return { speaks: 'its own format', options }
}

/** What was asked, and the name of the header with the key. */
function askedFor(): (string | undefined)[] {
  return upstream.asked.map(({ method, url, headers }) => {
    const [header] = Object.entries(headers).find(([, value]) => /sk-own/.test(String(value))) ?? []
    return `${method} ${url} ${header}`
  })
}

test('each provider is asked at its own address with its own header, and its limits are read', async () => {
  upstream.answerJson({
    data: [{ id: 'a', context_window: 131_072, max_completion_tokens: 8_192 }],
  })
  assert.deepEqual(await readModelList(compatible()), [
    { name: 'a', contextTokens: 131_072, outputTokensMax: 8_192 },
  ])
  const top_provider = { context_length: 9, max_completion_tokens: null }
  upstream.answerJson([{ id: 'b/c', context_length: 4_096, top_provider }])
  assert.deepEqual(await readModelList(compatible()), [{ name: 'b/c', contextTokens: 4_096 }])
  upstream.answerJson({
    data: [{ type: 'model', id: 'claude', max_input_tokens: 200_000, max_tokens: 64_000 }],
    has_more: false,
  })
  assert.deepEqual(await readModelList(ownFormat('anthropic', '/v1')), [
    { name: 'claude', contextTokens: 200_000, outputTokensMax: 64_000 },
  ])
  upstream.answerJson({
    models: [{ name: 'models/gemini', inputTokenLimit: 1_048_576, outputTokenLimit: 65_536 }],
  })
  assert.deepEqual(await readModelList(ownFormat('google', '/v1beta')), [
    { name: 'gemini', contextTokens: 1_048_576, outputTokensMax: 65_536 },
  ])
  upstream.answerJson({ models: [{ name: 'command', context_length: 256_000 }] })
  assert.deepEqual(await readModelList(ownFormat('cohere', '/v2')), [
    { name: 'command', contextTokens: 256_000 },
  ])
  assert.deepEqual(askedFor(), [
    'GET /v1/models authorization',
    'GET /v1/models authorization',
    'GET /v1/models?limit=1000 x-api-key',
    'GET /v1beta/models?pageSize=1000 x-goog-api-key',
    'GET /v1/models?page_size=1000 authorization',
  ])
})

test('what is no name and no number is left out', async () => {
  const ids = ['ok', '', 7, null, 'with space', 'a\u0000b', 'x'.repeat(200), 'ção']
  const data = ids.map((id) => ({ id, context_length: -1, max_tokens: '12' }))
  upstream.answerJson({ data: [...data, null, 'text', []] })
  assert.deepEqual(await readModelList(compatible()), [{ name: 'ok' }])
})

test('the day on which a model ends is read, and what is no day of the calendar is left out', async () => {
  const data = [
    { id: 'ends', shutdown_date: '2027-01-14' },
    { id: 'stays', shutdown_date: null },
    ...[
      '2027-02-30',
      '2027-1-14',
      '2027-01-14T00:00:00Z',
      ' 2027-01-14',
      '2027-01-14\n',
      '9999-12-31',
      '<b>',
      20270114,
      ['2027-01-14'],
      {},
    ].map((shutdown_date) => ({ id: 'odd', shutdown_date })),
  ]
  upstream.answerJson({ data })
  const [ends, ...others] = await readModelList(compatible())
  assert.deepEqual(ends, { name: 'ends', endsOn: '2027-01-14' })
  assert.deepEqual(new Set(others.flatMap(Object.keys)), new Set(['name']))
})

test('an error, a redirect, no list, an empty one and one without an end are rejected', async () => {
  const refused = [
    () => upstream.answerJson({ error: { message: 'sk-own is wrong' } }, 401),
    () =>
      upstream.answerJson({ data: [{ id: 'elsewhere' }] }, 302, {
        location: `${upstream.origin}/v2`,
      }),
    () => upstream.answerJson('<html>'),
    () => upstream.answerJson({ data: {} }),
    () => upstream.answerJson({ data: [] }),
    () => upstream.answerJson(`{"data":[${'{"id":"a"},'.repeat(900_000)}{"id":"b"}]}`),
    () => upstream.answerWith((request) => void request.socket.destroy()),
  ]
  for (const answer of refused) {
    answer()
    await assert.rejects(
      readModelList(compatible()),
      (error: Error) => !/sk-own/.test(error.message),
    )
  }
})
