// deep: client libraries
/** The official `openai` client against the gateway: only `baseURL` and `apiKey` are changed. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from 'openai'
import { parseBrl } from '../../src/platform/lib/money.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { ask } from '../harness/ask.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'

type Messages = OpenAI.ChatCompletionMessageParam[]

const MODEL = 'sandbox-chat'
const HELLO: Messages = [{ role: 'user', content: 'Olá, catraca!' }]

const PLACE = {
  type: 'object',
  properties: { cidade: { type: 'string' }, dias: { type: 'integer' } },
  required: ['cidade', 'dias'],
  additionalProperties: false,
}

const functionTool = (name: string): OpenAI.ChatCompletionFunctionTool => ({
  type: 'function',
  function: { name, description: 'Do tempo de uma cidade.', parameters: PLACE },
})
const TOOLS = [functionTool('clima'), functionTool('mares')]

const PLACE_FORMAT = {
  type: 'json_schema',
  json_schema: { name: 'lugar', strict: true, schema: PLACE },
} as const

let gateway: TestGateway
let client: OpenAI

before(async () => {
  gateway = await startGateway()
  client = clientOf(gateway.secret)
})

after(() => gateway.stop())

const clientOf = (apiKey: string): OpenAI =>
  new OpenAI({ baseURL: gateway.node.baseUrl, apiKey, maxRetries: 0 })

/** The fields that the gateway adds to the format. */
function costOf(answer: object): number {
  const cost = (answer as { cost_billed_brl?: unknown }).cost_billed_brl
  assert.ok(typeof cost === 'number' && cost > 0, `cost_billed_brl is ${String(cost)}`)
  return cost
}

/** The digits as the answer's text has them: a JavaScript number could have lost some. */
function amountIn(text: string, field: string): bigint {
  const digits = new RegExp(`"${field}":([0-9.eE+-]+)`).exec(text)?.[1]
  const amount = digits === undefined ? undefined : parseBrl(digits)
  assert.notEqual(amount, undefined, `${field} is "${digits}"`)
  return amount as bigint
}

async function usageText(secret: string): Promise<string> {
  const { status, text } = await ask(gateway.node.baseUrl, '/usage', { secret })
  assert.equal(status, 200)
  return text
}

/** Runs a call of a new customer: the reported cost is what the balance lost, to the last digit. */
async function withExactCharge(
  call: (own: OpenAI) => Promise<{ cost: number | undefined; calls?: number }>,
): Promise<void> {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '50' })
  const before = amountIn(await usageText(secret), 'balance_brl')
  const { cost, calls = 1 } = await call(clientOf(secret))
  const after = await usageText(secret)
  const lost = before - amountIn(after, 'balance_brl')
  assert.ok(lost > 0n, 'the call was charged')
  assert.equal(amountIn(after, 'total_spent_brl'), lost)
  const events = JSON.parse(after).usage_events as { cost_billed_brl: number }[]
  assert.equal(events.length, calls)
  const listed = [...after.matchAll(/"cost_billed_brl":([0-9.eE+-]+)/g)].map(
    ([, digits]) => parseBrl(digits as string) as bigint,
  )
  assert.equal(
    listed.reduce((sum, amount) => sum + amount, 0n),
    lost,
  )
  if (cost !== undefined) assert.equal(parseBrl(String(cost)), lost)
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

const textOf = (chunks: readonly OpenAI.ChatCompletionChunk[]): string =>
  chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')

function assertUsage(usage: OpenAI.CompletionUsage | null | undefined): void {
  assert.ok(usage)
  assert.ok(usage.prompt_tokens > 0 && usage.completion_tokens > 0)
  assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)
}

function assertPlace(value: unknown): void {
  const { cidade, dias, ...rest } = value as Record<string, unknown>
  assert.equal(typeof cidade, 'string')
  assert.ok(Number.isInteger(dias))
  assert.deepEqual(rest, {})
}

/** The function calls of an answer, each with arguments that fit the schema. */
function callsOf(
  message: OpenAI.ChatCompletionMessage | undefined,
): OpenAI.ChatCompletionMessageFunctionToolCall[] {
  return (message?.tool_calls ?? []).map((call) => {
    assert.ok(call.type === 'function')
    assert.match(call.id, /^call_/)
    assertPlace(JSON.parse(call.function.arguments))
    return call
  })
}

