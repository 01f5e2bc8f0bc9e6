import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { startFixtureServer, type FixtureServer } from './fixture-server.ts'
import {
  AI_SDK_PROVIDERS,
  ANTHROPIC,
  ask,
  BEDROCK,
  COHERE,
  complete,
  GOOGLE,
  VERTEX,
  type Outcome,
  type TestProvider,
} from './test-provider.ts'

let server: FixtureServer
before(async () => {
  server = await startFixtureServer()
})
afterEach(() => server.play(undefined))
after(() => server.close())

async function play(target: TestProvider, fixture: string, isStream: boolean): Promise<Outcome> {
  server.play(fixture)
  const provider = target.open(server.url)
  const outcome = await complete(provider, { body: ask(target), isStream })
  await provider.close()
  return outcome
}

for (const isStream of [false, true]) {
  const manner = isStream ? 'streamed' : 'plain'

  for (const target of AI_SDK_PROVIDERS) {
    test(`${target.name}, ${manner}: an answer cut off at its token limit reports finish_reason length`, async () => {
      const { turn, usage } = await play(target, 'length', isStream)
      assert.equal(turn.message.content, 'Recife has')
      assert.equal(turn.finishReason, 'length')
      assert.deepEqual(usage, {
        promptTokens: target.promptTokens,
        cachedTokens: 0,
        cacheWriteTokens: 0,
        completionTokens: 3,
        reasoningTokens: 0,
      })
    })

    test(`${target.name}, ${manner}: a tool call without arguments gets an empty object`, async () => {
      const { turn } = await play(target, 'no-arguments', isStream)
      const [call] = turn.message.tool_calls as { id: string; function: unknown }[]
      assert.deepEqual(call?.function, { name: 'get_time', arguments: '{}' })
      assert.notEqual(call?.id, '')
      assert.equal(turn.finishReason, 'tool_calls')
    })
  }

  test(`anthropic, ${manner}: a refusal becomes a content filter with the provider's text`, async () => {
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

  for (const target of [GOOGLE, VERTEX]) {
    test(`${target.name}, ${manner}: a blocked prompt is reported as filtered, with its token usage`, async () => {
      const { turn, usage } = await play(target, 'refusal', isStream)
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

    test(`${target.name}, ${manner}: a malformed tool call from the model is a failure`, async () => {
      const { failure } = await play(target, 'malformed', isStream)
      assert.deepEqual(failure, {
        kind: 'failure',
        reason: 'bad_answer',
        detail: 'the model failed: MALFORMED_FUNCTION_CALL',
      })
    })
  }

  test(`google, ${manner}: missing usage is unknown, not zero`, async () => {
    const { turn, usage } = await play(GOOGLE, 'no-usage', isStream)
    assert.equal(turn.finishReason, 'stop')
    assert.equal(usage, undefined)
  })

  test(`google, ${manner}: usage of zero tokens is not trusted`, async () => {
    const { turn, usage } = await play(GOOGLE, 'empty-usage', isStream)
    assert.equal(turn.message.content, 'Recife has')
    assert.equal(usage, undefined)
  })

  test(`amazon-bedrock, ${manner}: an answer that a guardrail stopped is reported as filtered`, async () => {
    const { turn, usage } = await play(BEDROCK, 'refusal', isStream)
    assert.equal(turn.message.content, 'I cannot help with that.')
    assert.equal(turn.finishReason, 'content_filter')
    assert.equal(usage?.promptTokens, 50)
    assert.equal(usage?.completionTokens, 3)
  })

  test(`amazon-bedrock, ${manner}: an answer cut off at the context window reports finish_reason length`, async () => {
    const { turn } = await play(BEDROCK, 'window', isStream)
    assert.equal(turn.message.content, 'Recife has')
    assert.equal(turn.finishReason, 'length')
  })

  for (const [target, fixture, word] of [
    [BEDROCK, 'malformed', 'malformed_tool_use'],
    [COHERE, 'failed', 'ERROR'],
    [COHERE, 'timeout', 'TIMEOUT'],
  ] as const) {
    test(`${target.name}, ${manner}: an answer that ends with ${word} is a failure`, async () => {
      const { failure } = await play(target, fixture, isStream)
      assert.deepEqual(failure, {
        kind: 'failure',
        reason: 'bad_answer',
        detail: `the model failed: ${word}`,
      })
    })
  }
}
