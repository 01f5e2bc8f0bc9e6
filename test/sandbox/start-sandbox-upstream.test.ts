// deep: starts processes
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import OpenAI, { APIError } from 'openai'
import type { ChatCompletionCreateParamsNonStreaming } from 'openai/resources/chat/completions'
import { createSseReader } from '../../src/platform/lib/sse.ts'
import { SANDBOX_MODELS } from '../../src/sandbox/upstream/sandbox-models.ts'
import {
  startSandboxUpstream,
  type SandboxUpstream,
} from '../../src/sandbox/upstream/start-sandbox-upstream.ts'

const upstream = await startSandboxUpstream()
after(() => upstream.close())
const client = new OpenAI({ baseURL: upstream.baseUrl, apiKey: 'any', maxRetries: 0 })

const question = { role: 'user' as const, content: 'Qual é a capital do Brasil?' }
const weatherTool = {
  type: 'function' as const,
  function: {
    name: 'ver_clima',
    parameters: {
      type: 'object',
      properties: { cidade: { type: 'string' }, dias: { type: 'integer', minimum: 3 } },
      required: ['cidade', 'dias'],
    },
  },
}

function ask(model: string, more: Partial<ChatCompletionCreateParamsNonStreaming> = {}) {
  return client.chat.completions.create({ model, messages: [question], ...more })
}

function post(body: unknown, init: RequestInit & { to?: SandboxUpstream } = {}) {
  const { to = upstream, ...rest } = init
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return fetch(`${to.baseUrl}/chat/completions`, { method: 'POST', body: text, ...rest })
}

function streamBody(model: string, more: object = {}) {
  return { model, stream: true, messages: [question], ...more }
}

async function readEvents(body: object): Promise<string[]> {
  const response = await post(body)
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  return createSseReader(10_000_000).push(new Uint8Array(await response.arrayBuffer()))
}