const namesOf = (calls: readonly OpenAI.ChatCompletionMessageFunctionToolCall[]): string[] =>
  calls.map((call) => call.function.name)

test('a plain completion has its text, its usage and its cost, which is what the balance lost', async () => {
  await withExactCharge(async (own) => {
    const completion = await own.chat.completions.create({ model: MODEL, messages: HELLO })
    const [choice] = completion.choices
    assert.equal(completion.object, 'chat.completion')
    assert.equal(completion.model, MODEL)
    assert.equal(choice?.message.role, 'assistant')
    assert.match(choice?.message.content ?? '', /Olá, catraca!/)
    assert.equal(choice?.finish_reason, 'stop')
    assertUsage(completion.usage)
    return { cost: costOf(completion) }
  })
})

test("the client shows the gateway's request id, for support", async () => {
  const { response, request_id } = await client.chat.completions
    .create({ model: MODEL, messages: HELLO })
    .withResponse()
  assert.match(request_id ?? '', /^[0-9a-f-]{36}$/)
  assert.equal(request_id, response.headers.get('x-svc-request-id'))
})

test('the number of choices, the token limit and the stop text are respected', async () => {
  const completion = await client.chat.completions.create({
    model: MODEL,
    messages: HELLO,
    n: 2,
    max_completion_tokens: 5,
  })
  assert.deepEqual(
    completion.choices.map((choice) => [choice.index, choice.finish_reason]),
    [
      [0, 'length'],
      [1, 'length'],
    ],
  )
  assert.ok((completion.usage?.completion_tokens ?? 99) <= 10)
})

test('a stream has the text of the plain answer, and no usage unless it was requested', async () => {
  await withExactCharge(async (own) => {
    const plain = await own.chat.completions.create({ model: MODEL, messages: HELLO })
    const chunks = await collect(
      await own.chat.completions.create({ model: MODEL, messages: HELLO, stream: true }),
    )
    assert.ok(chunks.length > 3, 'it comes in parts')
    assert.equal(textOf(chunks), plain.choices[0]?.message.content)
    assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, 'stop')
    for (const chunk of chunks) {
      assert.equal(chunk.object, 'chat.completion.chunk')
      assert.equal(chunk.id, chunks[0]?.id)
      assert.ok(!chunk.usage && chunk.choices.length > 0 && !('cost_billed_brl' in chunk))
    }
    // The same words cost the same, streamed or plain.
    return { cost: Number((costOf(plain) * 2).toFixed(9)), calls: 2 }
  })
})

test('a stream with include_usage ends with the usage and the cost, which is what the balance lost', async () => {
  await withExactCharge(async (own) => {
    const chunks = await collect(
      await own.chat.completions.create({
        model: MODEL,
        messages: HELLO,
        stream: true,
        stream_options: { include_usage: true },
      }),
    )
    const last = chunks.pop()
    assert.ok(last)
    assert.deepEqual(last.choices, [])
    assertUsage(last.usage)
    assert.notEqual(textOf(chunks), '')
    assert.ok(chunks.every((chunk) => !chunk.usage))
    return { cost: costOf(last) }
  })
})

test('the stream helper collects the whole completion', async () => {
  await withExactCharge(async (own) => {
    const stream = own.chat.completions.stream({
      model: MODEL,
      messages: HELLO,
      stream_options: { include_usage: true },
    })
    let text = ''
    stream.on('content', (delta) => (text += delta))
    const completion = await stream.finalChatCompletion()
    assert.notEqual(text, '')
    assert.equal(completion.choices[0]?.message.content, text)
    assert.equal(await stream.finalContent(), text)
    assertUsage(await stream.totalUsage())
    return { cost: undefined }
  })
})

test('a client that leaves a stream early is charged, and its money is not held for long', async () => {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '50' })
  const stream = await clientOf(secret).chat.completions.create({
    model: 'sandbox-long',
    messages: HELLO,
    stream: true,
  })
  let read = ''
  for await (const chunk of stream) {
    read += chunk.choices[0]?.delta.content ?? ''
    if (read.length > 20) break
  }
  await untilNoHoldIsOpen(gateway.database)
  assert.ok(amountIn(await usageText(secret), 'total_spent_brl') > 0n)
})

