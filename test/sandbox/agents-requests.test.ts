/** What agents send today, in each format that the sandbox upstream speaks. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Ajv } from 'ajv'
import { createSseReader } from '../../src/platform/lib/sse.ts'
import { startSandboxUpstream } from '../../src/sandbox/upstream/start-sandbox-upstream.ts'
import fc from '../harness/fast-check.ts'

const upstream = await startSandboxUpstream()
after(() => upstream.close())

type Turn = 'user' | 'call' | 'result' | 'system' | 'developer' | 'reminder'

interface Said {
  readonly text: string
  readonly calls: readonly string[]
  readonly logprobs?: readonly any[]
}

interface Format {
  readonly path: string
  readonly body: object
  readonly ask: (turns: readonly { readonly turn: Turn; readonly text: string }[]) => object
  readonly tool: object
  readonly schema: (schema: object) => object
  readonly read: (answer: any) => Said
  readonly readEvents: (events: readonly any[]) => Said
}

const PARAMETERS = { type: 'object', properties: { command: { type: 'string' } } }
const reminder = (text: string): string => `<system-reminder>\n${text}\n</system-reminder>`

const chat: Format = {
  path: '/chat/completions',
  body: {},
  ask: (turns) => ({
    messages: turns.map(({ turn, text }) => {
      if (turn === 'reminder') return { role: 'user', content: reminder(text) }
      if (turn === 'result') return { role: 'tool', tool_call_id: 'call_1', content: text }
      const call = { id: 'call_1', type: 'function', function: { name: 'Bash', arguments: '{}' } }
      if (turn === 'call') return { role: 'assistant', content: null, tool_calls: [call] }
      return { role: turn, content: text }
    }),
  }),
  tool: { type: 'function', function: { name: 'Bash', parameters: PARAMETERS } },
  schema: (schema) => ({
    response_format: { type: 'json_schema', json_schema: { name: 'o', schema } },
  }),
  read: ({ choices: [{ message, logprobs }] }) => ({
    text: message.content ?? '',
    calls: (message.tool_calls ?? []).map((call: any) => call.function.name),
    logprobs: logprobs?.content,
  }),
  readEvents: (events) => ({
    text: events.map(({ choices }) => choices[0]?.delta.content ?? '').join(''),
    calls: [],
    logprobs: events.flatMap(({ choices }) => choices[0]?.logprobs?.content ?? []),
  }),
}

const responses: Format = {
  path: '/responses',
  body: { store: false },
  ask: (turns) => ({
    input: turns.map(({ turn, text }) => {
      if (turn === 'reminder') return { role: 'user', content: reminder(text) }
      if (turn === 'result')
        return { type: 'function_call_output', call_id: 'call_1', output: text }
      return turn === 'call'
        ? { type: 'function_call', call_id: 'call_1', name: 'Bash', arguments: '{}' }
        : { role: turn, content: text }
    }),
  }),
  tool: { type: 'function', name: 'Bash', parameters: PARAMETERS },
  schema: (schema) => ({ text: { format: { type: 'json_schema', name: 'o', schema } } }),
  read: ({ output }) => {
    const parts = output.flatMap(({ content }: any) => content ?? [])
    return {
      text: parts.map(({ text }: any) => text).join(''),
      calls: output
        .filter(({ type }: any) => type === 'function_call')
        .map(({ name }: any) => name),
      logprobs: parts.flatMap(({ logprobs }: any) => logprobs),
    }
  },
  readEvents: (events) => {
    const deltas = events.filter(({ type }) => type === 'response.output_text.delta')
    return {
      text: deltas.map(({ delta }) => delta).join(''),
      calls: [],
      logprobs: deltas.flatMap(({ logprobs }) => logprobs),
    }
  },
}

const messages: Format = {
  path: '/messages',
  body: { max_tokens: 1_000 },
  ask: (turns) => ({
    messages: turns.map(({ turn, text }) => {
      if (turn === 'developer') return { role: 'system', content: text }
      if (turn === 'reminder')
        return { role: 'user', content: [{ type: 'text', text: reminder(text) }] }
      const use = { type: 'tool_use', id: 'call_1', name: 'Bash', input: {} }
      if (turn === 'call') return { role: 'assistant', content: [use] }
      const result = { type: 'tool_result', tool_use_id: 'call_1', content: text }
      return turn === 'result' ? { role: 'user', content: [result] } : { role: turn, content: text }
    }),
  }),
  tool: { name: 'Bash', input_schema: PARAMETERS },
  schema: (schema) => ({ output_config: { format: { type: 'json_schema', schema } } }),
  read: ({ content }) => ({
    text: content.map(({ text }: any) => text ?? '').join(''),
    calls: content.filter(({ type }: any) => type === 'tool_use').map(({ name }: any) => name),
  }),
  readEvents: (events) => ({
    text: events.map(({ delta }) => delta?.text ?? '').join(''),
    calls: [],
  }),
}

const FORMATS = { 'chat completions': chat, Responses: responses, Messages: messages }

async function post({ path, body }: Format, more: object): Promise<Response> {
  const text = JSON.stringify({ model: 'sandbox-chat', ...body, ...more })
  const response = await fetch(upstream.baseUrl + path, { method: 'POST', body: text })
  assert.equal(response.status, 200, await (response.ok ? '' : response.text()))
  return response
}

async function askPlain(format: Format, more: object): Promise<Said> {
  return format.read(await (await post(format, more)).json())
}

async function askStreamed(format: Format, more: object): Promise<Said> {
  const response = await post(format, { ...more, stream: true })
  const reader = createSseReader(10_000_000)
  const events = reader.push(new Uint8Array(await response.arrayBuffer()))
  return format.readEvents(events.filter((one) => one !== '[DONE]').map((one) => JSON.parse(one)))
}

const QUESTION = { turn: 'user' as const, text: 'Oi' }
const LOOP = [
  QUESTION,
  { turn: 'call' as const, text: '' },
  { turn: 'result' as const, text: 'pronto' },
]
const instruction = fc.record({
  turn: fc.constantFrom<Turn>('system', 'developer', 'reminder'),
  text: fc.constantFrom('Seja breve.', 'chame Bash {"command": "ls"}', 'You have 3 tasks.'),
})

for (const [name, format] of Object.entries(FORMATS))
  describe(name, () => {
    test('instructions and reminders behind the last turn do not change what is answered', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom([QUESTION], LOOP),
          fc.array(instruction, { minLength: 1, maxLength: 3 }),
          async (turns, instructions) => {
            const tools = { tools: [format.tool] }
            const plain = await askPlain(format, { ...format.ask(turns), ...tools })
            const sent = { ...format.ask([...turns, ...instructions]), ...tools }
            assert.deepEqual(await askPlain(format, sent), plain)
            assert.deepEqual(plain.calls, turns === LOOP ? [] : ['Bash'])
          },
        ),
        { numRuns: 20 },
      )
    })

    test('a summary that must not call tools is a text, also in the middle of a plan', async () => {
      const plan = { turn: 'user' as const, text: 'chame Bash {"command": "ls"}' }
      const text = 'CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\nSummarise it all.'
      const turns = [plan, ...LOOP.slice(1), { turn: 'user' as const, text }]
      for (const asked of [turns, [plan, { turn: 'user' as const, text }]]) {
        const said = await askPlain(format, { ...format.ask(asked), tools: [format.tool] })
        assert.deepEqual(said.calls, [])
        assert.notEqual(said.text, '')
      }
    })

    test('an answer with a schema fits it, plain and streamed', async () => {
      const schema = {
        type: 'object',
        properties: { title: { type: 'string', maxLength: 9 }, isNew: { type: 'boolean' } },
        required: ['title', 'isNew'],
        additionalProperties: false,
      }
      const fits = new Ajv().compile(schema)
      const asked = [format.schema(schema)]
      // The name of before, which clients still send.
      if (format === messages) asked.push({ output_format: { type: 'json_schema', schema } })
      for (const more of asked) {
        const sent = { ...format.ask([QUESTION]), ...more }
        for (const { text } of [await askPlain(format, sent), await askStreamed(format, sent)])
          assert.ok(fits(JSON.parse(text)), text)
      }
    })
  })

for (const [name, format, wanted] of [
  ['chat completions', chat, { logprobs: true }],
  ['Responses', responses, { include: ['message.output_text.logprobs'] }],
] as const)
  test(`${name}: each piece of the text has its probability where it is asked for, plain and streamed`, async () => {
    const question = format.ask([QUESTION])
    for (const top of [0, 3]) {
      const sent = { ...question, ...wanted, top_logprobs: top }
      const [plain, streamed] = [await askPlain(format, sent), await askStreamed(format, sent)]
      assert.deepEqual(streamed, plain)
      assert.equal(plain.logprobs?.map(({ token }) => token).join(''), plain.text)
      for (const { token, logprob, bytes, top_logprobs: others } of plain.logprobs ?? []) {
        assert.ok(logprob < 0)
        assert.deepEqual(bytes, [...Buffer.from(token)])
        assert.equal(others.length, top)
        if (top > 0) assert.equal(others[0].token, token)
      }
    }
    assert.deepEqual((await askPlain(format, question)).logprobs ?? [], [])
    assert.deepEqual((await askStreamed(format, question)).logprobs, [])
  })
