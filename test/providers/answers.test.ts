import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { startFixtureServer, type FixtureServer } from './fixture-server.ts'
import { ANTHROPIC, ask, complete, GOOGLE, type Outcome, type TestWire } from './test-provider.ts'

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

  for (const wire of [ANTHROPIC, GOOGLE]) {
    const promptTokens = wire.name === 'anthropic' ? 50 : 300

    test(`${wire.name}, ${manner}: an answer cut at its limit says so`, async () => {
      const { turn, usage } = await play(wire, 'length', isStream)
      assert.equal(turn.message.content, 'Recife has')
      assert.equal(turn.finishReason, 'length')
      assert.deepEqual(usage, {
        promptTokens,
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

  test(`google, ${manner}: a blocked prompt is filtered content, and its tokens are known`, async () => {
    const { turn, usage } = await play(GOOGLE, 'refusal', isStream)
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

  test(`google, ${manner}: a tool call that the model got wrong is a failure`, async () => {
    const { failure } = await play(GOOGLE, 'malformed', isStream)
    assert.deepEqual(failure, {
      kind: 'failure',
      reason: 'bad_answer',
      detail: 'the model failed: MALFORMED_FUNCTION_CALL',
    })
  })
}