/** The raw bytes of the whole answer, until the server closes the connection. */
async function postRaw(body: object): Promise<Buffer> {
  const text = JSON.stringify(body)
  const socket = connect(Number(new URL(upstream.baseUrl).port), '127.0.0.1')
  const head = `host: sandbox\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(text)}`
  socket.write(`POST /v1/chat/completions HTTP/1.1\r\n${head}\r\n\r\n${text}`)
  const parts: Buffer[] = []
  for await (const part of socket) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

async function waitFor(isTrue: () => boolean, what: string): Promise<void> {
  for (let turn = 0; turn < 300 && !isTrue(); turn++) await delay(10)
  assert.ok(isTrue(), what)
}

describe('a plain answer', () => {
  test('has every field of the format, and names the model and the question', async () => {
    const response = await post({ model: 'sandbox-chat', messages: [question] })
    assert.equal(response.status, 200)
    const { id, created, choices, ...rest } = (await response.json()) as OpenAI.ChatCompletion
    assert.match(id, /^chatcmpl-\w{32}$/)
    assert.ok(Math.abs(created - Date.now() / 1000) < 5)
    const text = choices[0]?.message.content ?? ''
    assert.match(text, /sandbox da Catraca.*“Qual é a capital do Brasil\?”/)
    assert.deepEqual(choices, [
      {
        index: 0,
        message: { role: 'assistant', content: text, refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ])
    const promptTokens = countTokens(question.content) + 3 + 3
    assert.deepEqual(rest, {
      object: 'chat.completion',
      model: 'sandbox-chat',
      usage: {
        prompt_tokens: promptTokens,
        completion_tokens: countTokens(text),
        total_tokens: promptTokens + countTokens(text),
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: {
          reasoning_tokens: 0,
          audio_tokens: 0,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
      },
      service_tier: 'default',
      system_fingerprint: 'fp_sandbox4c1e',
    })
  })

  test('is the same for the same question, and an unknown model behaves like sandbox-chat', async () => {
    const [one, other] = await Promise.all([ask('sandbox-chat'), ask('acme/gpt-99')])
    assert.equal(other.model, 'acme/gpt-99')
    assert.deepEqual(one.choices, other.choices)
    assert.deepEqual(one.usage, other.usage)
  })

  test('quotes the beginning of the last question, and counts text that looks like a control token', async () => {
    const content = `<|endoftext|> ${'muito '.repeat(1000)}`
    const answer = await ask('sandbox-chat', { messages: [{ role: 'user', content }] })
    assert.ok((answer.choices[0]?.message.content?.length ?? 0) < 300)
    assert.ok((answer.usage?.prompt_tokens ?? 0) > 1000)
  })

  test('counts 765 tokens for each image', async () => {
    const image = { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,AAAA' } }
    const text = { type: 'text' as const, text: question.content }
    const answer = await ask('sandbox-chat', {
      messages: [{ role: 'user', content: [text, image, image] }],
    })
    assert.equal(answer.usage?.prompt_tokens, countTokens(question.content) + 6 + 2 * 765)
  })

  test('is fast even for a prompt that is one endless word', async () => {
    const startedAt = performance.now()
    const messages = ['a', ' ', '!?', '日'].map((text) => ({
      role: 'user' as const,
      content: text.repeat(50_000),
    }))
    const { usage } = await ask('sandbox-chat', { messages })
    assert.ok((usage?.prompt_tokens ?? 0) > 20_000)
    assert.ok(performance.now() - startedAt < 2000)
  })
})

describe('limits', () => {
  test('max_tokens and max_completion_tokens end the answer with finish_reason length', async () => {
    for (const limit of [{ max_tokens: 5 }, { max_completion_tokens: 5 }]) {
      const { choices, usage } = await ask('sandbox-chat', limit)
      assert.equal(choices[0]?.finish_reason, 'length')
      assert.equal(usage?.completion_tokens, 5)
      assert.equal(countTokens(choices[0]?.message.content ?? ''), 5)
    }
    assert.equal((await ask('sandbox-chat', { max_tokens: 500 })).choices[0]?.finish_reason, 'stop')
  })

  test('stop ends the answer before the stop text', async () => {
    const { choices, usage } = await ask('sandbox-chat', { stop: ['direitinho', '!'] })
    assert.equal(choices[0]?.message.content, 'Olá')
    assert.equal(choices[0]?.finish_reason, 'stop')
    assert.equal(usage?.completion_tokens, 1)
  })

  test('n returns as many choices, and usage counts all of them', async () => {
    const { choices, usage } = await ask('sandbox-chat', { n: 3 })
    const texts = choices.map((choice) => choice.message.content ?? '')
    assert.equal(new Set(texts).size, 3)
    const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0)
    assert.equal(usage?.completion_tokens, tokens)
    const written = ['', '', '']
    for await (const chunk of await client.chat.completions.create({
      model: 'sandbox-chat',
      messages: [question],
      n: 3,
      stream: true,
    })) {
      for (const { index, delta } of chunk.choices) written[index] += delta.content ?? ''
    }
    assert.deepEqual(written, texts)
  })
})

describe('a stream', () => {
  test('carries the text of the plain answer token by token, then usage, then [DONE]', async () => {
    const plain = await ask('sandbox-chat')
    const body = streamBody('sandbox-chat', { stream_options: { include_usage: true } })
    const events = await readEvents(body)
    assert.equal(events.pop(), '[DONE]')
    const chunks = events.map((event) => JSON.parse(event) as OpenAI.ChatCompletionChunk)
    assert.ok(chunks.every((chunk) => chunk.object === 'chat.completion.chunk'))
    assert.equal(new Set(chunks.map((chunk) => chunk.id)).size, 1)
    assert.equal(chunks[0]?.choices[0]?.delta.role, 'assistant')
    const { usage, choices } = chunks.pop() as OpenAI.ChatCompletionChunk
    assert.deepEqual(choices, [])
    assert.deepEqual(usage, plain.usage)
    assert.ok(chunks.every((chunk) => chunk.usage === null))
    assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, 'stop')
    const deltas = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '')
    assert.equal(deltas.join(''), plain.choices[0]?.message.content)
    assert.equal(deltas.filter(Boolean).length, plain.usage?.completion_tokens)
  })

  test('carries no usage when none was requested', async () => {
    const events = await readEvents(streamBody('sandbox-chat'))
    assert.ok(events.every((event) => !event.includes('"usage"')))
  })

  test('works with the official client', async () => {
    const stream = client.chat.completions.stream({
      model: 'sandbox-chat',
      messages: [question],
      stream_options: { include_usage: true },
    })
    const answer = await stream.finalChatCompletion()
    assert.equal(
      answer.choices[0]?.message.content,
      (await ask('sandbox-chat')).choices[0]?.message.content,
    )
    assert.ok((answer.usage?.total_tokens ?? 0) > 0)
  })
})

describe('tools', () => {
  const parallel = [{ role: 'user' as const, content: 'Veja o clima em PARALELO' }]

  test('lead to one call whose arguments match the schema', async () => {
    const { choices, usage } = await ask('sandbox-chat', { tools: [weatherTool] })
    assert.equal(choices[0]?.finish_reason, 'tool_calls')
    assert.equal(choices[0].message.content, null)
    const calls = choices[0].message.tool_calls ?? []
    assert.equal(calls.length, 1)
    assert.ok(calls[0]?.type === 'function' && /^call_\w{24}$/.test(calls[0].id))
    assert.equal(calls[0].function.name, 'ver_clima')
    assert.deepEqual(JSON.parse(calls[0].function.arguments), { cidade: 'São Paulo', dias: 4 })
    const { name, arguments: made } = calls[0].function
    assert.equal(usage?.completion_tokens, countTokens(name) + countTokens(made))
  })

  test('lead to two calls when the user asks for it and the client allows it', async () => {
    const tools = [weatherTool]
    const two = await ask('sandbox-chat', { tools, messages: parallel })
    assert.equal(two.choices[0]?.message.tool_calls?.length, 2)
    const one = await ask('sandbox-chat', { tools, messages: parallel, parallel_tool_calls: false })
    assert.equal(one.choices[0]?.message.tool_calls?.length, 1)
  })

  test('are streamed as fragments that the official client assembles', async () => {
    const request = { model: 'sandbox-chat', messages: parallel, tools: [weatherTool] }
    const plain = await client.chat.completions.create(request)
    const streamed = await client.chat.completions.stream(request).finalChatCompletion()
    assert.equal(streamed.choices[0]?.finish_reason, 'tool_calls')
    const called = (answer: OpenAI.ChatCompletion) =>
      answer.choices[0]?.message.tool_calls?.map((call) => {
        assert.ok(call.type === 'function')
        return [call.function.name, call.function.arguments]
      })
    assert.equal(called(streamed)?.length, 2)
    assert.deepEqual(called(streamed), called(plain))
  })

  test('are not called with tool_choice none, and a named tool is called', async () => {
    const tools = [weatherTool, { ...weatherTool, function: { name: 'sem_argumentos' } }]
    const none = await ask('sandbox-chat', { tools, tool_choice: 'none' })
    assert.equal(none.choices[0]?.finish_reason, 'stop')
    const named = await ask('sandbox-chat', {
      tools,
      tool_choice: { type: 'function', function: { name: 'sem_argumentos' } },
    })
    const call = named.choices[0]?.message.tool_calls?.[0]
    assert.ok(call?.type === 'function')
    assert.deepEqual(call.function, { name: 'sem_argumentos', arguments: '{}' })
  })

  test('get an ordinary answer once their result is sent', async () => {
    const call = { id: 'call_1', type: 'function' as const }
    const { choices } = await ask('sandbox-chat', {
      tools: [weatherTool],
      messages: [
        question,
        {
          role: 'assistant',
          tool_calls: [{ ...call, function: { name: 'ver_clima', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'sol, 31 graus' },
      ],
    })
    assert.equal(choices[0]?.finish_reason, 'stop')
    assert.match(choices[0].message.content ?? '', /ver_clima devolveu: “sol, 31 graus”/)
  })
})

describe('JSON', () => {
  test('mode returns a JSON object', async () => {
    const { choices } = await ask('sandbox-chat', { response_format: { type: 'json_object' } })
    const content = JSON.parse(choices[0]?.message.content ?? '') as Record<string, unknown>
    assert.equal(content.voce_disse, question.content)
  })

  test('schema returns an object that matches it, also in a stream', async () => {
    const schema = {
      type: 'object',
      properties: {
        nome: { type: 'string' },
        notas: { type: 'array', items: { type: 'number' }, minItems: 2 },
        cor: { enum: ['azul', 'verde'] },
        endereco: { type: 'object', properties: { ativo: { type: 'boolean' } } },
      },
      required: ['nome', 'notas', 'cor', 'endereco'],
    }
    const request = {
      model: 'sandbox-chat',
      messages: [question],
      response_format: { type: 'json_schema' as const, json_schema: { name: 'aluno', schema } },
    }
    const expected = { nome: 'Ana', notas: [1.5, 2.5], cor: 'azul', endereco: { ativo: true } }
    const plain = await client.chat.completions.create(request)
    assert.deepEqual(JSON.parse(plain.choices[0]?.message.content ?? ''), expected)
    const streamed = await client.chat.completions.stream(request).finalContent()
    assert.deepEqual(JSON.parse(streamed ?? ''), expected)
  })
})

describe('a bad request', () => {
  const faults: [string, object, string | null][] = [
    ['temperature above 2', { temperature: 2.1 }, 'temperature'],
    ['temperature below 0', { temperature: -1 }, 'temperature'],
    ['temperature as text', { temperature: '1' }, 'temperature'],
    ['max_tokens 0', { max_tokens: 0 }, 'max_tokens'],
    ['n 0', { n: 0 }, 'n'],
    ['no model', { model: undefined }, 'model'],
    ['no messages', { messages: undefined }, 'messages'],
    ['empty messages', { messages: [] }, 'messages'],
    ['an unknown role', { messages: [{ role: 'robot', content: '' }] }, 'messages[0].role'],
    ['no content', { messages: [{ role: 'user' }] }, 'messages[0].content'],
    ['five stops', { stop: ['1', '2', '3', '4', '5'] }, 'stop'],
    ['an unknown format', { response_format: { type: 'xml' } }, 'response_format.type'],
    ['a tool without a name', { tools: [{ type: 'function' }] }, 'tools[0].function.name'],
    ['stream_options without stream', { stream_options: {} }, 'stream_options'],
  ]
  for (const [what, fault, param] of faults) {
    test(`(${what}) gets 400 in OpenAI's format, naming the field`, async () => {
      const response = await post({ model: 'sandbox-chat', messages: [question], ...fault })
      assert.equal(response.status, 400)
      const { error } = (await response.json()) as { error: Record<string, unknown> }
      assert.deepEqual(Object.keys(error), ['message', 'type', 'param', 'code'])
      assert.equal(error.type, 'invalid_request_error')
      assert.equal(error.param, param)
    })
  }

  test('that is not JSON gets 400', async () => {
    assert.equal((await post('{"model":')).status, 400)
    assert.equal((await post('[]')).status, 400)
  })
})

describe('the server', () => {
  test("answers 401 in OpenAI's format without the right key", async (context) => {
    const guarded = await startSandboxUpstream({ apiKey: 'sk-right' })
    context.after(() => guarded.close())
    for (const headers of [{}, { authorization: 'Bearer sk-wrong' }]) {
      const response = await post({ model: 'm', messages: [question] }, { to: guarded, headers })
      assert.equal(response.status, 401)
      const { error } = (await response.json()) as { error: Record<string, unknown> }
      assert.equal(error.type, 'invalid_request_error')
    }
    const headers = { authorization: 'Bearer sk-right' }
    const right = await post({ model: 'm', messages: [question] }, { to: guarded, headers })
    assert.equal(right.status, 200)
    await right.text()
    assert.equal(guarded.counts.requests, 1)
  })

  test('lists every model with a description, and answers 404 on other paths', async () => {
    const { data } = await client.models.list()
    assert.deepEqual(
      data.map((model) => model.id),
      SANDBOX_MODELS.map((model) => model.id),
    )
    const descriptions = new Set(SANDBOX_MODELS.map((model) => model.description))
    assert.equal(descriptions.size, SANDBOX_MODELS.length)
    const response = await fetch(`${upstream.baseUrl}/nothing`)
    assert.equal(response.status, 404)
    assert.deepEqual(await response.json(), {
      error: {
        message: 'Invalid URL (GET /v1/nothing)',
        type: 'invalid_request_error',
        param: null,
        code: null,
      },
    })
  })

  test('runs as a program, prints its address and stops on SIGTERM', async () => {
    const main = join(import.meta.dirname, '../../src/sandbox/upstream/main.ts')
    const child = spawn(process.execPath, [main, '--port', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const url = /http:\S+/.exec(line.toString())?.[0] ?? ''
    const hanging = fetch(`${url}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'sandbox-hang', messages: [question] }),
    })
    assert.equal((await fetch(`${url}/models`)).status, 200)
    child.kill('SIGTERM')
    await assert.rejects(hanging)
    const [code] = (await once(child, 'exit')) as [number]
    assert.equal(code, 0)
  })
})

describe('each model', { concurrency: true }, () => {
  for (const status of [400, 401, 429, 500, 503]) {
    test(`sandbox-error-${status} fails with a provider's error message`, async () => {
      const error: unknown = await ask(`any/sandbox-error-${status}`).catch(
        (error: unknown) => error,
      )
      assert.ok(error instanceof APIError)
      assert.equal(error.status, status)
      assert.match(JSON.stringify(error.error), /zephyrion/i)
      assert.equal(error.headers?.get('retry-after'), status === 429 ? '1' : null)
    })
  }

  test('sandbox-html-error answers 502 with an HTML page', async () => {
    const response = await post({ model: 'sandbox-html-error', messages: [question] })
    assert.equal(response.status, 502)
    assert.equal(response.headers.get('content-type'), 'text/html')
    assert.match(await response.text(), /^<html>/)
  })

  test('sandbox-no-usage reports no usage, plain or streamed', async () => {
    assert.equal((await ask('sandbox-no-usage')).usage, undefined)
    const body = streamBody('sandbox-no-usage', { stream_options: { include_usage: true } })
    const events = await readEvents(body)
    assert.equal(events.at(-1), '[DONE]')
    assert.ok(events.every((event) => !event.includes('"usage"')))
  })

  test('sandbox-cut-stream drops the connection in the middle', async () => {
    const stream = (await postRaw(streamBody('sandbox-cut-stream'))).toString()
    assert.match(stream, /^HTTP\/1\.1 200/)
    assert.match(stream, /"content":"Olá"/)
    assert.doesNotMatch(stream, /finish_reason":"stop|DONE|\r\n0\r\n/)
    const plain = await postRaw({ model: 'sandbox-cut-stream', messages: [question] })
    const promised = Number(/content-length: (\d+)/.exec(plain.toString())?.[1])
    const sent = plain.length - plain.indexOf('\r\n\r\n') - 4
    assert.ok(sent > 0 && sent < promised)
  })

  for (const model of ['sandbox-stall', 'sandbox-hang']) {
    test(`${model} sends nothing more until the client leaves, which is counted`, async (context) => {
      const own = await startSandboxUpstream()
      context.after(() => own.close())
      for (const isStream of [true, false]) {
        const leaving = new AbortController()
        const body = { ...streamBody(model), stream: isStream }
        const call = post(body, { to: own, signal: leaving.signal })
        const isStall = model === 'sandbox-stall'
        const first = isStall ? await call : await Promise.race([call, delay(200)])
        assert.equal(first?.status, isStall ? 200 : undefined)
        if (first !== undefined) {
          const reader = (first.body as ReadableStream<Uint8Array>).getReader()
          assert.equal((await reader.read()).done, false)
          const more = await Promise.race([reader.read().catch(() => 'left'), delay(200)])
          assert.equal(more, undefined)
        }
        assert.equal(own.counts.aborted, isStream ? 0 : 1)
        leaving.abort()
        await call.catch(() => {})
        await waitFor(() => own.counts.aborted === (isStream ? 1 : 2), 'the abort is counted')
      }
    })
  }

  test('sandbox-garbage answers 200 with an invalid body', async () => {
    const response = await post({ model: 'sandbox-garbage', messages: [question] })
    assert.equal(response.status, 200)
    await assert.rejects(response.json())
    const events = await readEvents(streamBody('sandbox-garbage'))
    assert.throws(() => events.map((event) => event === '[DONE]' || JSON.parse(event)), SyntaxError)
  })

  test('sandbox-overrun reports far more than max_tokens', async () => {
    const { usage, choices } = await ask('sandbox-overrun', { max_tokens: 7 })
    assert.equal(usage?.completion_tokens, 1070)
    assert.equal(countTokens(choices[0]?.message.content ?? ''), 7)
  })

  test('sandbox-split cuts through characters and lines, and the stream is still valid', async () => {
    const body = streamBody('sandbox-split', { stream_options: { include_usage: true } })
    const raw = await postRaw(body)
    const chunks = readChunked(raw.subarray(raw.indexOf('\r\n\r\n') + 4))
    const isContinuation = (chunk: Buffer) => ((chunk[0] as number) & 0xc0) === 0x80
    assert.ok(chunks.filter(isContinuation).length > 20)
    assert.ok(chunks.some((chunk) => chunk.at(-1) === 13))
    const whole = Buffer.concat(chunks).toString()
    assert.match(whole, /\}\r\n\r\n: ping\r\n\r\ndata: \{/)

    const plain = await ask('sandbox-split')
    const text = plain.choices[0]?.message.content ?? ''
    assert.match(text, /日本語, 👩‍👩‍👧/)
    const stream = client.chat.completions.stream({ model: 'sandbox-split', messages: [question] })
    assert.equal(await stream.finalContent(), text)
    const reader = createSseReader(100_000)
    const events = chunks.flatMap((chunk) => reader.push(chunk))
    assert.equal(events.pop(), '[DONE]')
    const last = JSON.parse(events.at(-1) as string) as OpenAI.ChatCompletionChunk
    assert.deepEqual(last.usage, plain.usage)
    assert.equal(plain.usage?.completion_tokens, countTokens(text))
  })

  test('sandbox-flaky fails every second call', async () => {
    const statuses: number[] = []
    for (let turn = 0; turn < 4; turn++) {
      const response = await post({ model: 'sandbox-flaky', messages: [question] })
      await response.text()
      statuses.push(response.status)
    }
    assert.deepEqual(statuses, [200, 500, 200, 500])
  })

  test('sandbox-reasoning bills its reasoning as output', async () => {
    const { choices, usage } = await ask('sandbox-reasoning')
    const message = choices[0]?.message as unknown as Record<string, string>
    const reasoningTokens = countTokens(message.reasoning_content ?? '')
    assert.equal(usage?.completion_tokens_details?.reasoning_tokens, reasoningTokens)
    assert.equal(usage.completion_tokens, reasoningTokens + countTokens(message.content ?? ''))
    const events = await readEvents(streamBody('sandbox-reasoning'))
    assert.ok(events.some((event) => event.includes('"delta":{"reasoning_content":"')))
    const short = await ask('sandbox-reasoning', { max_tokens: 3 })
    assert.equal(short.choices[0]?.message.content, '')
    assert.equal(short.choices[0].finish_reason, 'length')
    assert.equal(short.usage?.completion_tokens, 3)
  })

  test('sandbox-cached reports half of the prompt as cached', async () => {
    const { usage } = await ask('sandbox-cached')
    const half = Math.floor((usage?.prompt_tokens ?? 0) / 2)
    assert.equal(usage?.prompt_tokens_details?.cached_tokens, half)
  })

  test('sandbox-error-in-stream ends with an error after some text', async () => {
    const events = await readEvents(streamBody('sandbox-error-in-stream'))
    assert.match(events[1] ?? '', /"content":"Olá"/)
    assert.match(events.at(-1) ?? '', /^\{"error":\{"message":"Zephyrion/)
  })

  test('sandbox-slow waits 2 seconds and then writes 20 tokens a second', async () => {
    const startedAt = performance.now()
    const times: number[] = []
    for await (const chunk of await client.chat.completions.create({
      model: 'sandbox-slow',
      messages: [question],
      max_tokens: 11,
      stream: true,
    })) {
      if (chunk.choices[0]?.delta.content) times.push(performance.now() - startedAt)
    }
    assert.equal(times.length, 11)
    assert.ok((times[0] as number) > 1950)
    const writingMs = (times.at(-1) as number) - (times[0] as number)
    // Half a second on an idle machine; a busy one only adds to it.
    assert.ok(writingMs > 450 && writingMs < 10_000, `${writingMs} ms for 10 tokens more`)
  })

  test('sandbox-long writes 50 tokens a second and would write 400', async () => {
    const startedAt = performance.now()
    const { choices, usage } = await ask('sandbox-long', { max_tokens: 50 })
    assert.ok(performance.now() - startedAt > 950)
    assert.equal(choices[0]?.finish_reason, 'length')
    assert.equal(usage?.completion_tokens, 50)
  })
})

describe('sandbox-big', () => {
  test('writes 2 MB of text, plain and streamed', async () => {
    const { choices, usage } = await ask('sandbox-big')
    const text = choices[0]?.message.content ?? ''
    assert.ok(Buffer.byteLength(text) >= 2_000_000)
    assert.equal(usage?.completion_tokens, countTokens(text))
    const stream = client.chat.completions.stream({ model: 'sandbox-big', messages: [question] })
    assert.equal(await stream.finalContent(), text)
  })

  test('stops writing when the client does not read, and counts the client that leaves', async (context) => {
    const own = await startSandboxUpstream()
    context.after(() => own.close())
    const body = JSON.stringify(streamBody('sandbox-big', { n: 32 }))
    const socket = connect(Number(new URL(own.baseUrl).port), '127.0.0.1')
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: s\r\ncontent-length: ${Buffer.byteLength(body)}`
    socket.pause()
    socket.write(`${head}\r\n\r\n${body}`)
    const before = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed
    await waitFor(() => own.counts.requests === 1, 'it is asked')
    await delay(500)
    const grown = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed - before
    assert.ok(grown < 50_000_000, `${grown} bytes more are held`)
    assert.equal(own.counts.completed + own.counts.aborted, 0)
    socket.destroy()
    await waitFor(() => own.counts.aborted === 1, 'the abort is counted')
    assert.equal(own.counts.completed, 0)
  })
})

describe('the counters', () => {
  test('add up, keep each call by its id, and are served over HTTP', async (context) => {
    const own = await startSandboxUpstream()
    context.after(() => own.close())
    const send = async (id: string, body: object) => {
      const headers = { 'x-catraca-call-id': id }
      const response = await post(body, { to: own, headers }).catch(() => undefined)
      return response?.text().catch(() => undefined)
    }
    const plain = { model: 'sandbox-chat', messages: [question] }
    const usage = (JSON.parse((await send('a', plain)) ?? '') as OpenAI.ChatCompletion).usage
    await send('a', plain)
    await send('b', streamBody('sandbox-chat', { stream_options: { include_usage: true } }))
    await send('c', { model: 'sandbox-error-500', messages: [question] })
    await send('d', { model: 'sandbox-chat' })
    await send('e', streamBody('sandbox-cut-stream'))
    await send('f', streamBody('sandbox-garbage'))
    const leaving = AbortSignal.timeout(100)
    await assert.rejects(post(streamBody('sandbox-slow'), { to: own, signal: leaving }))
    await waitFor(() => own.counts.aborted === 1, 'the abort is counted')

    const stats = new URL('/stats', own.baseUrl)
    const { prompt_tokens: prompt = 0, completion_tokens: completion = 0 } = usage ?? {}
    const sums = {
      requests: 8,
      completed: 3,
      refused: 2,
      broken: 2,
      aborted: 1,
      promptTokens: 3 * prompt,
      completionTokens: 3 * completion,
      webSearches: 0,
    }
    assert.deepEqual(await (await fetch(stats)).json(), sums)
    const none = { started: 1, completed: 0, promptTokens: 0, completionTokens: 0 }
    const once = { promptTokens: prompt, completionTokens: completion }
    const twice = { promptTokens: 2 * prompt, completionTokens: 2 * completion }
    assert.deepEqual(await (await fetch(`${stats.href}?calls=1`)).json(), {
      ...sums,
      calls: [
        { id: 'a', started: 2, completed: 2, ...twice },
        { id: 'b', started: 1, completed: 1, ...once },
        ...['c', 'd', 'e', 'f'].map((id) => ({ id, ...none })),
      ],
    })
  })
})

/** The chunks of `transfer-encoding: chunked`, each as it was written. */
function readChunked(bytes: Buffer): Buffer[] {
  const chunks: Buffer[] = []
  let offset = 0
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', offset)
    const size = Number.parseInt(bytes.subarray(offset, lineEnd).toString(), 16)
    if (size === 0) return chunks
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    offset = lineEnd + 2 + size + 2
  }
}
