// deep: an attack
/** Ids of tool calls do not show which upstream answered, and come back to it as they were. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { accumulateMessage } from '../harness/accumulate-message.ts'
import { ask, askChat } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { assertStreamIsWhole, responseEvents } from '../responses/assert-response.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  GOOD_USAGE,
  startScriptedUpstream,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'

const MODEL = 'ferramenta'
const OWN_IDS = [
  'toolu_bdrk_01AbCdEfGhIjKlMnOpQrStUv',
  `chatcmpl-tool-${'0123456789abcdef'.repeat(2)}`,
  'a1B2c3D4e',
]
const question = { role: 'user', content: 'Que tempo faz?' }
const toolCalls = OWN_IDS.map((id, index) => ({
  index,
  id,
  type: 'function',
  function: { name: 'clima', arguments: '{}' },
}))
const tools = [{ type: 'function', function: { name: 'clima', parameters: { type: 'object' } } }]

let upstream: ScriptedUpstream
let file: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  file = await writeConfigFile({
    upstreams: [{ id: 'casa-secreta', kind: 'openai-compatible', base_url: upstream.baseUrl }],
    models: [
      {
        id: MODEL,
        category: 'llm',
        prices: { input: '1', output: '1' },
        context_tokens: 8_000,
        max_output_tokens: 1_000,
        routes: [{ upstream: 'casa-secreta', model: MODEL }],
      },
    ],
  })
  gateway = await startGateway({ CATRACA_CONFIG: file.path })
  upstream.play(MODEL, ({ body }, response) => {
    const finish = { finish_reason: 'tool_calls', index: 0 }
    if (body.stream !== true) {
      const message = { role: 'assistant', content: null, tool_calls: toolCalls }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ choices: [{ ...finish, message }], usage: GOOD_USAGE }))
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (chunk: object): void => void response.write(`data: ${JSON.stringify(chunk)}\n\n`)
    for (const call of toolCalls)
      for (const part of [call, { index: call.index, function: { arguments: ' ' } }])
        send({ choices: [{ index: 0, delta: { tool_calls: [part] } }] })
    send({ choices: [{ ...finish, delta: {} }], usage: GOOD_USAGE })
    response.end('data: [DONE]\n\n')
  })
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await file.remove()
})

const complete = (messages: readonly object[], more: object = {}) =>
  askChat(gateway.node.baseUrl, gateway.secret, { model: MODEL, messages, tools, ...more })

async function shownIds(isStream: boolean): Promise<string[]> {
  const { text, json } = await complete([question], { stream: isStream })
  for (const id of OWN_IDS) assert.ok(!text.includes(id))
  if (!isStream) return json.choices[0].message.tool_calls.map(({ id }: { id: string }) => id)
  const events = text.matchAll(/^data: (\{.*)$/gm)
  return [...events].flatMap(([, event = '']) =>
    (JSON.parse(event).choices[0]?.delta.tool_calls ?? [])
      .map(({ id }: { id?: string }) => id)
      .filter(Boolean),
  )
}

test('plain and streamed answers show the same neutral ids, and the next turn has those of the upstream', async () => {
  const shown = await shownIds(false)
  assert.deepEqual(await shownIds(true), shown)
  for (const id of shown) assert.match(id, /^call_[A-Za-z0-9_-]{35}$/)
  const turn = (ids: readonly string[]) => [
    question,
    {
      role: 'assistant',
      content: null,
      tool_calls: ids.map((id) => ({ id, type: 'function', function: toolCalls[0]?.function })),
    },
    ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'sol' })),
  ]
  await complete(turn(shown))
  const seen = upstream.callsOf(MODEL).at(-1)?.body.messages
  const idsOf = (messages: any[]) => [
    ...messages[1].tool_calls.map(({ id }: { id: string }) => id),
    ...messages.slice(2).map(({ tool_call_id: id }) => id),
  ]
  assert.deepEqual(idsOf(seen), [...OWN_IDS, ...OWN_IDS])
  await complete(turn(OWN_IDS))
  const old = upstream.callsOf(MODEL).at(-1)?.body.messages
  assert.deepEqual(idsOf(old), [...OWN_IDS, ...OWN_IDS], 'a conversation from before goes on')
})

test('the Messages format shows the same neutral ids, and restores them too', async () => {
  const send = (messages: readonly object[], stream: boolean) =>
    ask(gateway.node.baseUrl, '/messages', {
      secret: gateway.secret,
      body: {
        model: MODEL,
        max_tokens: 100,
        messages,
        stream,
        tools: [{ name: 'clima', input_schema: { type: 'object' } }],
      },
    })
  const shown = await shownIds(false)
  const plain = (await send([question], false)).json
  const streamed = accumulateMessage((await send([question], true)).text).message
  for (const { content } of [plain, streamed]) {
    assert.deepEqual(
      content.map(({ id }: { id: string }) => id),
      shown,
    )
    const results = shown.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'sol' }))
    const turn = [question, { role: 'assistant', content }, { role: 'user', content: results }]
    assert.equal((await send(turn, false)).status, 200)
    const [, called, ...answers] = upstream.callsOf(MODEL).at(-1)?.body.messages ?? []
    assert.deepEqual(
      called.tool_calls.map(({ id }: { id: string }) => id),
      OWN_IDS,
    )
    assert.deepEqual(
      answers.map(({ tool_call_id: id }: { tool_call_id: string }) => id),
      OWN_IDS,
    )
  }
})

test('the Responses format shows the same neutral ids, and restores them too', async () => {
  const send = (input: readonly object[], stream: boolean) =>
    ask(gateway.node.baseUrl, '/responses', {
      secret: gateway.secret,
      body: { model: MODEL, input, stream, tools: [{ type: 'function', name: 'clima' }] },
    })
  const shown = await shownIds(false)
  const plain = (await send([question], false)).json
  const streamed = assertStreamIsWhole(responseEvents((await send([question], true)).text))
  for (const output of [plain.output, streamed.output] as { call_id: string }[][]) {
    assert.deepEqual(
      output.map(({ call_id: id }) => id),
      shown,
    )
    const results = shown.map((id) => ({
      type: 'function_call_output',
      call_id: id,
      output: 'sol',
    }))
    assert.equal((await send([question, ...output, ...results], false)).status, 200)
    const [, called, ...answers] = upstream.callsOf(MODEL).at(-1)?.body.messages ?? []
    assert.deepEqual(
      called.tool_calls.map(({ id }: { id: string }) => id),
      OWN_IDS,
    )
    assert.deepEqual(
      answers.map(({ tool_call_id: id }: { tool_call_id: string }) => id),
      OWN_IDS,
    )
  }
})

test('a model of the operator’s file does not show the name of its upstream', async () => {
  for (const path of ['/models', '/model-prices', '/upstream-health?days=1']) {
    const { text } = await ask(gateway.node.baseUrl, path)
    assert.ok(!text.includes('casa-secreta'), path)
  }
})
