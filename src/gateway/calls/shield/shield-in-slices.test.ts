import assert from 'node:assert/strict'
import { test } from 'node:test'
import { effort } from '../../../../test/harness/effort.ts'
import fc from '../../../../test/harness/fast-check.ts'
import { leaksOf, prompt } from '../../../../test/harness/personal-texts.ts'
import { readChatRequest, type ChatRequest } from '../chat/chat-request.ts'
import { createOwnTime } from '../../../platform/admission/own-time.ts'
import { isRefusal } from '../refusal.ts'
import { shieldChatRequest } from './shield-chat-request.ts'
import { shieldInSlices } from './cover-request.ts'
import type { ShieldedRequest } from './text-shield.ts'

const UUIDS = 'near_pix'

function requestOf(texts: readonly string[]): ChatRequest {
  const messages = texts.map((content) => ({ role: 'user', content }))
  const request = readChatRequest({ model: 'm', messages }, 0)
  assert.ok(!isRefusal(request))
  return request
}

function inSlices(
  request: ChatRequest,
  action: 'mask' | 'block',
): Promise<ShieldedRequest<ChatRequest>> {
  const by = { time: createOwnTime(1), customerId: 'a customer' }
  return shieldInSlices(request, shieldChatRequest, { action, uuids: UUIDS }, by)
}

test('texts that are read in slices are masked as those that are read at once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(prompt, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 0, max: 20_000 }),
      async (prompts, before) => {
        const request = requestOf(
          prompts.map(({ text }, index) => `${'a '.repeat(index === 0 ? before : 1)}${text}`),
        )
        const blocked = await inSlices(request, 'block')
        assert.deepEqual(blocked, shieldChatRequest(request, { action: 'block', uuids: UUIDS }))
        const masked = await inSlices(request, 'mask')
        assert.equal(masked.kind, blocked.kind === 'blocked' ? 'masked' : 'clear')
        if (masked.kind !== 'masked') return
        assert.deepEqual(masked.counts, blocked.kind === 'blocked' && blocked.counts)
        const found = leaksOf(
          JSON.stringify(masked.request.body),
          prompts.flatMap(({ documents }) => documents),
        )
        assert.deepEqual(found, [])
      },
    ),
    { numRuns: effort({ ordinary: 50, full: 2_000 }) },
  )
})

/** The turns of the event loop while this work runs. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let hasEnded = false
  const count = (): void => {
    turns += 1
    if (!hasEnded) setImmediate(count)
  }
  setImmediate(count)
  await work()
  hasEnded = true
  return turns
}

test('while a long text of numbers is read, other work is done', async () => {
  const turns = await turnsDuring(() => inSlices(requestOf(['55 25'.repeat(200_000)]), 'mask'))
  // Each slice has its own turn of the event loop. A million characters at once have none.
  assert.ok(turns > 10, `${turns} turns`)
})

test('many short texts take no more turns of the event loop than one long text', async () => {
  // As the texts of a dataset, one after another. On a busy node, a turn takes milliseconds.
  const request = requestOf(Array.from({ length: 5_000 }, (_, index) => `text ${index}`))
  // Its clock stands still, so the customer waits for no turn.
  const by = { time: createOwnTime(1, () => 0), customerId: 'a customer' }
  const options = { action: 'mask', uuids: UUIDS } as const
  const turns = await turnsDuring(() => shieldInSlices(request, shieldChatRequest, options, by))
  assert.ok(turns < 500, `${turns} turns`)
})
