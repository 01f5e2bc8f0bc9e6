import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toNativeAnswer } from './to-chat-answer.ts'

test('deep arguments of a tool are shown as text, and are no fault of the answer', () => {
  const input = `{"a":${'['.repeat(300)}${']'.repeat(300)}}`
  const block = { type: 'tool_use', id: 'toolu_1', name: 'f', input: JSON.parse(input) as object }
  const answer = toNativeAnswer(
    {
      content: [{ type: 'tool-call', toolCallId: 'toolu_1', toolName: 'f', input }],
      finishReason: { unified: 'tool-calls', raw: 'tool_use' },
      usage: {
        inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 900, text: 900, reasoning: 0 },
      },
      warnings: [],
      response: { body: { type: 'message', content: [block], stop_reason: 'tool_use' } },
    },
    { webSearchesMax: 0 } as Parameters<typeof toNativeAnswer>[1],
  )
  assert.ok(answer.kind === 'answer')
  assert.deepEqual(answer.native?.content, [{ ...block, input: { invalid_json: input } }])
})
