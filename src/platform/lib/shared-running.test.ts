import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRunningExchange, type RunningCounts } from './shared-running.ts'
import { createSlots } from './slots.ts'

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
  const slots = all.map(({ exchange }) => createSlots(3, exchange.of('calls')))
  const exchanged = (): void => {
    context.mock.timers.tick(1_000)
    processes.deliver()
  }
  const free = slots.map((own) => own.take('anna'))
  exchanged()
  for (const own of slots) {
    assert.equal(own.take('anna'), undefined)
    assert.ok(own.isFull('anna'))
    assert.ok(!own.isFull('anna', 4))
    assert.ok(!own.isFull('bruno'))
  }
  free[1]?.()
  exchanged()
  assert.ok(!slots[0]?.isFull('anna'))
  all[0]?.exchange.forget('p2')
  assert.ok(!slots[0]?.isFull('anna', 2))
  assert.ok(slots[1]?.isFull('anna', 2))
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
