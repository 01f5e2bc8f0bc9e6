// deep: client libraries
/**
 * The Vercel AI SDK against the gateway, with its provider for compatible servers: only `baseURL` and `apiKey` are
 * changed.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createOpenAICompatible, type OpenAICompatibleProvider } from '@ai-sdk/openai-compatible'
import {
  APICallError,
  type LanguageModelV4,
  type LanguageModelV4FunctionTool,
  type LanguageModelV4Prompt,
  type LanguageModelV4StreamPart,
  type LanguageModelV4ToolCall,
} from '@ai-sdk/provider'
import { seedCustomer } from '../harness/test-database.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { nanoOf, withExactCharge } from '../harness/media-calls.ts'

let gateway: TestGateway

before(async () => {
  gateway = await startGateway()
})

after(() => gateway.stop())

const providerOf = (apiKey: string): OpenAICompatibleProvider =>
  createOpenAICompatible({
    name: 'catraca',
    baseURL: gateway.node.baseUrl,
    apiKey,
    includeUsage: true,
    supportsStructuredOutputs: true,
  })

const user = (text: string): LanguageModelV4Prompt => [
  { role: 'user', content: [{ type: 'text', text }] },
]
const HELLO = user('Olá, catraca!')

const PLACE: LanguageModelV4FunctionTool['inputSchema'] = {
  type: 'object',
  properties: { cidade: { type: 'string' }, dias: { type: 'integer' } },
  required: ['cidade', 'dias'],
  additionalProperties: false,
}
const tool = (name: string): LanguageModelV4FunctionTool => ({
  type: 'function',
  name,
  description: 'Do tempo de uma cidade.',
  inputSchema: PLACE,
})
const TOOLS = [tool('clima'), tool('mares')]

function assertPlace(text: string): void {
  const { cidade, dias, ...rest } = JSON.parse(text) as Record<string, unknown>
  assert.equal(typeof cidade, 'string')
  assert.ok(Number.isInteger(dias))
  assert.deepEqual(rest, {})
}

/** The cost that the gateway adds to the format, in nano-BRL. */
const costOf = (body: unknown): bigint =>
  nanoOf((body as { cost_billed_brl?: unknown }).cost_billed_brl)

type Generated = Awaited<ReturnType<LanguageModelV4['doGenerate']>>

const textOf = ({ content }: Generated): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('')

const callsOf = ({ content }: Generated): LanguageModelV4ToolCall[] =>
  content.filter((part) => part.type === 'tool-call')

function assertUsage({ usage }: Pick<Generated, 'usage'>): void {
  assert.ok((usage.inputTokens.total ?? 0) > 0)
  assert.ok((usage.outputTokens.total ?? 0) > 0)
}

/** The parts of a stream, and the cost in its last chunk. */
async function readStream(
  model: LanguageModelV4,
  options: Parameters<LanguageModelV4['doStream']>[0],
): Promise<{ parts: LanguageModelV4StreamPart[]; text: string; cost: bigint }> {
  const { stream } = await model.doStream({ ...options, includeRawChunks: true })
  const parts: LanguageModelV4StreamPart[] = []
  for await (const part of stream) parts.push(part)
  const raw = parts.filter((part) => part.type === 'raw')
  const last = raw.findLast(({ rawValue }) => 'cost_billed_brl' in (rawValue as object))
  return {
    parts,
    text: parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join(''),
    cost: costOf(last?.rawValue),
  }
}

test('a text is generated, with its usage and its cost', async () => {
  await withExactCharge(gateway, async (secret) => {
    const answer = await providerOf(secret)('sandbox-chat').doGenerate({
      prompt: [{ role: 'system', content: 'Responda em português.' }, ...HELLO],
      maxOutputTokens: 200,
      temperature: 0.2,
      stopSequences: ['§'],
      seed: 7,
    })
    assert.match(textOf(answer), /Olá, catraca!/)
    assert.equal(answer.finishReason.unified, 'stop')
    assert.equal(answer.response?.modelId, 'sandbox-chat')
    assertUsage(answer)
    return { cost: costOf(answer.response?.body) }
  })
})

