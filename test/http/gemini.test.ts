/** Google's format over real sockets: answers, streams of both kinds, calls of functions, errors, vectors, the catalog. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask, billedIn, eventsOf, type Ask, type Asked } from '../harness/ask.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { outcomesOf, theOutcome } from '../harness/media-calls.ts'
import { seedCustomer } from '../harness/test-database.ts'

let gateway: TestGateway
let origin: string

before(async () => {
  gateway = await startGateway()
  origin = new URL(gateway.node.baseUrl).origin
})
after(() => gateway.stop())

const HELLO = { contents: [{ parts: [{ text: 'Olá, catraca!' }] }] }

function call(method: string, body: unknown, options: Ask & { model?: string } = {}) {
  const { model = 'sandbox-chat', ...more } = options
  const path = `/v1beta/models/${model}:${method}`
  return ask(origin, path, { secret: gateway.secret, body, ...more })
}

/** The answers of a stream as events, or as a list. */
function streamed({ text, headers }: Asked): any[] {
  if (headers.get('content-type')?.startsWith('application/json')) return JSON.parse(text)
  return eventsOf(text).map((one) => JSON.parse(one))
}

const textOf = (answers: any[]): string =>
  answers
    .flatMap(({ candidates = [] }) => candidates[0]?.content?.parts ?? [])
    .map(({ text = '', thought }) => (thought ? '' : text))
    .join('')

function assertError(answer: Asked, status: number, name: string, reason: string): void {
  const { error } = answer.json
  assert.deepEqual([answer.status, error.code, error.status], [status, status, name], answer.text)
  assert.equal(error.details[0].reason, reason)
  assert.match(error.message, /[a-zà-ú]/)
}

test('a content is answered in the format, and charged what the answer says', async () => {
  const answer = await call('generateContent', HELLO)
  assert.equal(answer.status, 200, answer.text)
  const { candidates, usageMetadata, modelVersion } = answer.json
  const [{ content, finishReason, index }] = candidates
  assert.deepEqual([content.role, finishReason, index], ['model', 'STOP', 0])
  assert.match(content.parts[0].text, /Olá, catraca!/)
  assert.equal(modelVersion, 'sandbox-chat')
  const outcome = await theOutcome(gateway, answer.requestId)
  assert.deepEqual(
    [usageMetadata.promptTokenCount, usageMetadata.candidatesTokenCount],
    [outcome.prompt_tokens, outcome.completion_tokens],
  )
  assert.equal(usageMetadata.totalTokenCount, outcome.prompt_tokens + outcome.completion_tokens)
  assert.ok(Number(billedIn(answer.text)) > 0)
})

test('a stream is events or one list, with the same answer, and its end has the cost', async () => {
  const whole = await call('generateContent', HELLO)
  for (const [query, type] of [
    ['?alt=sse', 'text/event-stream'],
    ['', 'application/json'],
    ['?alt=json', 'application/json'],
  ] as const) {
    const answer = await call(`streamGenerateContent${query}`, HELLO)
    assert.match(answer.headers.get('content-type') ?? '', new RegExp(`^${type}`))
    const answers = streamed(answer)
    assert.ok(answers.length > 2)
    assert.equal(textOf(answers), textOf([whole.json]))
    // Clients read the text of the first part of each.
    for (const { candidates } of answers)
      assert.equal(typeof candidates[0].content.parts[0].text, 'string')
    const last = answers.at(-1)
    assert.equal(last.candidates[0].finishReason, 'STOP')
    assert.deepEqual(last.usageMetadata, whole.json.usageMetadata)
    assert.equal(billedIn(answer.text), billedIn(whole.text))
  }
})

test('a key is read from each place where clients of the format put it, and from no other', async () => {
  const { secret } = gateway
  for (const given of [
    { headers: { 'x-goog-api-key': secret } },
    { headers: { authorization: `Bearer ${secret}` } },
    { query: `?key=${secret}` },
  ] as { headers?: Record<string, string>; query?: string }[]) {
    const { query = '', headers = {} } = given
    const more = { secret: undefined, headers }
    assert.equal((await call(`generateContent${query}`, HELLO, more)).status, 200)
    assert.equal((await ask(origin, `/v1beta/models${query}`, { headers })).status, 200)
  }
  const none = await call('generateContent', HELLO, { secret: undefined })
  assertError(none, 401, 'UNAUTHENTICATED', 'AUTHENTICATION_FAILED')
  const wrong = await call('generateContent?key=sk-svc-none', HELLO, { secret: undefined })
  assertError(wrong, 401, 'UNAUTHENTICATED', 'AUTHENTICATION_FAILED')
  const chat = await ask(origin, `/v1/chat/completions?key=${secret}`, { body: {} })
  assert.equal(chat.status, 401)
  assert.ok(!gateway.node.log.join('\n').includes(secret))
})

