import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createToDeltas } from './to-deltas.ts'

/** The arguments that the pieces add up to. */
function argumentsOf(pieces: readonly string[]): string {
  const toDeltas = createToDeltas()
  const deltas = [
    ...toDeltas({ type: 'tool-input-start', id: 'a', toolName: 'look' }),
    ...pieces.flatMap((delta) => toDeltas({ type: 'tool-input-delta', id: 'a', delta })),
    ...toDeltas({ type: 'tool-call', toolCallId: 'a', toolName: 'look', input: pieces.join('') }),
  ]
  return deltas
    .flatMap(({ tool_calls: calls }) => calls as { function: { arguments: string } }[])
    .map((call) => call.function.arguments)
    .join('')
}

test('a null within the arguments of a call stays, also as a piece of its own', () => {
  assert.equal(argumentsOf(['{"unit":', 'null', '}']), '{"unit":null}')
})

test('a call whose arguments are null has none', () => {
  assert.equal(argumentsOf(['null']), '{}')
})
