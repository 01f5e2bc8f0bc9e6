import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRunner, type Lane } from './create-runner.ts'

interface Row {
  readonly id: string
}

const faults: unknown[] = []
const log = {
  debug() {},
  info() {},
  warn() {},
  error: (_: string, facts?: object) => void faults.push(facts),
}

/** A lane over rows in memory, which are due again at once: only `busy` keeps a row that runs from being claimed. */
function laneOf(due: Set<string>, slots: number): Lane<Row> {
  return {
    slots,
    async claim(limit, busy) {
      const ids = [...due].filter((id) => !busy.includes(id)).slice(0, limit)
      await sleep(Math.random() * 2)
      return ids.map((id) => ({ id }))
    },
  }
}

test('every due row runs once at a time, and a slow lane never takes a slot of another', async () => {
  const quick = new Set(Array.from({ length: 60 }, (_, n) => `quick ${n}`))
  const slow = new Set(Array.from({ length: 5 }, (_, n) => `slow ${n}`))
  const running: string[] = []
  const ended = Promise.withResolvers<void>()
  const runner = createRunner<Row>({
    kind: 'usage',
    lanes: [laneOf(slow, 4), laneOf(quick, 4)],
    log,
    async work({ id }) {
      assert.ok(!running.includes(id), `${id} runs twice`)
      running.push(id)
      const lane = running.filter((each) => each.startsWith('quick') === id.startsWith('quick'))
      assert.ok(lane.length <= 4, `${lane.length} of one lane`)
      await (id.startsWith('slow') ? ended.promise : sleep(Math.random() * 3))
      running.splice(running.indexOf(id), 1)
      quick.delete(id)
      slow.delete(id)
      if (quick.size === 0) ended.resolve()
    },
  })
  // Nothing wakes it again: a slot that becomes free takes the next row.
  await runner.startDue()
  await runner.whenIdle()
  assert.deepEqual(faults, [])
  assert.deepEqual([quick.size, slow.size, running.length], [0, 0, 0])
})

test('a row whose work throws is given back, a claim that fails is tried again, and a stopped runner starts nothing', async () => {
  const due = new Set(['one', 'two', 'three'])
  const givenBack: string[] = []
  let claims = 0
  const runner = createRunner<Row>({
    kind: 'webhook',
    lanes: [
      {
        slots: 1,
        async claim() {
          claims += 1
          if (claims === 2) throw new Error('no database')
          const [id] = due
          return id === undefined ? [] : [{ id }]
        },
      },
    ],
    log,
    async work({ id }) {
      due.delete(id)
      throw new Error('a fault of ours')
    },
    async giveBack({ id }) {
      givenBack.push(id)
      if (id === 'one') throw new Error('no database')
    },
  })
  assert.equal(await runner.startDue(), 1)
  await runner.whenIdle()
  assert.deepEqual(givenBack, ['one'], 'the claim after it failed')
  assert.equal(await runner.startDue(), 1)
  const stopped = runner.stop()
  assert.equal(await runner.startDue(), 0)
  await stopped
  assert.deepEqual([givenBack, claims], [['one', 'two'], 3])
})

test('a row for which the database was too busy is given back, and is no fault', async () => {
  const givenBack: string[] = []
  const before = faults.length
  const due = new Set(['one'])
  const runner = createRunner<Row>({
    kind: 'batch',
    lanes: [laneOf(due, 1)],
    log,
    async work({ id }) {
      due.delete(id)
      throw Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' })
    },
    giveBack: async ({ id }) => void givenBack.push(id),
  })
  await runner.startDue()
  await runner.whenIdle()
  assert.deepEqual([givenBack, faults.length], [['one'], before])
})
