import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { startFixtureServer, type FixtureServer } from './fixture-server.ts'
import {
  AI_SDK_WIRES,
  ANTHROPIC,
  ask,
  BEDROCK,
  COHERE,
  complete,
  GOOGLE,
  VERTEX,
  type Outcome,
  type TestWire,
} from './test-provider.ts'

let server: FixtureServer
before(async () => {
  server = await startFixtureServer()
})
afterEach(() => server.play(undefined))
after(() => server.close())

async function play(wire: TestWire, fixture: string, isStream: boolean): Promise<Outcome> {
  server.play(fixture)
  const provider = wire.open(server.url)
  const outcome = await complete(provider, { body: ask(wire), isStream })
  await provider.close()
  return outcome
}

for (const isStream of [false, true]) {
  const manner = isStream ? 'streamed' : 'plain'

  for (const wire of AI_SDK_WIRES) {
    test(`${wire.name}, ${manner}: an answer cut at its limit says so`, async () => {
      const { turn, usage } = await play(wire, 'length', isStream)
      assert.equal(turn.message.content, 'Recife has')
      assert.equal(turn.finishReason, 'length')
      assert.deepEqual(usage, {
        promptTokens: wire.promptTokens,
        cachedTokens: 0,
        cacheWriteTokens: 0,
        completionTokens: 3,
        reasoningTokens: 0,
      })
    })

    test(`${wire.name}, ${manner}: a tool call without arguments has an empty object of them`, async () => {
      const { turn } = await play(wire, 'no-arguments', isStream)
      const [call] = turn.message.tool_calls as { id: string; function: unknown }[]
      assert.deepEqual(call?.function, { name: 'get_time', arguments: '{}' })
      assert.notEqual(call?.id, '')
      assert.equal(turn.finishReason, 'tool_calls')
    })
  }

  test(`anthropic, ${manner}: a refusal is filtered content, with the provider's words`, async () => {
    const { turn, usage } = await play(ANTHROPIC, 'refusal', isStream)
    assert.deepEqual(turn, {
      message: {
        role: 'assistant',
        content: '',
        refusal: 'This conversation cannot be continued.',
      },
      finishReason: 'content_filter',
    })
    assert.equal(usage?.promptTokens, 50)
    assert.equal(usage?.completionTokens, 3)
  })

  for (const wire of [GOOGLE, VERTEX]) {
    test(`${wire.name}, ${manner}: a blocked prompt is filtered content, and its tokens are known`, async () => {
      const { turn, usage } = await play(wire, 'refusal', isStream)
      assert.equal(turn.message.content, '')
      assert.equal(turn.finishReason, 'content_filter')
      assert.deepEqual(usage, {
        promptTokens: 300,
        cachedTokens: 0,
        cacheWriteTokens: 0,
        completionTokens: 0,
        reasoningTokens: 0,
      })
    })

    test(`${wire.name}, ${manner}: a tool call that the model got wrong is a failure`, async () => {
      const { failure } = await play(wire, 'malformed', isStream)
      assert.deepEqual(failure, {
        kind: 'failure',
        reason: 'bad_answer',
        detail: 'the model failed: MALFORMED_FUNCTION_CALL',
      })
    })
  }

  test(`google, ${manner}: usage that is missing is unknown, not zero`, async () => {
    const { turn, usage } = await play(GOOGLE, 'no-usage', isStream)
    assert.equal(turn.finishReason, 'stop')
    assert.equal(usage, undefined)
  })

  test(`google, ${manner}: an answer of no tokens is not believed`, async () => {
    const { turn, usage } = await play(GOOGLE, 'empty-usage', isStream)
    assert.equal(turn.message.content, 'Recife has')
    assert.equal(usage, undefined)
  })

  test(`amazon-bedrock, ${manner}: what a guardrail stopped is filtered content`, async () => {
    const { turn, usage } = await play(BEDROCK, 'refusal', isStream)
    assert.equal(turn.message.content, 'I cannot help with that.')
    assert.equal(turn.finishReason, 'content_filter')
    assert.equal(usage?.promptTokens, 50)
    assert.equal(usage?.completionTokens, 3)
  })

  test(`amazon-bedrock, ${manner}: an answer cut at the end of the window says so`, async () => {
    const { turn } = await play(BEDROCK, 'window', isStream)
    assert.equal(turn.message.content, 'Recife has')
    assert.equal(turn.finishReason, 'length')
  })

  for (const [wire, fixture, word] of [
    [BEDROCK, 'malformed', 'malformed_tool_use'],
    [COHERE, 'failed', 'ERROR'],
    [COHERE, 'timeout', 'TIMEOUT'],
  ] as const) {
    test(`${wire.name}, ${manner}: an answer that ends with ${word} is a failure`, async () => {
      const { failure } = await play(wire, fixture, isStream)
      assert.deepEqual(failure, {
        kind: 'failure',
        reason: 'bad_answer',
        detail: `the model failed: ${word}`,
      })
    })
  }
}
