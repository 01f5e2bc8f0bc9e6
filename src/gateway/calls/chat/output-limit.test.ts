import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Model } from '../../../money/catalog/model.ts'
import type { JsonObject } from '../../providers/contract.ts'
import { readChatRequest, type ChatRequest } from './chat-request.ts'
import { findSizeFault, outputTokensReadable } from './output-limit.ts'

const MODEL = { outputTokensMax: 32_768 } as Model

function read(body: JsonObject): ChatRequest {
  const messages = [{ role: 'user', content: 'Oi' }]
  const request = readChatRequest({ model: 'm', messages, ...body }, 100)
  assert.ok('messages' in request)
  return request
}

const READABLE: readonly (readonly [body: JsonObject, readable: number])[] = [
  [{}, Infinity],
  [{ n: 128, max_tokens: 100_000 }, Infinity],
  [{ logprobs: false, top_logprobs: 0 }, Infinity],
  [{ logprobs: true, top_logprobs: 20, stream: true }, Infinity],
  [{ logprobs: true }, 223_696],
  [{ logprobs: true, top_logprobs: null }, 223_696],
  [{ logprobs: true, top_logprobs: 20 }, 10_652],
  [{ top_logprobs: '20' }, 10_652],
  [{ logprobs: 'true', top_logprobs: 'many' }, 223_696],
  [{ logprobs: 20 }, 10_652],
  [{ logprobs: true, top_logprobs: 20, n: 2 }, 5_326],
  [{ logprobs: true, top_logprobs: 1e9 }, 0],
]

for (const [body, readable] of READABLE) {
  test(`${JSON.stringify(body)}: ${readable} output tokens can be read`, () => {
    assert.equal(outputTokensReadable(read(body)), readable)
  })
}

test('a limit that can be read passes, and one more token is refused with the limit that fits', () => {
  const most = { logprobs: true, top_logprobs: 20, n: 2, max_tokens: 5_326 }
  assert.equal(findSizeFault(MODEL, read(most)), undefined)
  assert.equal(
    findSizeFault(MODEL, read({ ...most, max_tokens: 5_327 })),
    'O campo "top_logprobs" tornaria a resposta grande demais. Com estes valores de "top_logprobs" e "n", max_tokens pode ser de até 5326. Reduza um deles, ou use "stream": true.',
  )
})

test('a request without a limit is refused only if fewer than 4,096 tokens can be read', () => {
  const asked = { logprobs: true, top_logprobs: 20 }
  assert.equal(findSizeFault(MODEL, read({ ...asked, n: 2 })), undefined)
  assert.match(findSizeFault(MODEL, read({ ...asked, n: 3 })) ?? '', /até 3550/)
  assert.equal(
    findSizeFault({ ...MODEL, outputTokensMax: 100 }, read({ ...asked, n: 3 })),
    undefined,
  )
})

test('log probabilities without alternatives are named by their own field', () => {
  const asked = { logprobs: true, n: 128, max_tokens: 2_000 }
  assert.match(findSizeFault(MODEL, read(asked)) ?? '', /^O campo "logprobs" tornaria/)
})
