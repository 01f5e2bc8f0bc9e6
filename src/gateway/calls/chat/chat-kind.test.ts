import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { ActiveKey } from '../../../customers/key-cache.ts'
import { isRefusal } from '../refusal.ts'
import { createChatKind } from './chat-kind.ts'
import { createMessagesFormat } from './formats/messages/messages-format.ts'
import { createReasoningSeals } from './formats/responses/reasoning-seal.ts'
import { createToolCallIds } from './tool-call-ids.ts'

const sealingKey = randomBytes(32)
const format = createMessagesFormat(
  createToolCallIds([sealingKey]),
  createReasoningSeals({ sealingKey }),
)
const kind = createChatKind(format, {
  lease: { nodeId: () => 'n', epoch: () => 1, isHeld: () => true, whenHeld: async () => true },
  callTimeoutMs: 1_000,
})
const BODY = Buffer.from(
  JSON.stringify({
    model: 'm',
    max_tokens: 5,
    messages: [{ role: 'user', content: 'a' }],
    metadata: { user_id: '529.982.247-25' },
  }),
)

async function readBy(action: ActiveKey['shield']['action']) {
  const request = await kind.read(BODY, { shield: { action, uuids: 'keep' } } as never)
  if (isRefusal(request)) assert.fail(request.message)
  return request
}

test('with a shield, nothing is sent in a form that it does not read', async () => {
  assert.ok((await readBy('off')).native)
  for (const action of ['mask', 'block'] as const)
    assert.equal((await readBy(action)).native, undefined)
})