test('a streamed text has the words and the cost of the plain one', async () => {
  await withExactCharge(gateway, async (secret) => {
    const model = providerOf(secret)('sandbox-chat')
    const whole = await model.doGenerate({ prompt: HELLO })
    const { parts, text, cost } = await readStream(model, { prompt: HELLO })
    assert.equal(text, textOf(whole))
    const finish = parts.at(-1)
    assert.ok(finish?.type === 'finish')
    assert.equal(finish.finishReason.unified, 'stop')
    assert.deepEqual(finish.usage.outputTokens.total, whole.usage.outputTokens.total)
    assert.equal(cost, costOf(whole.response?.body))
    return { cost: cost * 2n, calls: 2 }
  })
})

test('reasoning is separate from the text, plain and streamed', async () => {
  await withExactCharge(gateway, async (secret) => {
    const model = providerOf(secret)('sandbox-reasoning')
    const whole = await model.doGenerate({ prompt: HELLO })
    const reasoning = whole.content.find((part) => part.type === 'reasoning')?.text ?? ''
    assert.match(reasoning, /sandbox/)
    assert.ok((whole.usage.outputTokens.reasoning ?? 0) > 0)
    const { parts, cost } = await readStream(model, { prompt: HELLO })
    assert.equal(
      parts.map((part) => (part.type === 'reasoning-delta' ? part.delta : '')).join(''),
      reasoning,
    )
    return { cost: costOf(whole.response?.body) + cost, calls: 2 }
  })
})

test('a tool is called, and the model answers its result', async () => {
  await withExactCharge(gateway, async (secret) => {
    const model = providerOf(secret)('sandbox-chat')
    const prompt = user('Como está o tempo no Recife?')
    const asked = await model.doGenerate({ prompt, tools: TOOLS, toolChoice: { type: 'auto' } })
    assert.equal(asked.finishReason.unified, 'tool-calls')
    const [call, ...others] = callsOf(asked)
    assert.ok(call)
    assert.deepEqual([call.toolName, others.length], ['clima', 0])
    assertPlace(call.input)
    const { toolCallId, toolName } = call
    const answered = await model.doGenerate({
      prompt: [
        ...prompt,
        { role: 'assistant', content: [{ ...call, input: JSON.parse(call.input) as object }] },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId,
              toolName,
              output: { type: 'text', value: 'sol e 29 graus' },
            },
          ],
        },
      ],
      tools: TOOLS,
    })
    assert.match(textOf(answered), /clima.*sol e 29 graus/)
    return {
      cost: costOf(asked.response?.body) + costOf(answered.response?.body),
      calls: 2,
    }
  })
})

test('tools that are called in parallel arrive complete from a stream', async () => {
  await withExactCharge(gateway, async (secret) => {
    const { parts, cost } = await readStream(providerOf(secret)('sandbox-chat'), {
      prompt: user('Em paralelo: o tempo e a maré no Recife.'),
      tools: TOOLS,
    })
    const calls = parts.filter((part) => part.type === 'tool-call')
    assert.deepEqual(
      calls.map(({ toolName }) => toolName),
      ['clima', 'mares'],
    )
    for (const { input } of calls) assertPlace(input)
    const finish = parts.at(-1)
    assert.equal(finish?.type === 'finish' && finish.finishReason.unified, 'tool-calls')
    return { cost }
  })
})

test('the choice of a tool is respected', async () => {
  const answer = await providerOf(gateway.secret)('sandbox-chat').doGenerate({
    prompt: HELLO,
    tools: TOOLS,
    toolChoice: { type: 'tool', toolName: 'mares' },
  })
  assert.deepEqual(
    callsOf(answer).map(({ toolName }) => toolName),
    ['mares'],
  )
})

test('the text fits a JSON schema, plain and streamed', async () => {
  await withExactCharge(gateway, async (secret) => {
    const model = providerOf(secret)('sandbox-chat')
    const options = {
      prompt: HELLO,
      responseFormat: { type: 'json', name: 'lugar', schema: PLACE },
    } as const
    const whole = await model.doGenerate(options)
    assertPlace(textOf(whole))
    assert.deepEqual(whole.warnings, [])
    const streamed = await readStream(model, options)
    assertPlace(streamed.text)
    return { cost: costOf(whole.response?.body) + streamed.cost, calls: 2 }
  })
})

/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

