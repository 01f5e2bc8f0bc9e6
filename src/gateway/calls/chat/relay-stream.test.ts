import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TakeChunks } from '../../providers/contract.ts'
import type { HeldCall } from '../call.ts'
import type { Client } from '../client.ts'
import { createRunningCalls } from '../running-calls.ts'
import { relayStream } from './relay-stream.ts'
import type { BegunStream, RelayedStream } from './streamed-chat.ts'

const hold = { id: 'a hold', customerId: 'a customer', epoch: 0 }
const chunk = { body: { choices: [{ index: 0, delta: { content: 'Oi' } }] }, usage: undefined }

/** Relays one chunk, and returns what the client got so far. */
function relayOne(
  running: ReturnType<ReturnType<typeof createRunningCalls>['begin']>,
  { outputTokensMax = 10, tokensMax }: { outputTokensMax?: number; tokensMax?: number } = {},
) {
  let shown = ''
  let isCancelled = false
  const relayed = relayStream(
    {
      held: { quote: { outputTokensMax, choices: 1 }, epoch: 0, limits: {} } as HeldCall,
      lease: {
        nodeId: () => 'a node',
        epoch: () => 0,
        isHeld: () => true,
        whenHeld: () => Promise.resolve(true),
      },
      stream: {
        each: async (take: TakeChunks<RelayedStream>) => await take([chunk]),
        cancel: () => (isCancelled = true),
      } as unknown as BegunStream,
      writer: { chunk: (body: object) => JSON.stringify(body) },
      client: {
        beginStream: () => undefined,
        hasLeft: () => false,
        write: (text: string) => void (shown += text),
      } as unknown as Client,
      running,
      waitMsMax: 1_000,
      ...(tokensMax === undefined ? {} : { tokensMax }),
    },
    false,
  )
  return { relayed, shown: () => shown, isCancelled: () => isCancelled }
}

test('no byte of a stream leaves before its hold is on the disk', async () => {
  const calls = createRunningCalls()
  const running = calls.begin(hold, false)
  const relay = relayOne(running)
  await sleep(20)
  assert.equal(relay.shown(), '')
  assert.equal(running.isDelivered, false)
  calls.recordDurable([{ ...hold, outputTokensSeen: 0 }])
  assert.equal((await relay.relayed).ending, 'whole')
  assert.match(relay.shown(), /Oi/)
})

test('a stream whose hold was lost ends without a byte, and is not charged for output', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const running = createRunningCalls().begin(hold, false)
  const relay = relayOne(running)
  t.mock.timers.tick(60_000)
  assert.deepEqual(
    { ...(await relay.relayed), reported: undefined },
    {
      ending: 'lapsed',
      reported: undefined,
      hasFinished: false,
      outputTokensSeen: 0,
      outputTokensLeast: 1,
      webSearchesSeen: 0,
      brokenBy: undefined,
    },
  )
  assert.equal(relay.shown(), '')
  assert.ok(relay.isCancelled())
  assert.equal(running.isDelivered, false)
})

test('no checkpoint counts text that the hold does not cover, also where more of it is relayed', async () => {
  const running = createRunningCalls().begin(hold, true)
  const relay = relayOne(running, { outputTokensMax: 0, tokensMax: 100 })
  const { ending, outputTokensSeen } = await relay.relayed
  assert.deepEqual([ending, outputTokensSeen, running.tokens], ['whole', 1, 0])
  assert.match(relay.shown(), /Oi/)
})