const TOOLS = [
  {
    function_declarations: [
      {
        name: 'olhar',
        description: 'Olha.',
        parameters: {
          type: 'OBJECT',
          properties: { onde: { type: 'STRING', nullable: true }, max_itens: { type: 'INTEGER' } },
          required: ['onde'],
        },
      },
    ],
  },
]

test('a function is called with its id, and its result is read with and without it', async () => {
  for (const method of ['generateContent', 'streamGenerateContent']) {
    const contents = [{ role: 'user', parts: [{ text: 'chame olhar {"onde":"ali"}' }] }]
    const asked = await call(method, { contents, tools: TOOLS })
    const [answer] = [asked.json].flat().slice(-1)
    const { content, finishReason } = answer.candidates[0]
    assert.equal(finishReason, 'STOP')
    const { functionCall } = content.parts[0]
    assert.deepEqual([functionCall.name, functionCall.args], ['olhar', { onde: 'ali' }])
    for (const id of [functionCall.id, undefined]) {
      const functionResponse = { id, name: 'olhar', response: { output: 'vi' } }
      const said = id === undefined ? { functionCall: { ...functionCall, id } } : content.parts[0]
      const next = await call('generateContent', {
        contents: [
          ...contents,
          { role: 'model', parts: [said] },
          { role: 'function', parts: [{ functionResponse }] },
        ],
        tools: TOOLS,
      })
      assert.match(next.json.candidates[0].content.parts[0].text, /vi/, next.text)
    }
  }
})

test('what Google ran, and thoughts that nobody here sealed, are left out of a conversation', async () => {
  const said = [
    { text: 'Hm.', thought: true, thoughtSignature: 'c2tpcA==' },
    { executableCode: { language: 'PYTHON', code: '1' } },
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
    { text: 'Um.', thoughtSignature: 'skip_thought_signature_validator' },
  ]
  const contents = [...HELLO.contents, { role: 'model', parts: said }, ...HELLO.contents]
  const bare = [...HELLO.contents, { role: 'model', parts: said.slice(-1) }, ...HELLO.contents]
  const answer = await call('generateContent', { contents })
  assert.equal(answer.status, 200, answer.text)
  const { usageMetadata } = (await call('generateContent', { contents: bare })).json
  assert.deepEqual(answer.json.usageMetadata, usageMetadata)
})

test('thoughts are shown to who asks for them, and their tokens are counted apart', async () => {
  const model = 'sandbox-reasoning'
  for (const includeThoughts of [false, true])
    for (const method of ['generateContent', 'streamGenerateContent?alt=sse']) {
      const generation_config = { thinking_config: { include_thoughts: includeThoughts } }
      const answer = await call(method, { ...HELLO, generation_config }, { model })
      const answers = method === 'generateContent' ? [answer.json] : streamed(answer)
      const parts = answers.flatMap(({ candidates }) => candidates[0].content.parts)
      assert.equal(
        parts.some(({ thought }) => thought === true),
        includeThoughts,
        answer.text,
      )
      const { thoughtsTokenCount, candidatesTokenCount, promptTokenCount, totalTokenCount } =
        answers.at(-1).usageMetadata
      assert.ok(thoughtsTokenCount > 0)
      assert.equal(totalTokenCount, promptTokenCount + candidatesTokenCount + thoughtsTokenCount)
    }
})

test('a limit, several candidates and a schema are those of the call', async () => {
  const limited = await call('generateContent', {
    ...HELLO,
    generationConfig: { maxOutputTokens: '3', candidateCount: 2 },
  })
  assert.equal(limited.json.candidates.length, 2, limited.text)
  for (const { finishReason } of limited.json.candidates) assert.equal(finishReason, 'MAX_TOKENS')
  const { completion_tokens: tokens } = await theOutcome(gateway, limited.requestId)
  assert.equal(tokens, 6)
  const shaped = await call('generateContent', {
    ...HELLO,
    generation_config: {
      response_mime_type: 'application/json',
      response_schema: {
        type: 'OBJECT',
        properties: { nome: { type: 'STRING' }, total_geral: { type: 'INTEGER' } },
        required: ['nome', 'total_geral'],
      },
    },
  })
  const { nome, total_geral: total } = JSON.parse(textOf([shaped.json]))
  assert.deepEqual([typeof nome, typeof total], ['string', 'number'])
})