test('images in the prompt reach the model, as bytes and as an address', async () => {
  await withExactCharge(gateway, async (secret) => {
    const answer = await providerOf(secret)('sandbox-chat').doGenerate({
      prompt: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'O que há nas fotos?' },
            {
              type: 'file',
              mediaType: 'image/png',
              data: { type: 'data', data: new Uint8Array(PNG) },
            },
            {
              type: 'file',
              mediaType: 'image/*',
              data: { type: 'url', url: new URL('https://example.com/foto.png') },
            },
          ],
        },
      ],
    })
    assert.match(textOf(answer), /Recebi 2 anexos/)
    return { cost: costOf(answer.response?.body) }
  })
})

test('texts are embedded, in their order', async () => {
  await withExactCharge(gateway, async (secret) => {
    const model = providerOf(secret).embeddingModel('sandbox-embedding')
    const both = await model.doEmbed({ values: ['catraca', 'trem'] })
    assert.deepEqual(
      both.embeddings.map((vector) => vector.length),
      [1_536, 1_536],
    )
    assert.ok((both.usage?.tokens ?? 0) > 0)
    const second = await model.doEmbed({ values: ['trem'] })
    assert.deepEqual(second.embeddings[0], both.embeddings[1])
    return { cost: costOf(both.response?.body) + costOf(second.response?.body), calls: 2 }
  })
})

test('embeddings have the requested number of dimensions', async () => {
  const { embeddings } = await providerOf(gateway.secret)
    .embeddingModel('text-embedding-3-large')
    .doEmbed({ values: ['catraca'], providerOptions: { catraca: { dimensions: 64 } } })
  assert.equal(embeddings[0]?.length, 64)
})

test('images are generated as real pictures of the requested size', async () => {
  await withExactCharge(gateway, async (secret) => {
    const { images } = await providerOf(secret)
      .imageModel('sandbox-image')
      .doGenerate({
        prompt: 'Uma catraca.',
        n: 2,
        size: '512x512',
        aspectRatio: undefined,
        seed: undefined,
        files: undefined,
        mask: undefined,
        providerOptions: { catraca: { quality: 'low' } },
      })
    assert.equal(images.length, 2)
    for (const image of images) {
      const png = typeof image === 'string' ? Buffer.from(image, 'base64') : Buffer.from(image)
      assert.equal(png.toString('latin1', 1, 4), 'PNG')
      assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [512, 512])
    }
    // This client does not show the cost of an image.
    return { cost: undefined }
  })
})

async function errorOf(call: PromiseLike<unknown>): Promise<APICallError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(APICallError.isInstance(error), `it ended with ${String(error)}`)
  return error
}

test("refusals become the SDK's errors, with our message and the right flag for retries", async () => {
  const own = providerOf(gateway.secret)
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '0' })
  const options = { prompt: HELLO }
  const cases: [number, RegExp, boolean, PromiseLike<unknown>][] = [
    [400, /temperature/, false, own('sandbox-chat').doGenerate({ ...options, temperature: 9 })],
    [400, /input/, false, own.embeddingModel('sandbox-embedding').doEmbed({ values: [''] })],
    [401, /Chave/, false, providerOf('sk-svc-none')('sandbox-chat').doGenerate(options)],
    [402, /Saldo/, false, providerOf(secret)('sandbox-chat').doGenerate(options)],
    [404, /catálogo/, false, own('gpt-99').doStream(options)],
    [429, /Aguarde/, true, own('sandbox-error-429').doGenerate(options)],
    [502, /Falha/, true, own('sandbox-error-500').doStream(options)],
    [503, /indisponível/, true, own('sandbox-error-503').doGenerate(options)],
  ]
  const errors = await Promise.all(cases.map(([, , , call]) => errorOf(call)))
  for (const [index, [status, message, isRetryable]] of cases.entries()) {
    const error = errors[index] as APICallError
    assert.deepEqual([error.statusCode, error.isRetryable], [status, isRetryable], error.message)
    assert.match(error.message, message)
  }
})

test('a stream that breaks upstream ends with an error, and its delivered part is charged', async () => {
  const { stream } = await providerOf(gateway.secret)('sandbox-cut-stream').doStream({
    prompt: HELLO,
  })
  const types: string[] = []
  for await (const { type } of stream) types.push(type)
  assert.ok(types.includes('text-delta') && types.includes('error'), types.join(' '))
})

test('after all of these calls nothing is held, and the audit is clean', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})
