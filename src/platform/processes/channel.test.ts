import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChannel, type Channel } from './channel.ts'

/** Both ends; a message arrives in a later turn. */
function connect(): [Channel, Channel] {
  const one: Channel = createChannel((message) => setImmediate(() => other.receive(message)))
  const other: Channel = createChannel((message) => setImmediate(() => one.receive(message)))
  return [one, other]
}

test('both ends ask and answer, each question its own', async () => {
  const [one, other] = connect()
  other.on('double', async (number) => 2 * Number(number))
  one.on('name', () => 'one')
  assert.deepEqual(
    await Promise.all([one.ask('double', 1), other.ask('name'), one.ask('double', 2)]),
    [2, 'one', 4],
  )
})

test('a failure to answer, a late answer and the end of the other process reject', async () => {
  const [one, other] = connect()
  other.on('fail', () => {
    throw new Error('no disk')
  })
  other.on('never', () => new Promise(() => {}))
  await assert.rejects(one.ask('fail'), /no disk/)
  await assert.rejects(one.ask('never', undefined, 1), /no answer in time/)
  const waiting = assert.rejects(one.ask('never'), /is gone/)
  one.close()
  await waiting
  await assert.rejects(one.ask('double'), /is gone/)
})

test('a message that is handled after the end of its process changes nothing', async () => {
  const [one, other] = connect()
  const running: unknown[] = []
  one.on('running', (calls) => running.push(calls))
  other.post('running', 1)
  one.close()
  await new Promise(setImmediate)
  assert.deepEqual(running, [])
})
