import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { guardedFetch } from '../lib/guarded-fetch.ts'
import {
  beyond,
  createRunningExchange,
  createShare,
  takeAtPace,
  type Held,
  type RunningCounts,
} from './share.ts'

/** Processes that hear of each other at once when `deliver` is called, as by their parent. */
function createProcesses(count: number) {
  const outbox: { from: string; counts: RunningCounts }[] = []
  const all = Array.from({ length: count }, (_, index) => ({
    name: `p${index}`,
    exchange: createRunningExchange((counts) => outbox.push({ from: `p${index}`, counts })),
  }))
  return {
    all,
    deliver() {
      for (const { from, counts } of outbox.splice(0))
        for (const { name, exchange } of all) if (name !== from) exchange.receive(from, counts)
    },
  }
}

test('slots that other processes took count, until they are freed or the process ends', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const processes = createProcesses(3)
  const { all } = processes
  const slots = all.map(({ exchange }) => createShare({ ownMax: 3 }, exchange.of('calls')))
  const exchanged = (): void => {
    context.mock.timers.tick(1_000)
    processes.deliver()
  }
  const held = slots.map((own) => own.take('anna') as Held)
  exchanged()
  for (const own of slots) {
    assert.equal(own.take('anna'), 'own')
    assert.ok(own.findExcess('anna'))
    assert.ok(!own.findExcess('anna', 1, 4))
    assert.ok(!own.findExcess('bruno'))
  }
  held[1]?.[Symbol.dispose]()
  exchanged()
  assert.ok(!slots[0]?.findExcess('anna'))
  all[0]?.exchange.forget('p2')
  assert.ok(!slots[0]?.findExcess('anna', 1, 2))
  assert.ok(slots[1]?.findExcess('anna', 1, 2))
})

test('a process that is new hears what runs already, and kinds with equal names do not meet', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const processes = createProcesses(2)
  const [one, other] = processes.all.map(({ exchange }) => exchange)
  one?.of('calls').changed('anna', 2)
  context.mock.timers.tick(1_000)
  processes.deliver()
  other?.forget('p0')
  assert.equal(other?.of('calls').elsewhere('anna'), 0)
  one?.sendAll()
  context.mock.timers.tick(1_000)
  processes.deliver()
  assert.equal(other?.of('calls').elsewhere('anna'), 2)
  assert.equal(other?.of('exports').elsewhere('anna'), 0)
})

test('what calls of one owner hold counts together, and goes back once at the end of each', () => {
  const memory = createShare({ ownMax: 100, allMax: 1_000 })
  const body = memory.add('one', 30)
  const [first, second, other] = [memory.open('one'), memory.open('one'), memory.open('other')]
  assert.equal(first.take(40), undefined)
  assert.equal(first.take(20), undefined)
  assert.equal(second.take(11), 'own', 'a body and another call have the rest')
  assert.equal(other.take(100), undefined)
  first[Symbol.dispose]()
  first[Symbol.dispose]()
  assert.equal(memory.taken, 130)
  assert.equal(second.take(70), undefined)
  for (const held of [second, other, body]) held[Symbol.dispose]()
  assert.equal(memory.taken, 0)
})

test('what was given back takes nothing more, so that no work that goes on keeps a part of the share for ever', () => {
  const memory = createShare({ ownMax: 100, allMax: 1_000 })
  const held = memory.open('one')
  assert.equal(held.take(40), undefined)
  held[Symbol.dispose]()
  assert.equal(held.take(1), 'own')
  assert.deepEqual([memory.taken, held.amount], [0, 0])
  const never = memory.open('one')
  never[Symbol.dispose]()
  assert.equal(never.take(1), 'own')
  assert.equal(memory.taken, 0)
})

test('all owners together have no more than the node gives', () => {
  const memory = createShare({ ownMax: 100, allMax: 150 })
  assert.equal(typeof memory.take('one', 100), 'object')
  assert.equal(memory.take('other', 51), 'all')
  memory.add('other', 90)
  assert.equal(memory.taken, 190, 'what is there already counts beyond the limits')
})

test("bytes arrive at their owner's pace; refused ones do not wait", async () => {
  const held = createShare({ ownMax: 100, allMax: 1_000 }).open('one')
  const asked: unknown[] = []
  let goOn = (): void => {}
  const pace = {
    wait(owner: string, bytes: number) {
      asked.push([owner, bytes])
      return new Promise<void>((resolve) => (goOn = resolve))
    },
  }
  const take = takeAtPace(held, pace, 'one')
  const taken = take(60)
  assert.ok(taken instanceof Promise)
  assert.equal(take(41), false)
  goOn()
  assert.equal(await taken, true)
  assert.deepEqual(asked, [['one', 60]])
})

test('only bytes after the free ones are taken', () => {
  const taken: number[] = []
  const take = beyond(10, (bytes) => taken.push(bytes) > 0)
  assert.ok(take(4) && take(5) && take(5) && take(3))
  assert.deepEqual(taken, [4, 3])
})

test('a download that is given up while its bytes wait for their turn keeps none of them', async () => {
  // Many parts of one read: each is taken when the one before has waited.
  const server = createServer((_request, response) => {
    for (let part = 0; part < 16; part++) response.write(Buffer.alloc(4 * 1024, part))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const memory = createShare({ ownMax: 1_000_000 })
  const held = memory.open('one')
  const waits: (() => void)[] = []
  const pace = { wait: () => new Promise<void>((resolve) => waits.push(resolve)) }
  const leaving = new AbortController()
  const fetched = guardedFetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, {
    bytesMax: 1_000_000,
    timeoutMs: 10_000,
    allowPrivate: true,
    signal: leaving.signal,
    takeBytes: takeAtPace(held, pace, 'one'),
  })
  fetched.catch(() => {})
  while (waits.length === 0) await nextTurn()
  assert.ok(memory.taken > 0)
  leaving.abort()
  await assert.rejects(fetched)
  held[Symbol.dispose]()
  for (let turns = 0; turns < 20; turns++) {
    for (const goOn of waits.splice(0)) goOn()
    await nextTurn()
  }
  server.closeAllConnections()
  server.close()
  assert.equal(memory.taken, 0)
})