test('what no model here can do is refused, charged nothing, and named', async () => {
  const config = (fields: object): object => ({ ...HELLO, generationConfig: fields })
  const parts = (...list: object[]): object => ({ contents: [{ parts: list }] })
  const refused: readonly (readonly [object, RegExp])[] = [
    [{}, /contents/],
    [{ contents: 'Oi' }, /contents/],
    [{ contents: [] }, /contents/],
    [{ contents: [{ role: 'system', parts: [] }] }, /role/],
    [parts({}), /parts\[0\]/],
    [parts({ functionResponse: { name: 'x', response: {} } }), /functionResponse/],
    [parts({ fileData: { mimeType: 'video/mp4', fileUri: 'https://youtu.be/x' } }), /fileData/],
    [parts({ fileData: { fileUri: 'https://youtu.be/x' } }), /fileData/],
    [parts({ fileData: { mimeType: 'application/pdf', fileUri: 'gs://b/a.pdf' } }), /fileUri/],
    [parts({ fileData: { mimeType: 'image/png', fileUri: 'http://10.0.0.1/a.png' } }), /endereço/],
    [parts({ inlineData: { mimeType: 'video/mp4', data: 'AAAA' } }), /file_data|vídeo/],
    [{ ...HELLO, cachedContent: 'cachedContents/1' }, /cachedContent/],
    [{ ...HELLO, tools: [{ googleSearch: {} }] }, /tools/],
    [{ ...HELLO, tools: [{ codeExecution: {} }] }, /tools/],
    [{ ...HELLO, tools: [{ code_execution: {} }] }, /tools/],
    [{ ...HELLO, tools: [{ functionDeclarations: [] }, { urlContext: {} }] }, /tools/],
    [{ ...HELLO, tools: [{ functionDeclarations: [{}] }] }, /name/],
    [config({ responseModalities: ['TEXT', 'IMAGE'] }), /responseModalities/],
    [config({ responseMimeType: 'text/x.enum' }), /responseMimeType/],
    [config({ responseLogprobs: true }), /responseLogprobs/],
    [config({ maxOutputTokens: 0 }), /maxOutputTokens/],
    [config({ candidateCount: 9 }), /candidateCount/],
    [config({ temperature: 'muito' }), /temperature/],
    [{ ...HELLO, generationConfig: [] }, /generationConfig/],
  ]
  for (const [body, field] of refused)
    for (const method of ['generateContent', 'streamGenerateContent']) {
      const answer = await call(method, body)
      assertError(answer, 400, 'INVALID_ARGUMENT', 'INVALID_REQUEST')
      assert.match(answer.json.error.message, field)
      assert.deepEqual(await outcomesOf(gateway, answer.requestId), [])
    }
})

test('each refusal has the status that clients of the format know, and how long they wait', async () => {
  const poor = await seedCustomer(gateway.database.db, { balanceBrl: '0' })
  const rare = await seedCustomer(gateway.database.db, { balanceBrl: '1', requestsPerMinute: 1 })
  const lacking = await call('generateContent', HELLO, { secret: poor.secret })
  assertError(lacking, 402, 'FAILED_PRECONDITION', 'INSUFFICIENT_BALANCE')
  const unknown = await call('generateContent', HELLO, { model: 'nenhum' })
  assertError(unknown, 404, 'NOT_FOUND', 'MODEL_NOT_FOUND')
  for (const [model, status, name] of [
    ['sandbox-error-500', 502, 'INTERNAL'],
    ['sandbox-error-503', 503, 'UNAVAILABLE'],
    ['sandbox-error-429', 429, 'RESOURCE_EXHAUSTED'],
  ] as const) {
    const { json, text } = await call('generateContent', HELLO, { model })
    assert.deepEqual([json.error.code, json.error.status], [status, name], text)
  }
  await call('countTokens', HELLO, { secret: rare.secret })
  const often = await call('generateContent', HELLO, { secret: rare.secret })
  assertError(often, 429, 'RESOURCE_EXHAUSTED', 'API_KEY_RATE_LIMITED')
  const { retryDelay } = often.json.error.details[1]
  assert.equal(retryDelay, `${often.headers.get('retry-after')}s`)
  for (const [path, reason] of [
    ['/v1beta/files', 'ENDPOINT_NOT_AVAILABLE'],
    ['/v1beta/models/sandbox-chat:predict', 'NOT_FOUND'],
  ] as const) {
    const missing = await ask(origin, path, { secret: gateway.secret, body: {} })
    assertError(missing, 404, 'NOT_FOUND', reason)
  }
})

test('a stream that breaks ends with the error of the format, as an event or as the last of the list', async () => {
  for (const query of ['?alt=sse', '']) {
    const model = 'sandbox-cut-stream'
    const answer = await call(`streamGenerateContent${query}`, HELLO, { model })
    const answers = streamed(answer)
    assert.notEqual(textOf(answers), '')
    assert.deepEqual([answers.at(-1).error.code, answers.at(-1).error.status], [502, 'INTERNAL'])
  }
})

