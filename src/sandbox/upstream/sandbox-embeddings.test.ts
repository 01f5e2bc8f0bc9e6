import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { after, describe, test } from 'node:test'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import OpenAI from 'openai'
import { createSandboxEmbeddings } from './create-sandbox-embeddings.ts'
import type { Exchange } from './open-exchange.ts'
import { openTokenizer } from './open-tokenizer.ts'
import { startSandboxUpstream } from './start-sandbox-upstream.ts'

const upstream = await startSandboxUpstream()
after(() => upstream.close())
const client = new OpenAI({ baseURL: upstream.baseUrl, apiKey: 'any', maxRetries: 0 })

interface EmbeddingBody {
  readonly data: { readonly embedding: number[]; readonly index: number; readonly object: string }[]
}

function post(body: object): Promise<Response> {
  const text = JSON.stringify({ model: 'sandbox-embedding', ...body })
  return fetch(`${upstream.baseUrl}/embeddings`, { method: 'POST', body: text })
}

async function embed(input: unknown, more: object = {}): Promise<number[][]> {
  const response = await post({ input, ...more })
  assert.equal(response.status, 200)
  const { data } = (await response.json()) as EmbeddingBody
  assert.deepEqual(
    data.map((one) => [one.index, one.object]),
    data.map((_, index) => [index, 'embedding']),
  )
  return data.map((one) => one.embedding)
}

const MANY = Array.from({ length: 2048 }, (_, index) => `texto ${index}`)

function exchangeWithoutSocket(): Exchange {
  return {
    response: new ServerResponse(new IncomingMessage(new Socket())),
    isOpen: true,
    outcome: 'refused',
    reported: undefined,
    pause: async () => {},
    write: async () => {},
    writeAndCut: async () => {},
  }
}

function lengthOf(vector: readonly number[]): number {
  return Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
}

test('a model has vectors of its own size, unless another one is asked for', async () => {
  for (const [model, size] of [
    ['text-embedding-3-large', 3072],
    ['mistral-embed', 1024],
    ['text-embedding-3-small', 1536],
  ] as const) {
    const [vector] = await embed('a', { model })
    assert.equal(vector?.length, size, model)
  }
})

describe('an embedding', () => {
  test('has every field of the format, and no other', async () => {
    const response = await post({ input: 'Olá, mundo' })
    assert.equal(response.headers.get('content-type'), 'application/json')
    assert.equal(response.headers.get('openai-organization'), 'org-sandbox')
    const { data, ...rest } = (await response.json()) as EmbeddingBody
    const tokens = countTokens('Olá, mundo')
    assert.deepEqual(rest, {
      object: 'list',
      model: 'sandbox-embedding',
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    })
    assert.equal(data.length, 1)
    assert.deepEqual(Object.keys(data[0] as object), ['object', 'index', 'embedding'])
    assert.equal(data[0]?.embedding.length, 1536)
  })

  test('has length 1 in any number of dimensions', async () => {
    for (const dimensions of [1, 2, 3, 256, 1536, 4096]) {
      const [vector = []] = await embed('comprimento', { dimensions })
      assert.equal(vector.length, dimensions)
      assert.ok(Math.abs(lengthOf(vector) - 1) < 1e-6, `${dimensions}: ${lengthOf(vector)}`)
    }
  })

  test('is the same for the same text at any position, and differs for another text', async () => {
    const [alone] = await embed('gato')
    const [cat, dog, again] = await embed(['gato', 'cachorro', 'gato'], { model: 'acme/any' })
    assert.deepEqual(cat, alone)
    assert.deepEqual(again, alone)
    assert.notDeepEqual(dog, cat)
  })

  test('as base64 has the same floats as the other format, little-endian', async () => {
    const input = ['um', 'dois']
    const floats = await embed(input)
    const response = await post({ input, encoding_format: 'base64' })
    const { data } = (await response.json()) as { data: { embedding: string }[] }
    const decoded = data.map(({ embedding }) => {
      const bytes = Buffer.from(embedding, 'base64')
      return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4))
    })
    assert.deepEqual(decoded, floats)
  })

  test('reaches the official client, which asks for base64', async () => {
    const { data, usage } = await client.embeddings.create({ model: 'x', input: ['um', 'dois'] })
    assert.deepEqual(
      data.map((one) => Array.from(one.embedding)),
      await embed(['um', 'dois']),
    )
    assert.equal(usage.prompt_tokens, countTokens('um') + countTokens('dois'))
  })

  test('of tokens counts them, and one list of tokens is one input', async () => {
    const usageOf = async (input: unknown): Promise<unknown> => {
      const body = (await (await post({ input })).json()) as EmbeddingBody & { usage: object }
      return [body.data.length, body.usage]
    }
    assert.deepEqual(await usageOf([5, 6, 7]), [1, { prompt_tokens: 3, total_tokens: 3 }])
    assert.deepEqual(await usageOf([[5, 6, 7], [0]]), [2, { prompt_tokens: 4, total_tokens: 4 }])
    const [[one], [other]] = [await embed([5, 6, 7]), await embed([[5, 6, 7]])]
    assert.deepEqual(one, other)
    assert.notDeepEqual(one, (await embed('[5,6,7]'))[0])
  })

  test('comes for 2048 inputs', async () => {
    assert.equal((await embed(MANY, { dimensions: 32 })).length, 2048)
  })

  test('of 2048 inputs lets other calls be answered while it is computed', async () => {
    // Without sockets, whose pace is the machine's: each pass of the event loop is a turn for the others.
    const embeddings = createSandboxEmbeddings(openTokenizer)
    const answered: string[] = []
    const ask = async (name: string, input: unknown): Promise<void> => {
      await embeddings.embed(
        exchangeWithoutSocket(),
        JSON.stringify({ model: 'm', input, dimensions: 512 }),
      )
      answered.push(name)
    }
    await ask('to open the tokenizer', 'um')
    const many = ask('many', MANY)
    for (const name of ['first', 'second', 'third']) {
      await new Promise((resolve) => setImmediate(resolve))
      await ask(name, 'um')
    }
    await many
    assert.deepEqual(answered, ['to open the tokenizer', 'first', 'second', 'third', 'many'])
  })
})