test('a tool is called, and the model answers its result', async () => {
  await withExactCharge(async (own) => {
    const messages: Messages = [{ role: 'user', content: 'Como está o tempo no Recife?' }]
    const asked = await own.chat.completions.create({ model: MODEL, messages, tools: TOOLS })
    const [choice] = asked.choices
    assert.equal(choice?.finish_reason, 'tool_calls')
    assert.equal(choice?.message.content, null)
    const [call, ...others] = callsOf(choice?.message)
    assert.ok(choice && call)
    assert.deepEqual([call.function.name, others.length], ['clima', 0])
    const answered = await own.chat.completions.create({
      model: MODEL,
      messages: [
        ...messages,
        choice.message,
        { role: 'tool', tool_call_id: call.id, content: 'sol e 29 graus' },
      ],
      tools: TOOLS,
    })
    assert.equal(answered.choices[0]?.finish_reason, 'stop')
    assert.match(answered.choices[0]?.message.content ?? '', /clima.*sol e 29 graus/)
    return { cost: Number((costOf(asked) + costOf(answered)).toFixed(9)), calls: 2 }
  })
})

const PARALLEL: Messages = [{ role: 'user', content: 'Em paralelo: o tempo e a maré no Recife.' }]

test('tools are called in parallel, unless the client forbids it', async () => {
  const both = await client.chat.completions.create({
    model: MODEL,
    messages: PARALLEL,
    tools: TOOLS,
  })
  const calls = callsOf(both.choices[0]?.message)
  assert.deepEqual(namesOf(calls), ['clima', 'mares'])
  assert.equal(new Set(calls.map((call) => call.id)).size, 2)
  const single = await client.chat.completions.create({
    model: MODEL,
    messages: PARALLEL,
    tools: TOOLS,
    parallel_tool_calls: false,
  })
  assert.deepEqual(namesOf(callsOf(single.choices[0]?.message)), ['clima'])
})

test('tool calls arrive complete from a stream', async () => {
  await withExactCharge(async (own) => {
    const stream = own.chat.completions.stream({ model: MODEL, messages: PARALLEL, tools: TOOLS })
    const done: string[] = []
    stream.on('tool_calls.function.arguments.done', ({ name, arguments: text }) => {
      assertPlace(JSON.parse(text))
      done.push(name)
    })
    const completion = await stream.finalChatCompletion()
    const [choice] = completion.choices
    assert.equal(choice?.finish_reason, 'tool_calls')
    assert.deepEqual(namesOf(callsOf(choice?.message)), ['clima', 'mares'])
    assert.deepEqual(done, ['clima', 'mares'])
    return { cost: undefined }
  })
})

test('the runTools helper runs the functions and returns the final text', async () => {
  const places: unknown[] = []
  const runner = client.chat.completions.runTools({
    model: MODEL,
    messages: [{ role: 'user', content: 'Como está o tempo no Recife?' }],
    tools: [
      {
        type: 'function',
        function: {
          name: 'clima',
          description: 'Do tempo de uma cidade.',
          parameters: PLACE,
          parse: JSON.parse,
          function: (place: object) => {
            places.push(place)
            return 'garoa fina'
          },
        },
      },
    ],
  })
  assert.match((await runner.finalContent()) ?? '', /garoa fina/)
  assert.equal(places.length, 1)
  assertPlace(places[0])
})

test('JSON mode: the text is an object', async () => {
  await withExactCharge(async (own) => {
    const completion = await own.chat.completions.create({
      model: MODEL,
      messages: [{ role: 'user', content: 'Responda em JSON.' }],
      response_format: { type: 'json_object' },
    })
    const value: unknown = JSON.parse(completion.choices[0]?.message.content ?? '')
    assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value))
    return { cost: costOf(completion) }
  })
})

test('the text fits a JSON schema, also through `parse` and in a stream', async () => {
  await withExactCharge(async (own) => {
    const request = { model: MODEL, messages: HELLO, response_format: PLACE_FORMAT }
    const completion = await own.chat.completions.create(request)
    assertPlace(JSON.parse(completion.choices[0]?.message.content ?? ''))

    const parsed = await own.chat.completions.parse(request)
    assertPlace(JSON.parse(parsed.choices[0]?.message.content ?? ''))

    const streamed = await own.chat.completions.stream(request).finalContent()
    assertPlace(JSON.parse(streamed ?? ''))
    return { cost: Number((costOf(completion) + 2 * costOf(parsed)).toFixed(9)), calls: 3 }
  })
})

