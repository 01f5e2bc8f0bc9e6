import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { test } from 'node:test'
import { createLiveStreams, type LiveStream } from './live-streams.ts'

const TERMS = { perAccountMax: 2, perNetworkMax: 3, totalMax: 4, everyMs: 1 }
const LOG = { warn: () => {} }

function create(terms = TERMS) {
  const accounts = new Map<string, string>()
  const ended = new Set<string>()
  const asked: (readonly string[])[] = []
  const looks = new EventEmitter()
  const fault: { error?: Error } = {}
  const streams = createLiveStreams(
    async (ids) => {
      if (fault.error) throw fault.error
      asked.push(ids)
      setImmediate(() => looks.emit('look'))
      return new Map([...accounts].filter(([id]) => ids.includes(id)))
    },
    async (ids) => new Set(ids.filter((id) => !ended.has(id))),
    LOG,
    terms,
  )
  /** After two looks, what was true before the first of them has been sent. */
  const look = async (): Promise<void> => {
    await once(looks, 'look')
    await once(looks, 'look')
  }
  return { streams, accounts, ended, asked, look, fault }
}

function stream(customerId: string, sessionId = `of ${customerId}`, ip = `ip of ${customerId}`) {
  const sent: string[] = []
  const ends = new EventEmitter()
  let isEnded = false
  const made: LiveStream = {
    customerId,
    sessionId,
    ip,
    send: (text) => sent.push(text),
    end() {
      isEnded = true
      ends.emit('end')
    },
  }
  return { ...made, sent, ends, isEnded: () => isEnded }
}

test('each stream gets the changes of its own account, and each state once', async () => {
  const { streams, accounts, look, asked } = create()
  const [one, other, second] = [stream('a'), stream('b'), stream('a', 'another tab')]
  for (const each of [one, other, second]) assert.ok(streams.open(each))
  accounts.set('a', '{"a":1}').set('b', '{"b":1}')
  await look()
  accounts.set('a', '{"a":2}')
  await look()
  streams.close()
  const events = ({ sent }: { sent: string[] }) => sent.filter((text) => text.startsWith('data:'))
  assert.deepEqual(events(one), ['data: {"a":1}\n\n', 'data: {"a":2}\n\n'])
  assert.deepEqual(events(second), events(one))
  assert.deepEqual(events(other), ['data: {"b":1}\n\n'])
  assert.deepEqual([...new Set(asked.map(String))], ['a,b'], 'one question for all streams')
})

test('a stream ends with its session, and those of other sessions go on', async () => {
  const { streams, ended, look } = create()
  const [one, other] = [stream('a', 'first'), stream('a', 'second')]
  streams.open(one)
  streams.open(other)
  ended.add('first')
  await look()
  streams.leave(other)
  assert.deepEqual([one.isEnded(), other.isEnded()], [true, false])
  streams.close()
})

test('an account, an address and the process have a limit each; a stream that left counts no more', () => {
  const { streams } = create()
  const [first, second] = [stream('a'), stream('a')]
  assert.ok(streams.open(first) && streams.open(second))
  assert.equal(streams.open(stream('a', 'x', 'elsewhere')), false, 'of one account')
  streams.leave(second)
  const office = () => stream(String(Math.random()), 'x', 'ip of a')
  assert.ok(streams.open(office()) && streams.open(office()))
  assert.equal(streams.open(office()), false, 'of one address')
  assert.ok(streams.open(stream('d')))
  assert.equal(streams.open(stream('e')), false, 'of the process')
  streams.close()
  assert.ok(first.isEnded())
  assert.equal(streams.open(stream('f')), false, 'after the end')
})

test('all addresses of an IPv6 /64 share the limit of one address', () => {
  const { streams } = create()
  const at = (ip: string) => streams.open(stream(String(Math.random()), 'x', ip))
  for (const host of ['1', '2', 'ffff']) assert.ok(at(`2001:db8:0:1::${host}`))
  assert.equal(at('2001:db8:0:1:0:0:0:3'), false)
  assert.ok(at('2001:db8:0:2::1'))
  streams.close()
})

test('where the accounts cannot be read, streams end instead of being silent', async () => {
  const { streams, fault } = create()
  fault.error = new Error('the database is gone')
  const one = stream('a')
  const ended = once(one.ends, 'end')
  streams.open(one)
  await ended
  assert.ok(one.isEnded())
})