describe('a bad embedding request', () => {
  const faults: [string, object, string, string | null][] = [
    ['no input', { input: undefined }, 'input', 'missing_required_parameter'],
    ['an input of null', { input: null }, 'input', 'missing_required_parameter'],
    ['an empty text', { input: '' }, 'input', 'empty_string'],
    ['no inputs', { input: [] }, 'input', 'empty_array'],
    ['an empty text among others', { input: ['a', ''] }, 'input[1]', 'empty_string'],
    ['an empty list of tokens', { input: [[1], []] }, 'input[1]', 'empty_array'],
    ['2049 inputs', { input: Array(2049).fill('a') }, 'input', 'array_above_max_length'],
    ['a token that is a fraction', { input: [1, 1.5] }, 'input[1]', 'invalid_value'],
    ['a token below 0', { input: [[1], [2, -1]] }, 'input[1][1]', 'invalid_value'],
    ['a text among tokens', { input: [1, 'a'] }, 'input[1]', 'invalid_value'],
    ['a token among texts', { input: ['a', 1] }, 'input[1]', 'invalid_type'],
    ['an object as input', { input: {} }, 'input', 'invalid_type'],
    ['8193 tokens in an input', { input: Array(8193).fill(1) }, 'input', null],
    [
      '300,001 tokens in all',
      { input: [...Array<number[]>(36).fill(Array(8192).fill(1)), Array(5089).fill(1)] },
      'input',
      'max_tokens_per_request',
    ],
    ['dimensions 0', { dimensions: 0 }, 'dimensions', 'integer_below_min_value'],
    ['dimensions 4097', { dimensions: 4097 }, 'dimensions', 'integer_above_max_value'],
    ['dimensions 1.5', { dimensions: 1.5 }, 'dimensions', 'invalid_type'],
    ['an unknown encoding', { encoding_format: 'int8' }, 'encoding_format', 'invalid_value'],
    ['no model', { model: undefined }, 'model', 'missing_required_parameter'],
  ]
  for (const [what, fault, param, code] of faults) {
    test(`(${what}) gets 400 in OpenAI's shape, naming the field`, async () => {
      const response = await post({ input: 'texto', ...fault })
      assert.equal(response.status, 400)
      const { error } = (await response.json()) as { error: Record<string, unknown> }
      assert.deepEqual(Object.keys(error), ['message', 'type', 'param', 'code'])
      assert.deepEqual(
        [error.type, error.param, error.code],
        ['invalid_request_error', param, code],
      )
    })
  }

  test('counts as refused, and a good one adds its tokens', async (context) => {
    const own = await startSandboxUpstream()
    context.after(() => own.close())
    for (const input of ['um dois', '']) {
      const body = JSON.stringify({ model: 'm', input })
      await (await fetch(`${own.baseUrl}/embeddings`, { method: 'POST', body })).text()
    }
    const { calls, ...sums } = own.counts
    assert.equal(calls.size, 0)
    assert.deepEqual(sums, {
      requests: 2,
      completed: 1,
      refused: 1,
      broken: 0,
      aborted: 0,
      promptTokens: countTokens('um dois'),
      completionTokens: 0,
      webSearches: 0,
    })
  })
})