/** The error with which a call of this client ends. */
async function errorOf(own: OpenAI, model = MODEL, more: object = {}): Promise<APIError> {
  const error: unknown = await own.chat.completions
    .create({ model, messages: HELLO, ...more, stream: false })
    .then(
      () => undefined,
      (reason: unknown) => reason,
    )
  assert.ok(error instanceof APIError, `it ended with ${String(error)}`)
  return error
}

function assertError(error: APIError, status: number, code: string): void {
  assert.equal(error.status, status, error.message)
  assert.deepEqual([error.code, error.type], [code, code])
  assert.equal(error.message, `${status} ${(error.error as { message: string }).message}`)
  assert.match(error.requestID ?? '', /^[0-9a-f-]{36}$/)
}

test('400: a faulty request is a BadRequestError', async () => {
  for (const more of [{ temperature: 3 }, { messages: [] }, { max_tokens: 0 }]) {
    const error = await errorOf(client, MODEL, more)
    assert.ok(error instanceof BadRequestError)
    assertError(error, 400, 'invalid_request')
  }
})

test('401: a wrong key is an AuthenticationError', async () => {
  const error = await errorOf(clientOf('sk-svc-none'))
  assert.ok(error instanceof AuthenticationError)
  assertError(error, 401, 'authentication_failed')
})

test('402: an empty balance is an APIError with the status and the code', async () => {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '0' })
  assertError(await errorOf(clientOf(secret)), 402, 'insufficient_balance')
})

test('403: a model that the key may not call is a PermissionDeniedError', async () => {
  const { secret } = await seedCustomer(gateway.database.db, {
    balanceBrl: '10',
    modelIds: ['sandbox-chat'],
  })
  const error = await errorOf(clientOf(secret), 'sandbox-cached')
  assert.ok(error instanceof PermissionDeniedError)
  assertError(error, 403, 'key_model_access_denied')
})

test('404: an unknown model is a NotFoundError', async () => {
  const error = await errorOf(client, 'gpt-99')
  assert.ok(error instanceof NotFoundError)
  assertError(error, 404, 'model_not_found')
})

test('429: a limited key is a RateLimitError that says when to retry', async () => {
  const { secret } = await seedCustomer(gateway.database.db, {
    balanceBrl: '10',
    requestsPerMinute: 1,
  })
  const own = clientOf(secret)
  // The minute may end between two of the calls.
  let error: APIError | undefined
  for (let left = 4; left > 0 && !error; left--) {
    error = await own.chat.completions.create({ model: MODEL, messages: HELLO }).then(
      () => undefined,
      (reason: unknown) => reason as APIError,
    )
  }
  assert.ok(error instanceof RateLimitError)
  assertError(error, 429, 'api_key_rate_limited')
  assert.match(error.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
})

test('a request for a stream is refused with the same typed errors', async () => {
  const refused = client.chat.completions.create({ model: 'gpt-99', messages: HELLO, stream: true })
  await assert.rejects(refused, NotFoundError)
  const helper = client.chat.completions.stream({ model: 'gpt-99', messages: HELLO })
  await assert.rejects(helper.finalChatCompletion(), NotFoundError)
})

test('a stream that breaks upstream ends the iteration with an APIError', async () => {
  const stream = await client.chat.completions.create({
    model: 'sandbox-cut-stream',
    messages: HELLO,
    stream: true,
  })
  const error: unknown = await collect(stream).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof APIError)
  assert.equal(error.code, 'upstream_error')
})

test("the client's own retries overcome an upstream that fails now and then", async () => {
  const patient = new OpenAI({
    baseURL: gateway.node.baseUrl,
    apiKey: gateway.secret,
    maxRetries: 3,
  })
  for (let left = 3; left > 0; left--) {
    const completion = await patient.chat.completions.create({
      model: 'sandbox-flaky',
      messages: HELLO,
    })
    assert.notEqual(completion.choices[0]?.message.content, '')
  }
})

test('after all of these calls nothing is held, and the audit is clean', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})