test('the shield reads every place of a content, and puts back what it masked in an answer of each kind', async () => {
  const { db } = gateway.database
  const shielded = (action: 'mask' | 'block') =>
    seedCustomer(db, { balanceBrl: '10', shield: { action, uuids: 'near_pix' } })
  const cpf = '529.982.247-25'
  const text = `Meu CPF é ${cpf}.`
  const { secret } = await shielded('mask')
  for (const method of [
    'generateContent',
    'streamGenerateContent?alt=sse',
    'streamGenerateContent',
  ]) {
    const answer = await call(method, { contents: [{ parts: [{ text }] }] }, { secret })
    const answers = method === 'generateContent' ? [answer.json] : streamed(answer)
    assert.ok(textOf(answers).includes(cpf), answer.text)
  }
  const { secret: strict } = await shielded('block')
  const functionCall = { name: 'olhar', args: { cpf } }
  for (const body of [
    { contents: [{ parts: [{ text }] }] },
    { ...HELLO, systemInstruction: { parts: [{ text }] } },
    { contents: [...HELLO.contents, { role: 'model', parts: [{ functionCall }] }] },
    {
      contents: [
        ...HELLO.contents,
        { role: 'model', parts: [{ functionCall: { name: 'olhar' } }] },
        { parts: [{ functionResponse: { name: 'olhar', response: { cpf } } }] },
      ],
    },
    { ...HELLO, tools: [{ functionDeclarations: [{ name: 'olhar', description: text }] }] },
  ]) {
    const answer = await call('generateContent', body, { secret: strict })
    assertError(answer, 400, 'INVALID_ARGUMENT', 'PERSONAL_DATA_FOUND')
  }
})

test('tokens are counted free, of contents or of a whole request', async () => {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '0' })
  const counted = await call('countTokens', HELLO, { secret })
  const systemInstruction = { parts: { text: 'Seja breve, e muito, muito claro.' } }
  const generateContentRequest = { model: 'models/sandbox-chat', ...HELLO, systemInstruction }
  const whole = await call('countTokens', { generateContentRequest }, { secret })
  assert.ok(counted.json.totalTokens > 0, counted.text)
  assert.ok(whole.json.totalTokens > counted.json.totalTokens, whole.text)
})

test('vectors come one by one or in a list, as long as asked, and are charged', async () => {
  const model = 'sandbox-embedding'
  const content = { parts: [{ text: 'Olá' }] }
  const one = await call('embedContent', { content }, { model })
  const { values } = one.json.embedding
  assert.ok(values.length > 8, one.text.slice(0, 300))
  const request = { model: `models/${model}`, content, outputDimensionality: 8 }
  const list = await call('batchEmbedContents', { requests: [request, request] }, { model })
  assert.deepEqual(
    list.json.embeddings.map((each: any) => each.values.length),
    [8, 8],
    list.text.slice(0, 300),
  )
  const { cost_billed_nano_brl: cost } = await theOutcome(gateway, list.requestId)
  assert.ok(cost > 0n)
  for (const requests of [
    [request, { ...request, outputDimensionality: 9 }],
    [{ ...request, model: 'models/other' }],
    [{ content: { parts: [{ inlineData: {} }] } }],
    [],
  ])
    assertError(
      await call('batchEmbedContents', { requests }, { model }),
      400,
      'INVALID_ARGUMENT',
      'INVALID_REQUEST',
    )
})

test('the catalog is listed in pages, with what each model can be asked', async () => {
  const list = (query: string) => ask(origin, `/v1beta/models${query}`, { secret: gateway.secret })
  const all = (await list('?pageSize=1000')).json.models
  const seen: unknown[] = []
  for (let token = ''; ;) {
    const { models, nextPageToken } = (await list(`?pageSize=7&pageToken=${token}`)).json
    seen.push(...models)
    assert.ok(models.length <= 7)
    if (nextPageToken === undefined) break
    token = encodeURIComponent(nextPageToken)
  }
  assert.deepEqual(seen, all)
  const [chat] = all.filter(({ name }: any) => name === 'models/sandbox-chat')
  assert.deepEqual(chat.supportedGenerationMethods, [
    'generateContent',
    'streamGenerateContent',
    'countTokens',
  ])
  assert.ok(chat.inputTokenLimit > 0 && chat.outputTokenLimit > 0)
  assert.deepEqual((await list('/sandbox-chat')).json, chat)
  assertError(await list('/nenhum'), 404, 'NOT_FOUND', 'MODEL_NOT_FOUND')
  assertError(await list('/sandbox-image'), 404, 'NOT_FOUND', 'MODEL_NOT_FOUND')
  assertError(await list('?pageSize=x'), 400, 'INVALID_ARGUMENT', 'INVALID_REQUEST')
  assert.deepEqual((await list('?pageToken=nenhum')).json.models, [])
})

test('after these calls the audit is clean', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})
